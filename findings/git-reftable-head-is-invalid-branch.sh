#!/usr/bin/env bash
# git 2.47.3: in a repository with reftable, `.git/HEAD` names the branch "refs/heads/.invalid".
#
# Expected: `.git/HEAD` has the current branch, as prompts, editors and agents read it without
# starting git. Seen: with `--ref-format=reftable`, the file always has `ref: refs/heads/.invalid`,
# which is a name that git itself refuses, and it never changes: not with `git switch`, nor with a
# detached HEAD. The branch is in a binary table. A program that watches the file for a change of
# the branch sees none.
#
# For agent-bash: the interface reads the branch from that file, and has no other name there.
set -eu
. "$(dirname "$0")/lib/git.sh"
git init -q --ref-format=reftable -b main "$work/repository"
cd "$work/repository"
git -c user.name=user -c user.email=user@example.invalid commit -q --allow-empty -m first
first=$(cat .git/HEAD)
git switch -q -c topic
git rev-parse -q --abbrev-ref HEAD > "$work/branch"
git switch -q --detach
second=$(cat .git/HEAD)
git check-ref-format refs/heads/.invalid && valid=yes || valid=no
echo "git 2.47.3: on main, HEAD has '$first'; detached, after $(cat "$work/branch"): '$second'; a valid name: $valid"
[ "$first|$second|$valid" = 'ref: refs/heads/.invalid|ref: refs/heads/.invalid|no' ]
