#!/usr/bin/env bash
# git 2.47.3 on overlayfs (Linux 6.18): `git mv` of a directory fails, where `mv` succeeds.
#
# Expected: `git mv src lib` works wherever `mv src lib` does. Seen: "fatal: renaming 'src' failed:
# Invalid cross-device link", though both names are in one directory of one mount. An overlay cannot
# rename a directory of its lower layer, which is what a container's image and a sandbox's view are
# made of. `mv` then copies; git, like `os.rename` and npm, does not. A directory that was made in
# the container can be renamed, so the same command works or not by the history of the directory.
#
# For agent-bash: in a view, such a call fails; a trace has no overlay.
set -eu
version=$(git --version)
[ "$version" = 'git version 2.47.3' ] || { echo "cannot run: $version, not 2.47.3"; exit 2; }
case $(uname -r) in 6.18.*) ;; *) echo "cannot run: Linux $(uname -r), not 6.18"; exit 2 ;; esac
unshare -m true 2> /dev/null || { echo 'cannot run: mounts need root'; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
cd "$work"
mkdir rw rw/upper rw/work view
git init -q lower
mkdir lower/src
touch lower/src/file
git -C lower add .
git -C lower -c user.name=A -c user.email=a@example.invalid commit -qm first
output=$(unshare -m sh -c '
    mount -t overlay overlay -o lowerdir=lower,upperdir=rw/upper,workdir=rw/work,redirect_dir=off view && cd view || exit
    git mv src lib 2>&1; echo "$?"
    mkdir made && touch made/file && git add made && git mv made moved; echo "$?"
    mv src lib; echo "$?"' | paste -sd ' ')
echo "git 2.47.3, overlayfs: git mv of a lower directory, of a new one, and mv: $output"
[ "$output" = "fatal: renaming 'src' failed: Invalid cross-device link 128 0 0" ]
