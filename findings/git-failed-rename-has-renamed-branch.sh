#!/usr/bin/env bash
# git 2.47.3: `git branch -m` fails with exit code 128 after it has renamed the branch.
#
# Expected: a command that ends with "fatal:" has changed nothing, which is what git's locks are
# for. Seen: while another process holds `.git/config.lock` (or `.git/config` cannot be replaced, in
# a container), git renames the branch and then fails on the configuration. A second try of the same
# command fails for another reason. `git switch -c new --track other` is alike: exit code 1, and yet
# it has created the branch, without switching to it.
#
# For agent-bash: the sandbox protects `.git/config`, and names this case.
set -eu
. "$(dirname "$0")/lib/git.sh"
git init -q -b old "$work/r"
cd "$work/r"
git -c user.name=u -c user.email=u@example.invalid commit -q --allow-empty -m first
touch .git/config.lock
git branch -m old new 2> /dev/null && renamed=0 || renamed=$?
after=$(git branch --show-current)
git switch -q -c topic --track new 2> /dev/null && switched=0 || switched=$?
branches=$(git branch --format '%(refname:short)' | paste -sd ' ')
now=$(git branch --show-current)
echo "$version: branch -m exits $renamed, branch is '$after'; switch exits $switched on '$now', branches '$branches'"
[ "$renamed/$after/$switched/$now/$branches" = '128/new/1/new/new topic' ]
