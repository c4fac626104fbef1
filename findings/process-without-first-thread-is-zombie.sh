#!/usr/bin/env bash
# Linux 6.18: a process that runs is a zombie without a name, once its first thread has ended.
#
# Expected: "Z" and "defunct" mean that a process has ended and waits for its parent. Seen: if
# `main` ends by `pthread_exit` while other threads work, the process is listed just so: `ps`
# prints "[name] <defunct>", its command line is empty, so `pgrep -f` does not find it, and its
# directory and program cannot be read. It works on, holds its ports and files, and a signal
# reaches it; a descriptor of `pidfd_open` says rightly that it has not ended. The number of
# threads in /proc tells such a process from a real zombie.
#
# For agent-bash: a zombie with more than one thread counts as a running process.
set -eu
case $(uname -r) in 6.18.*) ;; *) echo "cannot run: Linux $(uname -r), not 6.18"; exit 2 ;; esac
for program in cc ps pgrep; do
    command -v "$program" > /dev/null || { echo "cannot run: no $program"; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/main.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *work(void *path) {
    char byte;
    while (read(0, &byte, 1) == 1) {}
    fclose(fopen(path, "w"));
    return NULL;
}
int main(int count, char **words) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, words[count - 1]);
    pthread_exit(NULL);
}
C
cc -pthread -o "$work/worker" "$work/main.c" 2> "$work/log" || { echo "cannot run: $(tail -n 1 "$work/log")"; exit 2; }
mkfifo "$work/input"
"$work/worker" "$work/result" < "$work/input" &
pid=$!
exec 3> "$work/input"
for _ in {1..100}; do grep -q '^State:.Z' "/proc/$pid/status" && break; sleep 0.1; done
output="$(ps -o state=,args= -p "$pid"), command line of $(wc -c < "/proc/$pid/cmdline") bytes"
output+=", directory $(readlink "/proc/$pid/cwd" || echo unknown), found by pgrep -f $(pgrep -c -f "$work/worker" || true)"
output+=", ended $(python3 -c 'import os, select, sys; print(bool(select.select([os.pidfd_open(int(sys.argv[1]))], [], [], 0)[0]))' "$pid")"
exec 3>&-
wait "$pid" && code=0 || code=$?
output+="; at its end: exit code $code, its file $([ -e "$work/result" ] && echo exists || echo 'is missing')"
echo "Linux 6.18: $output"
[ "$output" = 'Z [worker] <defunct>, command line of 0 bytes, directory unknown, found by pgrep -f 0, ended False; at its end: exit code 0, its file exists' ]
