#!/usr/bin/env bash
# MCP server for git 2026.10.19 (PyPI, mcp-server-git), git 2.47.3: after a conflict of `git
# cherry-pick`, the picked commit and the next one have each other's authors.
#
# Expected: `git_commit` ends the cherry-pick as `git commit` does, with the author and the date of
# the commit that is picked; the tool does so for a merge. Seen: the author is the user who resolved
# the conflict, and CHERRY_PICK_HEAD stays, so git still takes a cherry-pick for unfinished. The
# next `git commit` of the user, of whatever files, is by the author of the picked commit, at its
# date. Both succeed, and no message names an author.
#
# For agent-bash: `git commit` in a call is the user's git.
set -eu
. "$(dirname "$0")/lib/git.sh"
git config --global user.name user
git config --global user.email user@example.invalid
python3 -m venv "$work/v" && "$work/v/bin/pip" --quiet --disable-pip-version-check install mcp-server-git==2026.10.19 \
    > "$work/log" 2>&1 || { echo 'cannot run: pip cannot install mcp-server-git==2026.10.19'; exit 2; }
# repository NAME: with a resolved conflict of a picked commit of another author.
repository() {
    git init -q "$work/$1"
    cd "$work/$1"
    echo 1 > file; git add file; git commit -q -m first
    git checkout -q -b topic
    echo 2 > file; git commit -q -a -m picked --author 'other <other@example.invalid>'
    git checkout -q -
    echo 3 > file; git commit -q -a -m third
    git cherry-pick topic > "$work/log" 2>&1 || true
    echo 2 > file; git add file
}
# authors: of the commit that was made, and of the next one, of another file.
authors() {
    touch other
    git add other
    git commit -q -m next 2> "$work/log"
    git log -2 --reverse --format=%an | paste -sd ' '
}
repository git
git commit -q -m picked
git=$(authors)
repository server
"$work/v/bin/python" - <<'P' > "$work/log" 2>&1 || { echo "cannot run: $(tail -n 1 "$work/log")"; exit 2; }
import git
from mcp_server_git.server import git_commit
print(git_commit(git.Repo("."), "picked"))
P
server=$(authors)
echo "authors of a commit picked from 'other', and of the next commit: git commit: $git; git_commit: $server"
[ "$git/$server" = 'other user/user other' ]
