#!/usr/bin/env bash
# Python 3.11: an edit of the same length within a second of the last one is not run.
#
# Expected: `import` compiles a module again when its file has changed; the times of files have
# nanoseconds. Seen: the cached code has the file's time in whole seconds, and its size. An agent or
# a test that writes `x = 1`, runs it, writes `x = 2` and runs it again within the second gets 1
# twice, also in every later process. pytest's rewritten modules have the same cache key.
#
# For agent-bash: calls follow each other within a second; a file that was just edited may need
# `touch`.
set -eu
version=$(python3 --version)
case $version in 'Python 3.11.'*) ;; *) echo "cannot run: $version, not 3.11"; exit 2 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset PYTHONDONTWRITEBYTECODE PYTHONPYCACHEPREFIX
run() { python3 -c 'import module; print(module.x)'; }
echo 'x = 1' > module.py
touch -d '2026-01-01 00:00:00.1' module.py
first=$(run)
echo 'x = 2' > module.py
touch -d '2026-01-01 00:00:00.9' module.py
second=$(run)
touch -d '2026-01-01 00:00:01' module.py
third=$(run)
echo "$version: x is $first, then 2 in the same second: $second, a second later: $third"
[ "$first $second $third" = '1 1 2' ]
