/* Ways that belong to no other part: by the kernel's less known calls. */
#include "attacker.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>

/* link-fd FILE NEW: a name for what is open to be read only, then written by that name. */
static int by_link_fd(char **word)
{
	char magic[40];
	int fd = must("open", open(word[0], O_RDONLY));

	snprintf(magic, sizeof magic, "/proc/self/fd/%d", fd);
	must("linkat", linkat(AT_FDCWD, magic, AT_FDCWD, word[1], AT_SYMLINK_FOLLOW));
	fd = must("open", open(word[1], O_WRONLY | O_APPEND));
	return must("write", write(fd, "changed\n", 8)) != 8;
}

/* path-fd FILE: changes the mode of what is open for no access at all. */
static int by_path_fd(char **word)
{
	char magic[40];
	int fd = must("open", open(word[0], O_PATH));

	snprintf(magic, sizeof magic, "/proc/self/fd/%d", fd);
	return must("chmod", chmod(magic, 0777));
}

/* times-fd FILE: of a file opened only to read. */
static int by_times_fd(char **word)
{
	struct timespec times[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	int fd = must("open", open(word[0], O_RDONLY));

	return must("futimens", futimens(fd, times));
}

/* mapped FILE: opened to read, mapped, made writable, changed. */
static int by_mapped(char **word)
{
	int fd = open(word[0], O_RDWR);

	if (fd < 0)
		fd = must("open", open(word[0], O_RDONLY));
	char *text = mmap(0, 8, PROT_READ, MAP_SHARED, fd, 0);
	if (text == MAP_FAILED)
		must("mmap", -1);
	must("mprotect", mprotect(text, 8, PROT_READ | PROT_WRITE));
	memcpy(text, "changed\n", 8);
	return must("msync", msync(text, 8, MS_SYNC));
}

/* watched DIRECTORY FILE: prints the first name with an event there before FILE exists. */
static int by_watched(char **word)
{
	char event[4096];
	int is_last = 0;
	int fd = must("inotify_init", inotify_init1(IN_NONBLOCK));

	must("inotify_add_watch", inotify_add_watch(fd, word[0], IN_ALL_EVENTS));
	printf("watching\n");
	fflush(stdout);
	while (read(fd, event, sizeof event) < 0) {
		if (is_last)
			must("read", -1);
		is_last = access(word[1], F_OK) == 0;
		usleep(20000);
	}
	printf("heard of %s\n", ((struct inotify_event *)event)->name);
	return 0;
}

/* shows-attribute FILE: prints what it is. */
static int by_shows_attribute(char **word)
{
	char text[64];
	long size = must("getxattr", getxattr(word[0], "user.attempt", text, sizeof text));

	printf("%.*s\n", (int)size, text);
	return 0;
}

/* kernel-log: by its call. */
static int by_kernel_log(char **word)
{
	static char text[65536];
	int size = must("syslog", klogctl(3, text, sizeof text));

	printf("%d bytes of the kernel's log\n", size);
	return size == 0;
}

/* ports: access to the machine's own. */
static int by_ports(char **word)
{
#ifdef SYS_ioperm
	must("ioperm", syscall(SYS_ioperm, 0x80, 1, 1));
	printf("a port of the machine\n");
	return 0;
#else
	return 1;
#endif
}

/* families: prints every kind of socket that can be had, besides the ones of every day. */
static int by_families(char **word)
{
	static const int kinds[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET };

	for (int family = 3; family < 64; family++)
		for (int kind = 0; family != AF_INET6 && family != AF_NETLINK && kind < 4; kind++)
			for (int protocol = 0; protocol < 3; protocol++)
				if (socket(family, kinds[kind], protocol) >= 0)
					printf("family %d\n", family);
	return 0;
}

/* netlink PROTOCOL */
static int by_netlink(char **word)
{
	must("socket", socket(AF_NETLINK, SOCK_RAW, atoi(word[0])));
	printf("a netlink socket\n");
	return 0;
}

/* protocol NUMBER PORT: a stream of another protocol over IP. */
static int by_protocol(char **word)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(atoi(word[1])) };
	int fd = must("socket", socket(AF_INET, atoi(word[0]) == 136 ? SOCK_DGRAM : SOCK_STREAM, atoi(word[0])));

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must("bind", bind(fd, (struct sockaddr *)&address, sizeof address));
	printf("bound\n");
	fflush(stdout);
	sleep(1);
	return 0;
}

/* serves PORT: answers each client. */
static int by_serves(char **word)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(atoi(word[0])) };
	int fd = must("socket", socket(AF_INET, SOCK_STREAM, 0));
	struct pollfd one = { fd, POLLIN, 0 };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must("bind", bind(fd, (struct sockaddr *)&address, sizeof address));
	must("listen", listen(fd, 8));
	printf("serving\n");
	fflush(stdout);
	if (poll(&one, 1, 20000) <= 0)
		return 1;
	int connection = must("accept", accept(fd, 0, 0));
	return must("write", write(connection, "changed\n", 8)) != 8;
}

/* queued-signal PID: by the call that takes a value along. */
static int by_queued_signal(char **word)
{
	union sigval value = { .sival_int = 1 };

	return must("sigqueue", sigqueue(atoi(word[0]), SIGKILL, value));
}

/* tells-apart PID: whether it and this process have the same files open, which a tracer can ask. */
static int by_tells_apart(char **word)
{
	must("kcmp", syscall(SYS_kcmp, getpid(), atoi(word[0]), 2, 0, 0));
	printf("compared with another process\n");
	return 0;
}

/* moves-pages PID: of another process's memory. */
static int by_moves_pages(char **word)
{
	unsigned long all = 1;

	must("migrate_pages", syscall(SYS_migrate_pages, atoi(word[0]), 8, &all, &all));
	printf("moved pages of another process\n");
	return 0;
}

/* lists-robust PID: where another process keeps its locks. */
static int by_lists_robust(char **word)
{
	void *head;
	size_t size;

	must("get_robust_list", syscall(SYS_get_robust_list, atoi(word[0]), &head, &size));
	printf("a list of another process\n");
	return 0;
}

/* limits PID: shows and changes those of another process by the call itself, without asking for the old ones. */
static int by_limits(char **word)
{
	struct rlimit64 limit = { 17, 17 };

	return must("prlimit64", syscall(SYS_prlimit64, atoi(word[0]), 7, &limit, 0));
}

/* dump: ends as a program that the kernel keeps an image of. */
static int by_dump(char **word)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	must("chdir", chdir(word[0]));
	setrlimit(RLIMIT_CORE, &limit);
	abort();
}

/* write-handle MOUNT FILE: appends to FILE, opened by its handle. */
static int by_write_handle(char **word)
{
	struct {
		struct file_handle head;
		unsigned char rest[MAX_HANDLE_SZ];
	} handle = { .head.handle_bytes = MAX_HANDLE_SZ };
	int mount_id;
	int mount_fd = must("open", open(word[0], O_RDONLY | O_DIRECTORY));

	must("name_to_handle_at", name_to_handle_at(AT_FDCWD, word[1], &handle.head, &mount_id, 0));
	int fd = must("open_by_handle_at", open_by_handle_at(mount_fd, &handle.head, O_WRONLY | O_APPEND));

	return must("write", write(fd, "changed\n", 8)) != 8;
}

/* given-mount PLACE: makes the mount there writable by the newer call. */
static int by_given_mount(char **word)
{
	struct {
		uint64_t set, clear, propagation, user;
	} how = { .clear = 1 /* MOUNT_ATTR_RDONLY */ };

	return must("mount_setattr", syscall(442, AT_FDCWD, word[0], 0, &how, sizeof how));
}

const struct way others[] = {
	{ "link-fd", 2, by_link_fd },
	{ "path-fd", 1, by_path_fd },
	{ "times-fd", 1, by_times_fd },
	{ "mapped", 1, by_mapped },
	{ "watched", 2, by_watched },
	{ "shows-attribute", 1, by_shows_attribute },
	{ "kernel-log", 0, by_kernel_log },
	{ "ports", 0, by_ports },
	{ "families", 0, by_families },
	{ "netlink", 1, by_netlink },
	{ "protocol", 2, by_protocol },
	{ "serves", 1, by_serves },
	{ "queued-signal", 1, by_queued_signal },
	{ "tells-apart", 1, by_tells_apart },
	{ "moves-pages", 1, by_moves_pages },
	{ "lists-robust", 1, by_lists_robust },
	{ "limits", 1, by_limits },
	{ "dump", 1, by_dump },
	{ "write-handle", 2, by_write_handle },
	{ "given-mount", 1, by_given_mount },
	{ 0 },
};
