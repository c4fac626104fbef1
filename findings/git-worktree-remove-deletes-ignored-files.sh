#!/usr/bin/env bash
# git 2.47.3: `git worktree remove` without `--force` deletes ignored files.
#
# Expected: the command refuses if files would be lost: one untracked file is enough for "contains
# modified or untracked files, use --force to delete it". `git checkout`, `git stash -u` and `git
# clean` leave ignored files, too. Seen: files that .gitignore lists do not count. A `.env` that was
# edited in the worktree, a local database or the log of an agent are deleted, with exit code 0.
#
# For agent-bash: files that git ignores are recorded as changes like all others. `undo` brings them
# back if the worktree is below the directory of the call; changes outside of it are only counted.
set -eu
. "$(dirname "$0")/lib/git.sh"
git init -q -b main "$work/r"
cd "$work/r"
echo .env > .gitignore
git add .gitignore
git -c user.name=u -c user.email=u@example.invalid commit -q -m first
remove_with() {
    git worktree add -q --detach "$work/$1"
    echo text > "$work/$1/$1"
    git worktree remove "$work/$1" 2> /dev/null && echo -n 0 || echo -n $?
    [ -e "$work/$1/$1" ] && echo ' kept' || echo ' deleted'
}
untracked=$(remove_with notes)
ignored=$(remove_with .env)
echo "$version: remove with an untracked file: $untracked, with an ignored file: $ignored"
[ "$untracked/$ignored" = '128 kept/0 deleted' ]
