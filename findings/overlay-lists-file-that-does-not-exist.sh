#!/usr/bin/env bash
# Linux 6.18, overlayfs: `ls` lists a file that `cat` and `stat` cannot find.
#
# Expected: a file that appears in the lower directory is within the overlay at once, or not at all.
# Seen: it depends on what was asked before. A name that a program of the overlay once looked for
# stays missing: `ls` lists it, `cat` says "No such file or directory", and `ls -l` has question
# marks. Another new name in the same directory can be read. Programs look for files that do not
# exist all the time: `git` for MERGE_HEAD, Node.js for modules, make for its targets, a loop for
# the file that announces a server. The answer also differs if the kernel drops its cache of names.
#
# For agent-bash: a trial that waits for a file of a process outside can wait for ever, though `ls`
# lists the file.
set -eu
case $(uname -r) in 6.18.*) ;; *) echo "cannot run: Linux $(uname -r), not 6.18"; exit 2 ;; esac
unshare -m true 2> /dev/null || { echo 'cannot run: mounts need root'; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
output=$(cd "$work" && LC_ALL=C unshare -m bash 2> /dev/null <<'B'
mkdir lower rw
mount -t tmpfs none rw && mkdir rw/upper rw/work rw/view &&
    mount -t overlay none -o lowerdir=lower,upperdir=rw/upper,workdir=rw/work rw/view || exit 2
state() {
    [ -n "$(ls rw/view | grep -x "$1")" ] && printf '%s is listed, ' "$1" || printf '%s is not listed, ' "$1"
    [ -e "rw/view/$1" ] && echo exists || echo 'does not exist'
}
state awaited
touch lower/awaited lower/other
state awaited
state other
ls rw/upper
B
) || { echo 'cannot run: no overlay'; exit 2; }
output=$(echo "$output" | paste -sd ';')
echo "Linux 6.18, overlay, before and after both files appear in the lower directory: $output"
[ "$output" = 'awaited is not listed, does not exist;awaited is listed, does not exist;other is listed, exists' ]
