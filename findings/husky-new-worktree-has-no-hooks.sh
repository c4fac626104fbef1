#!/usr/bin/env bash
# husky 9.1.7 (npm), git 2.47.3: in a new worktree, `git commit` runs no hook and says nothing.
#
# Expected: hooks belong to the repository, so they run in each of its worktrees, as those in
# `.git/hooks` do; or git complains that they are missing. Seen: husky sets `core.hooksPath` to
# the relative path `.husky/_` for all worktrees. That directory is made by `npm install` and is
# not in the repository, so a worktree has it only after an install of its own. Until then, a
# commit that the hook refuses in the first worktree succeeds. A hook of the framework pre-commit,
# in `.git/hooks`, runs.
#
# For agent-bash: a commit in a fresh worktree of an agent passed no check of husky, though its
# exit code is 0.
set -eu
. "$(dirname "$0")/lib/agent.sh"
[ "$(git --version)" = 'git version 2.47.3' ] || cannot_run "$(git --version), not 2.47.3"
cd "$work/project"
echo '{ "private": true, "scripts": { "prepare": "husky" }, "devDependencies": { "husky": "9.1.7" } }' > package.json
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=user GIT_AUTHOR_EMAIL=user@example.org \
    GIT_COMMITTER_NAME=user GIT_COMMITTER_EMAIL=user@example.org HUSKY=1
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
git init --quiet .
npm install --silent --no-audit --no-fund > /dev/null 2>&1 || cannot_run 'npm cannot install husky@9.1.7'
mkdir -p .husky
echo 'echo "hook of husky" >&2; exit 1' > .husky/pre-commit
echo node_modules > .gitignore
git add . && git commit --quiet --no-verify -m first
git worktree add --quiet ../tree -b feature
commit() {
    (cd "$1" && echo text > new && git add new && git commit --quiet -m second > "$work/log" 2>&1 && code=0 || code=$?
        echo "$code ($(grep -c hook "$work/log" || true) lines of a hook)")
}
output="first worktree $(commit .), new worktree $(commit ../tree)"
mkdir -p .git/hooks
git config --unset core.hooksPath
printf '#!/bin/sh\necho "hook of the repository" >&2; exit 1\n' > .git/hooks/pre-commit
chmod +x .git/hooks/pre-commit
(cd ../tree && git reset --quiet --soft HEAD~1)
output+=", with .git/hooks $(commit ../tree)"
echo "husky 9.1.7: exit code of a commit: $output"
case $output in
    'first worktree 1 ('[1-9]*'), new worktree 0 (0 lines of a hook), with .git/hooks 1 (1 lines of a hook)') ;;
    *) exit 1 ;;
esac
