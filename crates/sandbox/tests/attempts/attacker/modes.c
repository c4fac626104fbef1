/* Ways to leave a program that gives its owner's identity to any user: a mode with the bit 04000. */
#include "attacker.h"
#include <linux/openat2.h>
#include <sys/stat.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

#define BECOMES_OWNER 04755

static int made(const char *path)
{
	return must("open", open(path, O_WRONLY | O_CREAT, 0755));
}

/* set-id WAY PATH: a new file by each of them, with the bit. */
static int by_set_id(char **word)
{
	const char *way = word[0], *path = word[1];
	struct open_how how = { .flags = O_WRONLY | O_CREAT, .mode = BECOMES_OWNER };
	char directory[4096], magic[40], *slash;

	umask(0);
#ifdef SYS_open
	if (strcmp(way, "open") == 0)
		return must(way, syscall(SYS_open, path, O_WRONLY | O_CREAT, BECOMES_OWNER)) < 0;
#endif
	if (strcmp(way, "openat") == 0)
		return must(way, syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT, BECOMES_OWNER)) < 0;
	if (strcmp(way, "openat2") == 0)
		return must(way, syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how)) < 0;
#ifdef SYS_creat
	if (strcmp(way, "creat") == 0)
		return must(way, syscall(SYS_creat, path, BECOMES_OWNER)) < 0;
#endif
#ifdef SYS_mknod
	if (strcmp(way, "mknod") == 0)
		return must(way, syscall(SYS_mknod, path, S_IFREG | BECOMES_OWNER, 0));
#endif
	if (strcmp(way, "mknodat") == 0)
		return must(way, syscall(SYS_mknodat, AT_FDCWD, path, S_IFREG | BECOMES_OWNER, 0));
	if (strcmp(way, "nameless") == 0) {
		strncpy(directory, path, sizeof directory - 1);
		slash = strrchr(directory, '/');
		*slash = 0;
		int fd = must(way, open(directory, O_TMPFILE | O_WRONLY, BECOMES_OWNER));
		snprintf(magic, sizeof magic, "/proc/self/fd/%d", fd);
		return must("linkat", linkat(AT_FDCWD, magic, AT_FDCWD, path, AT_SYMLINK_FOLLOW));
	}
	int fd = made(path);
#ifdef SYS_chmod
	if (strcmp(way, "chmod") == 0)
		return must(way, syscall(SYS_chmod, path, BECOMES_OWNER));
#endif
	if (strcmp(way, "fchmod") == 0)
		return must(way, syscall(SYS_fchmod, fd, BECOMES_OWNER));
	if (strcmp(way, "fchmodat") == 0)
		return must(way, syscall(SYS_fchmodat, AT_FDCWD, path, BECOMES_OWNER));
	if (strcmp(way, "fchmodat2") == 0)
		return must(way, syscall(452, AT_FDCWD, path, BECOMES_OWNER, 0));
	/* Bits above those that the kernel looks at. */
	if (strcmp(way, "high") == 0)
		return must(way, syscall(SYS_fchmodat, AT_FDCWD, path, 0xFFFF0000UL | BECOMES_OWNER));
	return 2;
}

const struct way modes[] = {
	{ "set-id", 2, by_set_id },
	{ 0 },
};
