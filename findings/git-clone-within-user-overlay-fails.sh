#!/usr/bin/env bash
# git 2.47.3 on an overlay in a user namespace (Linux 6.18): `git clone` of a local repository
# fails.
#
# Expected: `git clone DIR COPY` works wherever `ln` works, and in an overlay that an ordinary user
# mounts as in root's. Seen: "fatal: hardlink different from source". Git compares the inode number
# of a new hard link with that of its source, and in this overlay they differ, since the link copies
# the file up. In an overlay that root mounts over the same file system, the clone succeeds; over
# two file systems, it fails for root, too. `--no-hardlinks` is the cure.
#
# For agent-bash: a trial of such a clone fails without privileges.
set -eu
version=$(git --version)
[ "$version" = 'git version 2.47.3' ] || { echo "cannot run: $version, not 2.47.3"; exit 2; }
case $(uname -r) in 6.18.*) ;; *) echo "cannot run: Linux $(uname -r), not 6.18"; exit 2 ;; esac
[ "$(id -u)" = 0 ] || { echo 'cannot run: needs root, to compare with an ordinary user'; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/run" <<'R'
cd "$1"
export HOME=$1 GIT_CONFIG_NOSYSTEM=1
mount -t tmpfs none rw && mkdir rw/lower rw/upper rw/work rw/view || exit 9
git init -q rw/lower/r
git -C rw/lower/r -c user.name=u -c user.email=u@example.invalid commit -q --allow-empty -m first
mount -t overlay none -o "$2lowerdir=rw/lower,upperdir=rw/upper,workdir=rw/work" rw/view || exit 9
cd rw/view
git clone -q r linked; linked=$?
git clone -q --no-hardlinks r copied; echo "$linked/$?"
R
mkdir "$work/rw"
root=$(unshare -m bash "$work/run" "$work" '') || { echo 'cannot run: no overlay'; exit 2; }
chown -R 65534:65534 "$work"
user=$(setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urm bash "$work/run" "$work" userxattr, \
    2> "$work/error") || { echo 'cannot run: no overlay in user namespaces'; exit 2; }
error=$(cut -d' ' -f 2-5 "$work/error")
echo "$version in an overlay, clone/--no-hardlinks: root exits $root, a user $user ('$error')"
[ "$root $user $error" = '0/0 128/0 hardlink different from source' ]
