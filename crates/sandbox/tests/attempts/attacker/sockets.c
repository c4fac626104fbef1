/* Ways to connect a Unix socket although a guard makes the connections. A name that begins with @ is abstract. */
#include "attacker.h"
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

struct endpoint {
	struct sockaddr_un address;
	socklen_t size;
};

static struct endpoint endpoint(const char *name)
{
	struct endpoint at = { .address.sun_family = AF_UNIX };

	strncpy(at.address.sun_path, name, sizeof at.address.sun_path - 1);
	at.size = offsetof(struct sockaddr_un, sun_path) + strlen(at.address.sun_path) + 1;
	if (*name == '@') {
		at.address.sun_path[0] = 0;
		at.size--;
	}
	return at;
}

static int kind(const char *name)
{
	return strcmp(name, "seqpacket") == 0 ? SOCK_SEQPACKET : strcmp(name, "datagram") == 0 ? SOCK_DGRAM : SOCK_STREAM;
}

static int reach(int fd, struct endpoint *at)
{
	if (connect(fd, (struct sockaddr *)&at->address, at->size) < 0)
		return -1;
	return write(fd, "reached", 7) == 7 ? 0 : -1;
}

static int opened(int flags)
{
	return must("socket", socket(AF_UNIX, SOCK_STREAM | flags, 0));
}

static int listening(const char *type, const char *name)
{
	struct endpoint at = endpoint(name);
	int fd = must("socket", socket(AF_UNIX, kind(type), 0));

	umask(0);
	must("bind", bind(fd, (struct sockaddr *)&at.address, at.size));
	must("listen", listen(fd, 256));
	return fd;
}

/* Notes in a file what each connection sends. */
_Noreturn static void noting(int listener, const char *name)
{
	for (;;) {
		char text[64];
		int client = must("accept", accept(listener, 0, 0));
		ssize_t size = read(client, text, sizeof text);
		int file = size > 0 ? open(name, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;

		if (file >= 0)
			must("write", write(file, text, size));
		close(file);
		close(client);
	}
}

/* listens KIND NAME FILE: notes in FILE what each connection sends. */
static int listens(char **word)
{
	int listener = listening(word[0], word[1]);

	puts("it listens");
	fflush(stdout);
	noting(listener, word[2]);
}

/* bequeathed KIND NAME FILE: the same in a process after the parent, which listened, has ended. */
static int bequeathed(char **word)
{
	int listener = listening(word[0], word[1]);

	if (must("fork", fork()) == 0)
		noting(listener, word[2]);
	return 0;
}

/* connects KIND NAME */
static int connects(char **word)
{
	struct endpoint at = endpoint(word[1]);

	return must("connect", reach(must("socket", socket(AF_UNIX, kind(word[0]), 0)), &at));
}

/* nonblocking NAME */
static int nonblocking(char **word)
{
	struct endpoint at = endpoint(word[0]);

	return must("connect", reach(opened(SOCK_NONBLOCK), &at));
}

/* unreadable NAME: no process may read the address. */
static int unreadable(char **word)
{
	struct endpoint at = endpoint(word[0]);

	must("prctl", prctl(PR_SET_DUMPABLE, 0));
	return must("connect", reach(opened(0), &at));
}

/* pinned PATH: by a descriptor that was opened before. */
static int pinned(char **word)
{
	char path[32];
	int file = must("open", open(word[0], O_PATH));

	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	struct endpoint at = endpoint(path);
	return must("connect", reach(opened(0), &at));
}

/* with-socket KIND PROGRAM ARGUMENTS…: the program's standard input is a socket that is not connected. */
static int with_socket(char **word)
{
	int fd = must("socket", socket(AF_UNIX, kind(word[0]), 0));

	must("dup2", dup2(fd, 0));
	return must("exec", execvp(word[1], word + 1));
}

/* inherited NAME: by the socket on standard input. */
static int inherited(char **word)
{
	struct endpoint at = endpoint(word[0]);

	return must("connect", reach(0, &at));
}

/* unconnected NAME: sends to it without connecting. */
static int unconnected(char **word)
{
	struct endpoint at = endpoint(word[1]);
	int fd = must("socket", socket(AF_UNIX, kind(word[0]), 0));

	return must("sendto", sendto(fd, "reached", 7, 0, (struct sockaddr *)&at.address, at.size)) != 7;
}

/* Listens at NAME, so that connections there succeed, in a thread that takes them. */
static void *taking(void *listener)
{
	for (;;) {
		char text[64];
		int client = accept((int)(intptr_t)listener, 0, 0);

		read(client, text, sizeof text);
		close(client);
	}
	return 0;
}

static struct endpoint decoy(const char *name)
{
	pthread_t thread;

	pthread_create(&thread, 0, taking, (void *)(intptr_t)listening("stream", name));
	return endpoint(name);
}

/* When a race is over: without a sandbox, it must be won. */
static time_t end_of_race(void)
{
	const char *tier = getenv("TIER");

	return time(0) + (tier && strcmp(tier, "none") == 0 ? 20 : 2);
}

static struct endpoint own, theirs, racing;
static int racer, unix_socket, other_socket;
static const char *names[2];

static void *rewriting(void *unused)
{
	for (;;) {
		racing = theirs;
		for (volatile int wait = 0; wait < 500; wait++)
			;
		racing = own;
		for (volatile int wait = 0; wait < 500; wait++)
			;
	}
	return unused;
}

static void *replacing(void *unused)
{
	for (;;) {
		dup2(unix_socket, racer);
		dup2(other_socket, racer);
	}
	return unused;
}

static void *exchanging(void *unused)
{
	for (;;)
		syscall(SYS_renameat2, AT_FDCWD, names[0], AT_FDCWD, names[1], 2);
	return unused;
}

/* Connects again and again while another thread does `what`, until the peer is not the decoy. */
static int race(void *(*what)(void *), struct endpoint *at, struct endpoint decoy)
{
	pthread_t thread;
	time_t until = end_of_race();
	int connected = 0, refused = 0, won = 0;

	pthread_create(&thread, 0, what, 0);
	while (!won && time(0) < until) {
		struct endpoint peer = { .size = sizeof peer.address };
		int fd = opened(0);

		if (reach(fd, at) == 0) {
			connected++;
			must("getpeername", getpeername(fd, (struct sockaddr *)&peer.address, &peer.size));
			won = peer.size != decoy.size || memcmp(&peer.address, &decoy.address, peer.size) != 0;
		} else
			refused++;
		close(fd);
	}
	printf("%d connected, %d refused, %s\n", connected, refused, won ? "won" : "lost");
	return 0;
}

/* rewritten OWN NAME: another thread rewrites the address. */
static int rewritten(char **word)
{
	struct endpoint self = decoy(word[0]);

	own = self;
	theirs = endpoint(word[1]);
	/* The longer size is right for both, as a path ends at its first zero. */
	racing = own;
	racing.size = own.size > theirs.size ? own.size : theirs.size;
	own.size = theirs.size = racing.size;
	return race(rewriting, &racing, self);
}

/* exchanged FIRST SECOND OWN PATH: another thread exchanges two names while PATH is connected. */
static int exchanged(char **word)
{
	struct endpoint self = decoy(word[2]);

	names[0] = word[0];
	names[1] = word[1];
	own = endpoint(word[3]);
	return race(exchanging, &own, self);
}

/* replaced NAME: another thread replaces the descriptor, which is a TCP socket at times. */
static int replaced(char **word)
{
	pthread_t thread;
	time_t until = end_of_race();

	theirs = endpoint(word[0]);
	other_socket = must("socket", socket(AF_INET, SOCK_STREAM, 0));
	unix_socket = opened(0);
	racer = dup(other_socket);
	pthread_create(&thread, 0, replacing, 0);
	while (time(0) < until)
		if (connect(racer, (struct sockaddr *)&theirs.address, theirs.size) == 0)
			return write(unix_socket, "reached", 7) != 7;
	return 0;
}

static void *in_other_table(void *name)
{
	struct endpoint at = endpoint(name);

	must("unshare", unshare(CLONE_FILES));
	must("dup2", dup2(opened(0), racer));
	must("connect", reach(racer, &at));
	return 0;
}

/* other-table-of-files NAME: by a thread with other descriptors than its process. */
static int other_table_of_files(char **word)
{
	pthread_t thread;

	racer = must("socket", socket(AF_INET, SOCK_STREAM, 0));
	pthread_create(&thread, 0, in_other_table, word[0]);
	return pthread_join(thread, 0);
}

/* handed NAME: a process gets the socket from another one. */
static int handed(char **word)
{
	struct endpoint at = endpoint(word[0]);
	char byte = 0, space[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec text = { &byte, 1 };
	struct msghdr message = { .msg_iov = &text, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int pair[2], fd;

	must("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	if (must("fork", fork()) == 0) {
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		fd = opened(0);
		memcpy(CMSG_DATA(header), &fd, sizeof fd);
		must("sendmsg", sendmsg(pair[0], &message, 0));
		_exit(0);
	}
	must("recvmsg", recvmsg(pair[1], &message, 0));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
	return must("connect", reach(fd, &at));
}

/* many NAME COUNT: so many connections at once. */
static void *one_of_many(void *at)
{
	return (void *)(intptr_t)reach(opened(0), at);
}

static int many(char **word)
{
	pthread_t threads[256];
	int count = atoi(word[1]);
	void *failed;

	own = endpoint(word[0]);
	for (int at = 0; at < count; at++)
		must("pthread_create", -pthread_create(&threads[at], 0, one_of_many, &own));
	for (int at = 0; at < count; at++) {
		pthread_join(threads[at], &failed);
		must("connect", (intptr_t)failed);
	}
	return 0;
}

const struct way sockets[] = {
	{ "listens", 3, listens },
	{ "bequeathed", 3, bequeathed },
	{ "connects", 2, connects },
	{ "nonblocking", 1, nonblocking },
	{ "unreadable", 1, unreadable },
	{ "pinned", 1, pinned },
	{ "with-socket", 2, with_socket },
	{ "inherited", 1, inherited },
	{ "unconnected", 2, unconnected },
	{ "rewritten", 2, rewritten },
	{ "exchanged", 4, exchanged },
	{ "replaced", 1, replaced },
	{ "other-table-of-files", 1, other_table_of_files },
	{ "handed", 1, handed },
	{ "many", 2, many },
	{ 0 },
};
