#!/usr/bin/env bash
# git 2.47.3: `git stash push -- b` also stashes the staged file `a`, and leaves it in place.
#
# Expected, from the manual: a stash with paths "records the modified states only for the files that
# match the pathspec". Seen: it also records each staged file. `a` stays staged, so the copy is not
# noticed before `git stash pop`: if `a` was committed and edited since, the pop of `b` conflicts in
# `a`, and keeps the stash. Without an edit, the pop brings `b` only.
#
# For agent-bash: a model that parks one file by `git stash` can get conflicts in another one.
set -eu
. "$(dirname "$0")/lib/git.sh"
git init -q "$work/project"
cd "$work/project"
git config user.name user
git config user.email user@example.invalid
write() { echo "$1" > "$2"; }
write 1 a; write 1 b
git add .
git commit -q -m first
write 2 a
git add a
write 2 b
git stash push -q -- b
status=$(git status --short)
stashed=$(git stash show --name-only | paste -sd ' ')
git commit -q -m second
write 3 a
git commit -q -a -m third
code=0
git stash pop > "$work/log" 2>&1 || code=$?
conflict=$(git diff --name-only --diff-filter=U)
echo "git 2.47.3: stash of b has: $stashed; status after it: $status; later pop: code $code, conflict in: $conflict"
[ "$stashed/$status/$code/$conflict" = 'a b/M  a/1/a' ]
