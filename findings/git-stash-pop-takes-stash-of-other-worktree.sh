#!/usr/bin/env bash
# git 2.47.3: `git stash pop` in a worktree applies the changes that were stashed in another worktree.
#
# Expected: agents that work in worktrees of their own do not touch each other's changes; index, HEAD
# and the merge in progress are of one worktree each. Seen: all worktrees have one stack of stashes.
# `git stash` in the worktree "one" and `git stash pop` in the worktree "two", whose own `git stash`
# had "No local changes to save" and exit code 0, write the edit of "one" into the files of "two", on
# another branch, and remove it from the stack: in "one", the pop that was to bring the edit back
# fails with "No stash entries found".
#
# For agent-bash: a record of the call in "two" names the files of "two" that it changed; the stack is
# in the repository of "one".
set -eu
. "$(dirname "$0")/lib/git.sh"
git config --global user.name user
git config --global user.email user@example.invalid
git init -q -b main "$work/one"
cd "$work/one"
echo text > file
git add file
git commit -q -m first
git worktree add -q -b topic "$work/two"
echo edit >> file
git stash -q
cd "$work/two"
saved=$(git stash)
git stash pop -q
two=$(git status --porcelain) branch=$(git branch --show-current)
cd "$work/one"
one=$(git stash pop 2>&1) && code=0 || code=$?
last=$(tail -n 1 "$work/two/file")
echo "git 2.47.3: in two ($saved), after pop on $branch: '$two', '$last'; pop in one: $code, $one"
[ "$saved|$branch|$two|$last|$code|$one" = \
    'No local changes to save|topic| M file|edit|1|No stash entries found.' ]
