/* Ways to act on another process, or to become another user. */
#include "attacker.h"
#include <linux/ioprio.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#define SYS_pidfd_open 434
#endif

/* pidfd-signal PID */
static int by_pidfd_signal(char **word)
{
	int process = must("pidfd_open", syscall(SYS_pidfd_open, atoi(word[0]), 0));

	return must("pidfd_send_signal", syscall(SYS_pidfd_send_signal, process, SIGKILL, 0, 0));
}

/* thread-signal PID: to a thread by its number. */
static int by_thread_signal(char **word)
{
	return must("tkill", syscall(SYS_tkill, atoi(word[0]), SIGKILL));
}

/* owner-signal PID: lets the kernel send the signal, as the owner of a socket that something arrives at. */
static int by_owner_signal(char **word)
{
	int pair[2];

	must("pipe", pipe(pair));
	must("F_SETOWN", fcntl(pair[0], F_SETOWN, atoi(word[0])));
	must("F_SETSIG", fcntl(pair[0], F_SETSIG, SIGKILL));
	must("O_ASYNC", fcntl(pair[0], F_SETFL, O_ASYNC | O_NONBLOCK));
	return must("write", write(pair[1], "x", 1)) != 1;
}

/* idle PID: lets it run only when nothing else does. */
static int by_idle(char **word)
{
	struct sched_param none = { 0 };

	return must("sched_setscheduler", sched_setscheduler(atoi(word[0]), SCHED_IDLE, &none));
}

/* input-priority PID: the lowest for its input and output. */
static int by_input_priority(char **word)
{
	return must("ioprio_set", syscall(SYS_ioprio_set, 1 /* IOPRIO_WHO_PROCESS */, atoi(word[0]), 3 << 13 /* idle */));
}

/* shows-input-priority PID */
static int shows_input_priority(char **word)
{
	return printf("%ld\n", must("ioprio_get", syscall(SYS_ioprio_get, 1, atoi(word[0]))) >> 13) < 0;
}

/* counts PID: what the processor did for it. */
static int by_counts(char **word)
{
	struct perf_event_attr what = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof what,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	uint64_t count;
	int fd = must("perf_event_open", syscall(SYS_perf_event_open, &what, atoi(word[0]), -1, -1, 0));

	must("read", read(fd, &count, sizeof count));
	return puts("counted another process") < 0;
}

/* segment make|write|show KEY: memory shared by System V's calls. */
static int by_segment(char **word)
{
	int make = strcmp(word[0], "make") == 0;
	int id = must("shmget", shmget(atoi(word[1]), 4096, make ? IPC_CREAT | 0600 : 0600));
	char *text = shmat(id, 0, 0);

	if (text == (char *)-1)
		must("shmat", -1);
	if (strcmp(word[0], "write") == 0)
		strcpy(text, "changed");
	return strcmp(word[0], "show") == 0 && puts(text) < 0;
}

/* queue make|write|show KEY: messages by System V's calls. */
static int by_queue(char **word)
{
	struct {
		long kind;
		char text[8];
	} message = { 1, "changed" };
	int make = strcmp(word[0], "make") == 0;
	int id = must("msgget", msgget(atoi(word[1]), make ? IPC_CREAT | 0600 : 0600));

	if (strcmp(word[0], "write") == 0)
		return must("msgsnd", msgsnd(id, &message, 8, IPC_NOWAIT));
	if (strcmp(word[0], "show") == 0) {
		must("msgrcv", msgrcv(id, &message, 8, 0, IPC_NOWAIT));
		return puts(message.text) < 0;
	}
	return 0;
}

/* mailbox make|write|show /NAME: messages by POSIX's calls. */
static int by_mailbox(char **word)
{
	char text[8] = "changed";
	struct mq_attr size = { .mq_maxmsg = 2, .mq_msgsize = 8 };
	int make = strcmp(word[0], "make") == 0;
	mqd_t mailbox = make ? mq_open(word[1], O_CREAT | O_RDWR | O_NONBLOCK, 0600, &size)
			     : mq_open(word[1], O_RDWR | O_NONBLOCK);

	must("mq_open", mailbox);
	if (strcmp(word[0], "write") == 0)
		return must("mq_send", mq_send(mailbox, text, 8, 0));
	if (strcmp(word[0], "show") == 0) {
		must("mq_receive", mq_receive(mailbox, text, 8, 0));
		return puts(text) < 0;
	}
	return 0;
}

/* types TEXT: as if the user had typed it at this terminal, to be read when the call is over. */
static int by_types(char **word)
{
	for (char *at = word[0]; *at; at++)
		must("TIOCSTI", ioctl(0, TIOCSTI, at));
	char end = '\n';
	return must("TIOCSTI", ioctl(0, TIOCSTI, &end));
}

/* create FILE: creates FILE, owned by the user of this process. */
static int by_create(char **word)
{
	return must("open", open(word[0], O_WRONLY | O_CREAT | O_EXCL, 0644)) < 0;
}

/* as-user UID FILE: the same as a user that it asks to become. */
static int by_as_user(char **word)
{
	must("setuid", setresuid(-1, atoi(word[0]), -1));
	return by_create(word + 1);
}

/* new-user clone3|clone|unshare: as the root of a user namespace of its own. */
static int by_new_user(char **word)
{
	char link[64] = "";
	struct clone_args how = { .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD };
	long child = 0;

	if (strcmp(word[0], "clone3") == 0)
		child = must("clone3", syscall(SYS_clone3, &how, sizeof how));
	else if (strcmp(word[0], "clone") == 0)
		child = must("clone", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
	else
		must("unshare", unshare(CLONE_NEWUSER));
	if (child > 0)
		return waitpid(child, 0, 0) < 0;
	must("readlink", readlink("/proc/self/ns/user", link, sizeof link - 1));
	return puts(link) < 0;
}

/* host-name NAME */
static int by_host_name(char **word)
{
	return must("sethostname", sethostname(word[0], strlen(word[0])));
}

/* node PATH MAJOR MINOR: a character device. */
static int by_node(char **word)
{
	return must("mknod", mknod(word[0], S_IFCHR | 0600, (dev_t)atoi(word[1]) << 8 | atoi(word[2])));
}

/* program-map: a map of the kernel's own programs. */
static int by_program_map(char **word)
{
	struct {
		uint32_t type, key_size, value_size, entries;
		uint32_t rest[24];
	} what = { 2 /* BPF_MAP_TYPE_ARRAY */, 4, 4, 1, { 0 } };

	(void)word;
	must("bpf", syscall(SYS_bpf, 0 /* BPF_MAP_CREATE */, &what, 72));
	return puts("a map of bpf") < 0;
}

/* faults: a descriptor by which faults of memory are answered, a means of winning races in the kernel. */
static int by_faults(char **word)
{
	(void)word;
	must("userfaultfd", syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */));
	return puts("a userfaultfd") < 0;
}

const struct way processes[] = {
	{ "pidfd-signal", 1, by_pidfd_signal },
	{ "thread-signal", 1, by_thread_signal },
	{ "owner-signal", 1, by_owner_signal },
	{ "idle", 1, by_idle },
	{ "input-priority", 1, by_input_priority },
	{ "shows-input-priority", 1, shows_input_priority },
	{ "counts", 1, by_counts },
	{ "segment", 2, by_segment },
	{ "queue", 2, by_queue },
	{ "mailbox", 2, by_mailbox },
	{ "types", 1, by_types },
	{ "create", 1, by_create },
	{ "as-user", 2, by_as_user },
	{ "new-user", 1, by_new_user },
	{ "host-name", 1, by_host_name },
	{ "node", 3, by_node },
	{ "program-map", 0, by_program_map },
	{ "faults", 0, by_faults },
	{ 0 },
};
