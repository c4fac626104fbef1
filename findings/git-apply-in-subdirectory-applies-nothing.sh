#!/usr/bin/env bash
# git 2.47.3: `git apply` in a subdirectory of a repository succeeds and applies nothing.
#
# Expected: a patch whose file is not found is an error, as with `patch -p1`; or it applies, as the
# patch has paths from the repository's top. Seen: paths outside the current directory are skipped.
# `git apply` and `git apply --check` exit with 0 and print nothing, and the file is as before. The
# same holds for a package that is unpacked below a repository (`build/`, `node_modules/NAME`),
# whose patch has paths from the package's top. Outside a repository, the same command in that
# package applies the patch.
#
# For agent-bash: a call with recorded changes shows it: its change set is empty.
set -eu
. "$(dirname "$0")/lib/git.sh"
export GIT_CEILING_DIRECTORIES=$work
mkdir -p "$work/repository/build/package" "$work/package"
cd "$work/repository"
git init -q .
echo old > file
git add file
echo new > file
git diff > "$work/patch"
echo old > file
cp file build/package/
cp file "$work/package/"
apply() { code=0; (cd "$1"; git apply $2 "$work/patch") > "$work/log" 2>&1 || code=$?; echo "$code/$(wc -c < "$work/log")"; }
check=$(apply build --check)
below=$(apply build '')
vendored=$(apply build/package '')
outside=$(apply ../package '')
files=$(cat file build/package/file ../package/file | paste -sd ' ')
echo "git 2.47.3: exit code/bytes printed of --check $check, in a subdirectory $below, in a package $vendored, outside $outside; files: $files"
[ "$check $below $vendored $outside $files" = '0/0 0/0 0/0 0/0 old old new' ]
