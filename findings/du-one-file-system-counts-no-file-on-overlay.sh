#!/usr/bin/env bash
# coreutils 9.1 on overlayfs (Linux 6.18): if its layers are on different filesystems, `du -x` counts
# directories only, and finds no file.
#
# Expected: within one mount, `-x` ("skip directories on different file systems") changes nothing:
# `find -xdev` and `cp -x` agree that all is one filesystem. Seen: if the two layers of an
# overlay are on different filesystems, as with the upper one in a tmpfs, each file has the device
# number of its layer, and directories have that of the overlay. `du` compares the device of files,
# too, so `du -sx` of a full tree is the size of its directories, with exit code 0. With both layers
# on one filesystem, all numbers are the same.
#
# For agent-bash: a trial is an overlay whose upper layer is stored beside the files, on the same
# filesystem, so all its device numbers are one.
set -eu
version=$(du --version | head -n 1)
[ "$version" = 'du (GNU coreutils) 9.1' ] || { echo "cannot run: $version, not 9.1"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir lower upper
head -c 100000 /dev/zero > lower/one
output=$(unshare --user --map-root-user --mount bash -c '
    mount -t tmpfs none upper
    mkdir upper/files upper/work upper/merged
    mount -t overlay none -o lowerdir=lower,upperdir=upper/files,workdir=upper/work,userxattr upper/merged || exit
    cd upper/merged
    head -c 50000 /dev/zero > two
    size() { du --apparent-size --block-size=1000 "$@" -s . | cut -f 1; }
    echo "$(size), with -x $(size -x), find -xdev: $(find . -xdev -type f | wc -l) files"') \
    || { echo 'cannot run: no overlay in a user namespace'; exit 2; }
echo "du 9.1 on an overlay of two filesystems, in kB: $output"
case $output in 1[5-9]?', with -x '[0-9]', find -xdev: 2 files') ;; *) exit 1 ;; esac
