/* odd STATE PROGRAM ARGV...: starts a program with an odd state, and ends as it has ended. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int is(const char *state, const char *name) { return strcmp(state, name) == 0; }

static void set(const char *state) {
    if (is(state, "closed0") || is(state, "closed012")) close(0);
    if (is(state, "closed1") || is(state, "closed012") || is(state, "closed12")) close(1);
    if (is(state, "closed2") || is(state, "closed012") || is(state, "closed12")) close(2);
    if (is(state, "open3-9")) for (int fd = 3; fd < 10; fd++) dup2(1, fd);
    if (is(state, "open3-9null")) { int null = open("/dev/null", O_RDWR); for (int fd = 3; fd < 10; fd++) dup2(null, fd); }
    if (is(state, "open100")) dup2(2, 100);
    if (is(state, "nonblock")) for (int fd = 1; fd < 3; fd++) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    if (is(state, "swapped")) { int out = dup(1); dup2(2, 1); dup2(out, 2); close(out); }
    if (is(state, "stdin-is-stdout")) dup2(1, 0);
    if (is(state, "readonly1")) { int null = open("/dev/null", O_RDONLY); dup2(null, 1); close(null); }
    if (is(state, "full1")) { int full = open("/dev/full", O_WRONLY); dup2(full, 1); close(full); }
    if (is(state, "ignored-hup")) signal(SIGHUP, SIG_IGN);
    if (is(state, "ignored-int")) { signal(SIGINT, SIG_IGN); signal(SIGQUIT, SIG_IGN); }
    if (is(state, "ignored-term")) signal(SIGTERM, SIG_IGN);
    if (is(state, "ignored-usr1")) signal(SIGUSR1, SIG_IGN);
    if (is(state, "ignored-chld")) signal(SIGCHLD, SIG_IGN);
    if (is(state, "blocked")) { sigset_t set; sigemptyset(&set); sigaddset(&set, SIGTERM); sigaddset(&set, SIGUSR1); sigprocmask(SIG_BLOCK, &set, 0); }
    if (is(state, "blocked-chld")) { sigset_t set; sigemptyset(&set); sigaddset(&set, SIGCHLD); sigprocmask(SIG_BLOCK, &set, 0); }
    if (is(state, "ignored-pipe")) signal(SIGPIPE, SIG_IGN);
    if (is(state, "own-group")) setpgid(0, 0);
    if (is(state, "own-session")) setsid();
    if (is(state, "small-stack")) { struct rlimit limit = {1 << 20, 1 << 20}; setrlimit(RLIMIT_STACK, &limit); }
    if (is(state, "little-file")) { struct rlimit limit = {1 << 16, 1 << 16}; setrlimit(RLIMIT_FSIZE, &limit); }
}

int main(int count, char **words) {
    if (count < 4) return 99;
    pid_t child = fork();
    if (child == 0) {
        set(words[1]);
        execv(words[2], words + 3);
        _exit(98);
    }
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (WIFSIGNALED(status)) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        kill(getpid(), WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}
