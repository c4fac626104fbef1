#!/usr/bin/env bash
# git 2.47.3: `git pull --autostash` exits with 0 and leaves conflict markers in the files.
#
# Expected: a pull that cannot combine the edits of the working tree with the new commits fails, as
# it does without `--autostash` (exit code 128 or 1), so that `git pull && make` stops. Seen: git
# stashes the edits, takes the new commits over and applies the stash. If that conflicts, the file
# has markers and is "both modified", standard error says "Your changes are safe in the stash", and
# the exit code is 0. `git stash pop` of the same stash exits with 1. The setting
# `rebase.autoStash` does the same for `git pull --rebase` without an option.
#
# For agent-bash: the exit code is the command's; the model reads standard error after a success,
# too, and recorded changes list the file.
set -eu
. "$(dirname "$0")/lib/git.sh"
git config --global user.name user
git config --global user.email user@example.invalid
git config --global init.defaultBranch main
git init -q "$work/upstream"
cd "$work/upstream"
edit() { printf 'one\n%s\nthree\n' "$1" > file; }
edit two
git add file
git commit -qm first
for name in rebase merge setting none pop; do git clone -q . "$work/$name"; done
edit upstream
git commit -qam second
# outcome NAME COMMAND ...: edits the file in that clone and runs the command.
outcome() {
    cd "$work/$1"
    edit edited
    shift
    code=0
    "$@" > "$work/log" 2>&1 || code=$?
    printf '%s with %s markers' "$code" "$(grep -c '^<<<<<<<' file || true)"
}
rebase=$(outcome rebase git pull -q --rebase --autostash)
merge=$(outcome merge git pull -q --no-rebase --autostash)
setting=$(outcome setting git -c rebase.autoStash pull -q --rebase)
none=$(outcome none git pull -q --rebase)
pop=$(outcome pop sh -c 'git stash -q; git pull -q --ff-only; git stash pop')
echo "git 2.47.3: --rebase --autostash $rebase, --no-rebase --autostash $merge, rebase.autoStash $setting, neither $none, by hand $pop"
[ "$rebase/$merge/$setting" = '0 with 1 markers/0 with 1 markers/0 with 1 markers' ] \
    && [ "$none/$pop" = '128 with 0 markers/1 with 1 markers' ]
