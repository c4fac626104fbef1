/* Not ways of an attacker: what stands around the box while an attempt is made, run by the test. */
#include "attacker.h"
#include <arpa/inet.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>

/* A note for the test. */
static void note(const char *path, const char *text, size_t size)
{
	int fd = must("open", open(path, O_WRONLY | O_CREAT | O_APPEND, 0666));

	must("write", write(fd, text, size));
	close(fd);
}

static int terminal(char *name, size_t size)
{
	int master = must("posix_openpt", posix_openpt(O_RDWR | O_NOCTTY));

	grantpt(master);
	must("unlockpt", unlockpt(master));
	if (ptsname_r(master, name, size))
		must("ptsname", -1);
	return master;
}

/* victim NOTE PORT: a process of the same user. Notes where its secret is in memory, holds a connection as
 * descriptor 9, and waits to be acted on. */
static int as_victim(char **word)
{
	char text[64], *secret = getenv("MEMORY");
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(atoi(word[1])) };
	int fd = must("socket", socket(AF_INET, SOCK_STREAM, 0));

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must("connect", connect(fd, (struct sockaddr *)&address, sizeof address));
	must("dup2", dup2(fd, 9));
	note(word[0], text, sprintf(text, "%lx", (unsigned long)(secret ? strdup(secret) : 0)));
	for (;;)
		pause();
	return 0;
}

/* host TYPED REPORT LEAKED PROGRAM ARGUMENTS…: starts PROGRAM as its child at a terminal, with a key in the session's
 * keyring. PROGRAM inherits descriptor 3 to write to REPORT, and, forgotten, 7 to append to LEAKED and 8 to read the
 * home. What was typed at the terminal but never read is noted in TYPED: the next shell there would run it. */
static int as_host(char **word)
{
	char name[64], typed[256], own[20];
	int status, master = terminal(name, sizeof name);
	int slave = must("open the terminal", open(name, O_RDWR | O_NOCTTY));

	sprintf(own, "%d", getpid());
	setenv("HOST", own, 1);
	must("KEYCTL_JOIN_SESSION_KEYRING", syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, 0));
	must("add_key", syscall(SYS_add_key, "user", "attempt", "kept-by-the-keyring", 19, KEY_SPEC_SESSION_KEYRING));
	int leaked = must(word[2], open(word[2], O_WRONLY | O_APPEND | O_CLOEXEC));
	must("dup2", dup2(leaked, 7));
	int home = must("open the home", open(getenv("HOME"), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	must("dup2", dup2(home, 8));
	pid_t child = must("fork", fork());
	if (child == 0) {
		must("setsid", setsid());
		must("TIOCSCTTY", ioctl(slave, TIOCSCTTY, 0));
		dup2(slave, 0);
		close(slave);
		close(master);
		int report = must(word[1], open(word[1], O_WRONLY | O_CREAT | O_APPEND, 0666));
		if (report != 3) {
			must("dup2", dup2(report, 3));
			close(report);
		}
		execvp(word[3], word + 3);
		must(word[3], -1);
	}
	must("waitpid", waitpid(child, &status, 0));
	fcntl(slave, F_SETFL, O_NONBLOCK);
	long size = read(slave, typed, sizeof typed);
	if (size > 0)
		note(word[0], typed, size);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* input FILE PROGRAM ARGUMENTS…: PROGRAM, with FILE, which may be a directory, as its standard input. */
static int as_input(char **word)
{
	int input = must(word[0], open(word[0], O_RDONLY));

	must("dup2", dup2(input, 0));
	close(input);
	execvp(word[1], word + 1);
	return must(word[1], -1);
}

/* terminal NAME SHOWN: a terminal of the same user; notes its name, and what is shown there. */
static int as_terminal(char **word)
{
	char text[256];
	int master = terminal(text, sizeof text);
	long size;

	must("open the terminal", open(text, O_RDWR | O_NOCTTY));
	note(word[0], text, strlen(text));
	while ((size = read(master, text, sizeof text)) > 0)
		note(word[1], text, size);
	return 0;
}

/* giver SOCKET FILE: a client that connects receives a descriptor by which to append to FILE. */
static int as_giver(char **word)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { "x", 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int listener = must("socket", socket(AF_UNIX, SOCK_STREAM, 0));
	int file = must("open", open(word[1], O_WRONLY | O_APPEND));

	strncpy(address.sun_path, word[0], sizeof address.sun_path - 1);
	must("bind", bind(listener, (struct sockaddr *)&address, sizeof address));
	must("listen", listen(listener, 1));
	puts("it listens");
	fflush(stdout);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &file, sizeof file);
	int connection = must("accept", accept(listener, 0, 0));
	must("sendmsg", sendmsg(connection, &message, 0));
	return pause();
}

const struct way hosts[] = {
	{ "victim", 2, as_victim },
	{ "host", 4, as_host },
	{ "input", 2, as_input },
	{ "terminal", 2, as_terminal },
	{ "giver", 2, as_giver },
	{ 0 },
};
