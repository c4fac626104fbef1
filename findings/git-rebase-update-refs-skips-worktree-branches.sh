#!/usr/bin/env bash
# git 2.47.3: `git rebase --update-refs` leaves a branch behind if another worktree has it checked
# out.
#
# Expected: in a stack of branches a, b and c, rebasing c with `--update-refs` moves all three, or
# fails, as `git branch -f a` fails for a branch of another worktree. Seen: git moves b, lists it,
# and exits with 0. It neither moves nor names a, which an agent has in its own worktree. From then
# on the stack is two lines of history with the change of a in both, and pushing a undoes the rebase
# for it.
#
# For agent-bash: agents with a worktree each share branches; a rebase in one worktree can leave the
# branch of another behind, with exit code 0.
set -eu
. "$(dirname "$0")/lib/git.sh"
export GIT_AUTHOR_NAME=u GIT_AUTHOR_EMAIL=u@example.invalid GIT_COMMITTER_NAME=u GIT_COMMITTER_EMAIL=u@example.invalid
git init -q -b main "$work/r"
cd "$work/r"
git commit -q --allow-empty -m base
for branch in a b c; do
    git switch -q -c "$branch"
    echo 1 > "$branch"
    git add "$branch"
    git commit -q -m "$branch"
done
git switch -q main
echo 1 > new
git add new
git commit -q -m new
git worktree add -q "$work/agent" a
git switch -q c
log=$(git rebase --update-refs main 2>&1) && status=$? || status=$?
named=$(printf '%s' "$log" | tr '\r' '\n' | sed -n 's/^\t//p' | paste -sd ' ')
left=$(git branch --format '%(refname:short)' --no-contains main | paste -sd ' ')
echo "$version: rebase exits $status, updated '$named'; branches without the new base: '$left'"
[ "$status/$named/$left" = '0/refs/heads/b/a' ]
