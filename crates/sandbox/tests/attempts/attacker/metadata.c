/* Ways to change what is known of a file: mode, times, attributes, locks. */
#include "attacker.h"
#include <linux/fs.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

/* chmod FILE */
static int by_chmod(char **word)
{
	return must("chmod", chmod(word[0], 0777));
}

/* fchmod FILE: of a file opened only to read. */
static int by_fchmod(char **word)
{
	int fd = must("open", open(word[0], O_RDONLY));

	return must("fchmod", fchmod(fd, 0777));
}

/* fchmodat2 FILE: the newest of these calls. */
static int by_fchmodat2(char **word)
{
	return must("fchmodat2", syscall(452, AT_FDCWD, word[0], 0777, 0));
}

/* times FILE: as if it had last been changed in 2001. */
static int by_times(char **word)
{
	struct timespec times[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };

	return must("utimensat", utimensat(AT_FDCWD, word[0], times, 0));
}

/* attribute FILE */
static int by_attribute(char **word)
{
	return must("setxattr", setxattr(word[0], "user.attempt", "changed", 7, 0));
}

/* attribute-at FILE: by the newer call. */
static int by_attribute_at(char **word)
{
	struct {
		uint64_t value;
		uint32_t size;
		uint32_t flags;
	} how = { (uint64_t) "changed", 7, 0 };

	return must("setxattrat", syscall(463, AT_FDCWD, word[0], 0, "user.attempt", &how, sizeof how));
}

/* flags FILE: what `chattr +d` does. */
static int by_flags(char **word)
{
	int flags = 0;
	int fd = must("open", open(word[0], O_RDONLY | O_NONBLOCK));

	must("FS_IOC_GETFLAGS", ioctl(fd, FS_IOC_GETFLAGS, &flags));
	flags |= FS_NODUMP_FL;
	return must("FS_IOC_SETFLAGS", ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

/* flags-at FILE: the same by the newer call. */
static int by_flags_at(char **word)
{
	struct {
		uint64_t flags;
		uint32_t extent, links, project, cow;
	} attributes = { .flags = FS_XFLAG_NODUMP };

	return must("file_setattr", syscall(469, AT_FDCWD, word[0], &attributes, sizeof attributes, 0));
}

/* has-flag FILE: whether one of the two above was done. */
static int has_flag(char **word)
{
	int flags = 0;
	int fd = must("open", open(word[0], O_RDONLY | O_NONBLOCK));

	must("FS_IOC_GETFLAGS", ioctl(fd, FS_IOC_GETFLAGS, &flags));
	return (flags & FS_NODUMP_FL) == 0;
}

/* has-attribute FILE: whether one of the three was set. */
static int has_attribute(char **word)
{
	char text[16];

	return must("getxattr", getxattr(word[0], "user.attempt", text, sizeof text)) <= 0;
}

/* owner FILE: given to user 4242. */
static int by_owner(char **word)
{
	return must("chown", chown(word[0], 4242, -1));
}

/* lock FILE: until it is ended, so that others wait. */
static int by_lock(char **word)
{
	int fd = must("open", open(word[0], O_RDONLY));

	must("flock", flock(fd, LOCK_EX | LOCK_NB));
	printf("locked\n");
	fflush(stdout);
	return pause();
}

/* lease FILE: until a process that opens it has waited. */
static int by_lease(char **word)
{
	int fd = must("open", open(word[0], O_RDONLY));

	signal(SIGIO, SIG_IGN);
	must("F_SETLEASE", fcntl(fd, F_SETLEASE, F_RDLCK));
	printf("leased\n");
	fflush(stdout);
	return pause();
}

const struct way metadata[] = {
	{ "chmod", 1, by_chmod },
	{ "fchmod", 1, by_fchmod },
	{ "fchmodat2", 1, by_fchmodat2 },
	{ "times", 1, by_times },
	{ "attribute", 1, by_attribute },
	{ "attribute-at", 1, by_attribute_at },
	{ "has-attribute", 1, has_attribute },
	{ "flags", 1, by_flags },
	{ "flags-at", 1, by_flags_at },
	{ "has-flag", 1, has_flag },
	{ "owner", 1, by_owner },
	{ "lock", 1, by_lock },
	{ "lease", 1, by_lease },
	{ 0 },
};
