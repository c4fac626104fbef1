/* Ways to change what files hold and where they are. */
#include "attacker.h"
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#endif

/* truncate FILE: by its path, without opening it. */
static int by_truncate(char **word)
{
	return must("truncate", truncate(word[0], 0));
}

/* open-truncates FILE: opening it to read, and yet emptying it. */
static int by_open_truncates(char **word)
{
	return must("open", open(word[0], O_RDONLY | O_TRUNC)) < 0;
}

/* rename FROM TO: never by copying. */
static int by_rename(char **word)
{
	return must("rename", rename(word[0], word[1]));
}

/* exchange ONE OTHER */
static int by_exchange(char **word)
{
	return must("renameat2", renameat2(AT_FDCWD, word[0], AT_FDCWD, word[1], RENAME_EXCHANGE));
}

/* socket-file PATH */
static int by_socket_file(char **word)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = must("socket", socket(AF_UNIX, SOCK_STREAM, 0));

	strncpy(address.sun_path, word[0], sizeof address.sun_path - 1);
	return must("bind", bind(fd, (struct sockaddr *)&address, sizeof address));
}

/* nameless DIRECTORY PATH: a file without a name in DIRECTORY, then given the name PATH. */
static int by_nameless(char **word)
{
	char magic[40];
	int fd = must("open", open(word[0], O_TMPFILE | O_WRONLY, 0600));

	snprintf(magic, sizeof magic, "/proc/self/fd/%d", fd);
	return must("linkat", linkat(AT_FDCWD, magic, AT_FDCWD, word[1], AT_SYMLINK_FOLLOW));
}

/* openat2 FILE: appends to it, opened by the newer call. */
static int by_openat2(char **word)
{
	struct open_how how = { .flags = O_WRONLY | O_APPEND };
	int fd = must("openat2", syscall(SYS_openat2, AT_FDCWD, word[0], &how, sizeof how));

	return must("write", write(fd, "changed\n", 8)) != 8;
}

/* handle MOUNT FILE: opens FILE by its handle, which no directory on the way can refuse, and prints it. */
static int by_handle(char **word)
{
	struct {
		struct file_handle head;
		unsigned char rest[MAX_HANDLE_SZ];
	} handle = { .head.handle_bytes = MAX_HANDLE_SZ };
	char text[200];
	int mount_id;
	int mount_fd = must("open", open(word[0], O_RDONLY | O_DIRECTORY));

	must("name_to_handle_at", name_to_handle_at(AT_FDCWD, word[1], &handle.head, &mount_id, 0));
	int fd = must("open_by_handle_at", open_by_handle_at(mount_fd, &handle.head, O_RDONLY));
	long size = must("read", read(fd, text, sizeof text));

	return write(1, text, size) != size;
}

/* mount-tree DIRECTORY PLACE: a copy of DIRECTORY's mount, put at PLACE by the newer calls. */
static int by_mount_tree(char **word)
{
	int tree = must("open_tree", syscall(SYS_open_tree, AT_FDCWD, word[0], OPEN_TREE_CLONE));

	return must("move_mount", syscall(SYS_move_mount, tree, "", AT_FDCWD, word[1], 4 /* MOVE_MOUNT_F_EMPTY_PATH */));
}

/* reveal DIRECTORY PLACE: reads what mounts hide below DIRECTORY, through a copy without
 * them if possible. */
static int by_reveal(char **word)
{
	char path[4096], text[200];
	int tree = syscall(SYS_open_tree, AT_FDCWD, word[0], OPEN_TREE_CLONE);

	if (tree < 0)
		tree = must("open_tree", syscall(SYS_open_tree, AT_FDCWD, word[0], OPEN_TREE_CLONE | 0x8000 /* AT_RECURSIVE */));
	snprintf(path, sizeof path, "/proc/self/fd/%d/%s", tree, word[1]);
	int fd = must("open", open(path, O_RDONLY));
	long size = must("read", read(fd, text, sizeof text));

	return write(1, text, size) != size;
}

/* write-fd NUMBER: appends to what is open under NUMBER. */
static int by_write_fd(char **word)
{
	return must("write", write(atoi(word[0]), "changed\n", 8)) != 8;
}

/* received-fd SOCKET: appends to the file whose descriptor the server at SOCKET hands over. */
static int by_received_fd(char **word)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	int connection = must("socket", socket(AF_UNIX, SOCK_STREAM, 0));

	strncpy(address.sun_path, word[0], sizeof address.sun_path - 1);
	must("connect", connect(connection, (struct sockaddr *)&address, sizeof address));
	must("recvmsg", recvmsg(connection, &message, 0));
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	if (!header)
		return 1;
	return must("write", write(*(int *)CMSG_DATA(header), "changed\n", 8)) != 8;
}

const struct way files[] = {
	{ "truncate", 1, by_truncate },
	{ "open-truncates", 1, by_open_truncates },
	{ "rename", 2, by_rename },
	{ "exchange", 2, by_exchange },
	{ "socket-file", 1, by_socket_file },
	{ "nameless", 2, by_nameless },
	{ "openat2", 1, by_openat2 },
	{ "handle", 2, by_handle },
	{ "mount-tree", 2, by_mount_tree },
	{ "reveal", 2, by_reveal },
	{ "write-fd", 1, by_write_fd },
	{ "received-fd", 1, by_received_fd },
	{ 0 },
};
