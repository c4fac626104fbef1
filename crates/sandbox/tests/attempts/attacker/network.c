/* Ways to reach a process by sockets. The sent word is always `reached`; the listener records it. */
#include "attacker.h"
#include <arpa/inet.h>
#include <linux/if_alg.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <net/if.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

static int say(int fd)
{
	return must("send", write(fd, "reached", 7)) != 7;
}

static struct sockaddr_in loopback(const char *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

static socklen_t local(struct sockaddr_un *address, const char *name, int abstract)
{
	memset(address, 0, sizeof *address);
	address->sun_family = AF_UNIX;
	strncpy(address->sun_path + abstract, name, sizeof address->sun_path - 2);
	return offsetof(struct sockaddr_un, sun_path) + abstract + strlen(name);
}

static int stream(int protocol, const char *port)
{
	struct sockaddr_in address = loopback(port);
	int fd = must("socket", socket(AF_INET, SOCK_STREAM, protocol));

	must("connect", connect(fd, (struct sockaddr *)&address, sizeof address));
	return say(fd);
}

/* tcp PORT */
static int by_tcp(char **word)
{
	return stream(0, word[0]);
}

/* mptcp PORT: TCP over several paths, which rules for TCP may miss. */
static int by_mptcp(char **word)
{
	return stream(262, word[0]);
}

/* fast-open PORT: connects by sending. */
static int by_fast_open(char **word)
{
	struct sockaddr_in address = loopback(word[0]);
	int fd = must("socket", socket(AF_INET, SOCK_STREAM, 0));

	return must("sendto", sendto(fd, "reached", 7, MSG_FASTOPEN, (struct sockaddr *)&address, sizeof address)) != 7;
}

/* udp PORT */
static int by_udp(char **word)
{
	struct sockaddr_in address = loopback(word[0]);
	int fd = must("socket", socket(AF_INET, SOCK_DGRAM, 0));

	return must("sendto", sendto(fd, "reached", 7, 0, (struct sockaddr *)&address, sizeof address)) != 7;
}

/* tcp6 PORT */
static int by_tcp6(char **word)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_port = htons(atoi(word[0])) };
	int fd = must("socket", socket(AF_INET6, SOCK_STREAM, 0));

	address.sin6_addr = in6addr_loopback;
	must("connect", connect(fd, (struct sockaddr *)&address, sizeof address));
	return say(fd);
}

/* raw: a socket that sees and sends frames. */
static int by_raw(char **word)
{
	(void)word;
	must("socket", socket(AF_PACKET, SOCK_RAW, 0));
	return puts("a raw socket") < 0;
}

/* unix PATH */
static int by_unix(char **word)
{
	struct sockaddr_un address;
	socklen_t size = local(&address, word[0], 0);
	int fd = must("socket", socket(AF_UNIX, SOCK_STREAM, 0));

	must("connect", connect(fd, (struct sockaddr *)&address, size + 1));
	return say(fd);
}

/* abstract NAME */
static int by_abstract(char **word)
{
	struct sockaddr_un address;
	socklen_t size = local(&address, word[0], 1);
	int fd = must("socket", socket(AF_UNIX, SOCK_STREAM, 0));

	must("connect", connect(fd, (struct sockaddr *)&address, size));
	return say(fd);
}

/* pair PATH: a datagram socket made as one of a pair, and yet sent to another socket. */
static int by_pair(char **word)
{
	struct sockaddr_un address;
	int pair[2];
	socklen_t size = local(&address, word[0], 0);

	must("socketpair", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	return must("sendto", sendto(pair[0], "reached", 7, 0, (struct sockaddr *)&address, size + 1)) != 7;
}

/* reconnected PATH: the same by connecting it. */
static int by_reconnected(char **word)
{
	struct sockaddr_un address;
	int pair[2];
	socklen_t size = local(&address, word[0], 0);

	must("socketpair", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	must("connect", connect(pair[0], (struct sockaddr *)&address, size + 1));
	return say(pair[0]);
}

#ifdef __x86_64__
static long old_call(long number, long first, long second, long third)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(first), "c"(second), "d"(third)
			 : "memory", "r8", "r9", "r10", "r11");
	if (result < 0) {
		errno = -result;
		return -1;
	}
	return result;
}
#endif

/* old-table PORT: TCP by the table of system calls for 32-bit programs. */
static int by_old_table(char **word)
{
#ifdef __x86_64__
	struct sockaddr_in *address = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	*address = loopback(word[0]);
	long fd = must("socket", old_call(359, AF_INET, SOCK_STREAM, 0));
	must("connect", old_call(362, fd, (long)address, sizeof *address));
	return say(fd);
#else
	(void)word;
	return 1;
#endif
}

/* x32-table PORT: TCP by the numbers of the x32 table. */
static int by_x32_table(char **word)
{
	struct sockaddr_in address = loopback(word[0]);
	long fd = must("socket", syscall(0x40000000 + SYS_socket, AF_INET, SOCK_STREAM, 0));

	must("connect", syscall(0x40000000 + SYS_connect, fd, &address, sizeof address));
	return say(fd);
}

/* vsock: a socket to the hypervisor. */
static int by_vsock(char **word)
{
	(void)word;
	must("socket", socket(AF_VSOCK, SOCK_STREAM, 0));
	return puts("a vsock socket") < 0;
}

/* alg: a socket to the kernel's ciphers. */
static int by_alg(char **word)
{
	struct sockaddr_alg address = { .salg_family = AF_ALG, .salg_type = "hash", .salg_name = "sha256" };
	int fd = must("socket", socket(AF_ALG, SOCK_SEQPACKET, 0));

	(void)word;
	must("bind", bind(fd, (struct sockaddr *)&address, sizeof address));
	return puts("an alg socket") < 0;
}

/* stolen PID NUMBER: takes a connection out of another process. */
static int by_stolen(char **word)
{
	int process = must("pidfd_open", syscall(SYS_pidfd_open, atoi(word[0]), 0));

	return say(must("pidfd_getfd", syscall(SYS_pidfd_getfd, process, atoi(word[1]), 0)));
}

/* loopback-up: of a fresh network namespace. */
static int loopback_up(char **word)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = must("socket", socket(AF_INET, SOCK_DGRAM, 0));

	(void)word;
	return must("SIOCSIFFLAGS", ioctl(fd, SIOCSIFFLAGS, &request));
}

const struct way network[] = {
	{ "tcp", 1, by_tcp },
	{ "mptcp", 1, by_mptcp },
	{ "fast-open", 1, by_fast_open },
	{ "udp", 1, by_udp },
	{ "tcp6", 1, by_tcp6 },
	{ "raw", 0, by_raw },
	{ "unix", 1, by_unix },
	{ "abstract", 1, by_abstract },
	{ "pair", 1, by_pair },
	{ "reconnected", 1, by_reconnected },
	{ "old-table", 1, by_old_table },
	{ "x32-table", 1, by_x32_table },
	{ "vsock", 0, by_vsock },
	{ "alg", 0, by_alg },
	{ "stolen", 2, by_stolen },
	{ "loopback-up", 0, loopback_up },
	{ 0 },
};
