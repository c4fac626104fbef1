/* Ways to read what another process or the kernel keeps. */
#include "attacker.h"
#include <linux/keyctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* memory-read PID ADDRESS */
static int by_memory_read(char **word)
{
	char text[64] = "";
	struct iovec here = { text, sizeof text - 1 };
	struct iovec there = { (void *)strtoul(word[1], 0, 16), sizeof text - 1 };

	must("process_vm_readv", process_vm_readv(atoi(word[0]), &here, 1, &there, 1, 0));
	return puts(text) < 0;
}

/* memory-write PID ADDRESS */
static int by_memory_write(char **word)
{
	struct iovec here = { "changed", 8 };
	struct iovec there = { (void *)strtoul(word[1], 0, 16), 8 };

	return must("process_vm_writev", process_vm_writev(atoi(word[0]), &here, 1, &there, 1, 0)) != 8;
}

/* memory-file PID ADDRESS: through /proc/PID/mem. */
static int by_memory_file(char **word)
{
	char path[40], text[64] = "";

	snprintf(path, sizeof path, "/proc/%s/mem", word[0]);
	int fd = must("open", open(path, O_RDONLY));
	must("pread", pread(fd, text, sizeof text - 1, strtoul(word[1], 0, 16)));
	return puts(text) < 0;
}

/* trace PID ADDRESS: as a debugger does. */
static int by_trace(char **word)
{
	int pid = atoi(word[0]);
	unsigned long address = strtoul(word[1], 0, 16);
	long words[5] = { 0 };

	must("PTRACE_ATTACH", ptrace(PTRACE_ATTACH, pid, 0, 0));
	waitpid(pid, 0, __WALL);
	for (int at = 0; at < 4; at++)
		words[at] = ptrace(PTRACE_PEEKDATA, pid, address + at * sizeof(long), 0);
	ptrace(PTRACE_DETACH, pid, 0, 0);
	return puts((char *)words) < 0;
}

/* key NAME: from the keyring of the session that the call was started in. */
static int by_key(char **word)
{
	char text[64] = "";
	long key = must("KEYCTL_SEARCH",
			syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", word[0], 0));

	must("KEYCTL_READ", syscall(SYS_keyctl, KEYCTL_READ, key, text, sizeof text - 1));
	return puts(text) < 0;
}

/* request-key NAME: by the other call. */
static int by_request_key(char **word)
{
	char text[64] = "";
	long key = must("request_key", syscall(SYS_request_key, "user", word[0], 0, 0));

	must("KEYCTL_READ", syscall(SYS_keyctl, KEYCTL_READ, key, text, sizeof text - 1));
	return puts(text) < 0;
}

const struct way secrets[] = {
	{ "memory-read", 2, by_memory_read },
	{ "memory-write", 2, by_memory_write },
	{ "memory-file", 2, by_memory_file },
	{ "trace", 2, by_trace },
	{ "key", 1, by_key },
	{ "request-key", 1, by_request_key },
	{ 0 },
};
