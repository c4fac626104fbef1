#!/usr/bin/env bash
# git 2.47.3: `git add -A` commits the repository's own worktrees as submodules without an address.
#
# Expected: git knows its worktrees, as `git worktree list` shows, and skips one that is below the
# repository; or `git add` fails. Seen: it adds a gitlink, like for a foreign repository, and exits
# with 0 (a warning is on standard error). From then on, each `git commit -a` follows the commits of
# the worktree's branch without a word. After `git worktree remove`, the path is a deleted file. In
# each clone, `git submodule` and programs that call it fail: "no submodule mapping found".
#
# For agent-bash: agents that put worktrees into the repository need a line in .gitignore or
# .git/info/exclude.
set -eu
. "$(dirname "$0")/lib/git.sh"
git config --global user.name user
git config --global user.email user@example.invalid
git init -q "$work/project"
cd "$work/project"
git commit -q --allow-empty -m first
git worktree add -q worktrees/x 2> "$work/log"
code=0
git add -A 2> "$work/log" || code=$?
git commit -q -m second
before=$(git rev-parse HEAD:worktrees/x)
git -C worktrees/x commit -q --allow-empty -m 'in the worktree'
echo text > file
git add file
git commit -q -a -m third 2> "$work/log"
[ "$before" = "$(git rev-parse HEAD:worktrees/x)" ] && follows=no || follows=yes
lines=$(wc -l < "$work/log")
type=$(git ls-tree HEAD worktrees/ | cut -d' ' -f1,2)
git worktree remove worktrees/x
status=$(git status --short)
git clone -q "$work/project" "$work/clone"
submodule=0
git -C "$work/clone" submodule status > "$work/log" 2>&1 || submodule=$?
echo "git 2.47.3: git add -A: code $code, adds: $type; commit -a follows: $follows, lines on stderr: $lines;" \
    "after the removal: $status; git submodule in a clone: code $submodule"
[ "$code/$type/$follows/$lines/$status/$submodule" = '0/160000 commit/yes/0/ D worktrees/x/128' ]
