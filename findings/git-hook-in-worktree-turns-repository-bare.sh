#!/usr/bin/env bash
# git 2.47.3: `git init` of another directory in a hook makes the user's repository bare.
#
# Expected: `git init scratch` in a hook, say by a test run before a commit, makes a repository in
# scratch. In the main checkout it does. Seen: in a linked worktree, git gives its hooks GIT_DIR,
# which it does not in the main checkout. There `git init scratch` makes no repository, succeeds
# without a message, and sets `core.bare` in the configuration that all worktrees share: from then
# on, `git status` in the main checkout is "fatal: this operation must be run in a work tree".
# `git config` in scratch changes that configuration, too.
#
# For agent-bash: below a hook, a command inherits GIT_DIR, and git in any directory means that
# repository.
set -eu
. "$(dirname "$0")/lib/git.sh"
mkdir "$work/scratch"
git init -q "$work/main"
cd "$work/main"
git config user.name user
git config user.email user@example.invalid
git commit -q --allow-empty -m first
git worktree add -q "$work/linked" 2> "$work/log"
printf '#!/bin/sh\ngit init -q "%s/scratch/$(basename "$PWD")"\n' "$work" > .git/hooks/pre-commit
chmod +x .git/hooks/pre-commit
state() { printf '%s/' "$(git config --bool core.bare)"; git status > /dev/null 2> "$work/log" && echo usable || echo fatal; }
git commit -q --allow-empty -m second
in_main=$(state)
git -C "$work/linked" commit -q --allow-empty -m third
in_linked=$(state)
made=$(cd "$work/scratch" && echo */.git)
echo "git 2.47.3: core.bare/checkout after a commit in main: $in_main, in a worktree: $in_linked; made: $made"
[ "$in_main $in_linked $made" = 'false/usable true/fatal main/.git' ]
