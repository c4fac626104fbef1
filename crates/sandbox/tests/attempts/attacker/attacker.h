/* What the parts of the attacker share: a table of ways, and how a way ends.
 *
 * The attacker makes the system calls that no program of every day makes. It is C because the workspace forbids
 * `unsafe`, and because a C compiler is something that the project needs anyway; an interpreter is not. */
#ifndef ATTACKER_H
#define ATTACKER_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct way {
	const char *name;
	int arguments;
	int (*go)(char **arguments);
};

/* Each part's ways; the last one has no name. */
extern const struct way files[], modes[], others[], metadata[], secrets[], network[], sockets[], rings[], processes[], hosts[];

/* Ends with a message if `result` is that of a failed call. */
static inline long must(const char *what, long result)
{
	if (result < 0) {
		fprintf(stderr, "attacker: %s: %s\n", what, strerror(errno));
		exit(1);
	}
	return result;
}

#endif
