/* attacker WAY ARGUMENTS…: one attempt, made by system calls. `attacker has WAY` would be guessing: whether a way is
 * open on this machine is shown by the attempt itself, made without a box. */
#include "attacker.h"

int main(int count, char **words)
{
	const struct way *parts[] = { files, modes, others, metadata, secrets, network, sockets, rings, processes, hosts };

	for (size_t part = 0; count > 1 && part < sizeof parts / sizeof *parts; part++)
		for (const struct way *way = parts[part]; way->name; way++)
			if (strcmp(way->name, words[1]) == 0 && count - 2 >= way->arguments)
				return way->go(words + 2);
	fprintf(stderr, "attacker: no such way, or too few arguments\n");
	return 2;
}
