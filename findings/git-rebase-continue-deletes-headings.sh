#!/usr/bin/env bash
# git 2.47.3: after a conflict, `git rebase --continue` deletes lines of the commit's message.
#
# Expected: a rebase keeps messages, as it does without a conflict. Seen: `--continue` starts the
# editor, and after the editor, lines that begin with "#" are deleted as comments.
# With `GIT_EDITOR=true`, as scripts and agents continue, a message in Markdown silently loses its
# headings, and a message that is only "#12 Fix" is empty, which stops the rebase. `git cherry-pick
# --continue` does the same.
#
# For agent-bash: nothing of it is seen in the result of the call; `git log` shows it.
set -eu
. "$(dirname "$0")/lib/git.sh"
export GIT_EDITOR=true
git init -q -b main "$work/project"
cd "$work/project"
git config user.name user
git config user.email user@example.invalid
commit() { echo "$1" > file; git add file; git commit -q -m "$2"; }
rebase() { # MESSAGE [CONFLICT]: prints the exit code and the first letters of the message's lines.
    local code=0
    git checkout -q -B topic start
    echo topic > "${2-other}"
    git add .
    git commit -q -m "$1"
    git rebase main > "$work/log" 2>&1 || { git add . && git rebase --continue >> "$work/log" 2>&1 || code=$?; }
    echo "$code $(git log -1 --format=%B topic | cut -c 1-5 | grep . | paste -sd '|')"
    git rebase --abort 2> "$work/log" || true
}
commit 1 first
git tag start
commit 2 second
text=$'Title\n\n# Why\n\nText'
without=$(rebase "$text")
with=$(rebase "$text" file)
number=$(rebase '#12 Fix' file)
echo "git 2.47.3: code and message: without a conflict: $without; with a conflict: $with; '#12 Fix': ${number%% *}"
[ "$without/$with/${number%% *}" = '0 Title|# Why|Text/0 Title|Text/1' ]
