#!/usr/bin/env bash
# git 2.47.3: `git stash pop` in one worktree takes the edits that were stashed in another one.
#
# Expected: a worktree has an index, a HEAD and a state of merges of its own, so it has its own
# stash. Seen: there is one stash for all worktrees of a repository. If two agents each put their
# edits away, run something and take them back, the first `pop` gets the edits of the other one,
# also on another branch, and removes them from the stash; each exits with 0 if the files allow
# it. `git stash list` names the branch of each entry, not the worktree.
#
# For agent-bash: with recorded changes, the result of the call lists the files that came with the
# `pop`.
set -eu
[ "$(git --version)" = 'git version 2.47.3' ] || { echo "cannot run: $(git --version), not 2.47.3"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=user GIT_AUTHOR_EMAIL=user@example.org \
    GIT_COMMITTER_NAME=user GIT_COMMITTER_EMAIL=user@example.org
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
git init --quiet --initial-branch=main "$work/first"
cd "$work/first"
echo text | tee one two > /dev/null
git add . && git commit --quiet -m first
git worktree add --quiet -b other "$work/second"
echo 'edit of the first' > one
git stash --quiet
(cd "$work/second" && echo 'edit of the second' > two && git stash --quiet)
git stash pop --quiet
first=$(git status --porcelain | paste -sd ,)
second=$(cd "$work/second" && git stash pop --quiet && git status --porcelain | paste -sd ,)
echo "git 2.47.3: edits after stash and pop in both worktrees: of one in the first, '$first', of two in the second, '$second'"
[ "$first/$second" = ' M two/ M one' ]
