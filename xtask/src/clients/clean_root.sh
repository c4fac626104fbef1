# Runs a command where there is nothing but bash, busybox, and an interpreter: `sh clean_root.sh ROOM PROGRAM… -- WORD…`.
# In a mount namespace of its own, so that nothing is left of it. ROOM is the only place that can be written.
set -eu
room=$1
shift
root=$room/root
mkdir -p "$root"
mount -t tmpfs none "$root"

# Puts a file or a directory into the root, by its path.
bring() {
    if [ -d "$1" ]; then mkdir -p "$root$1"; else mkdir -p "$root${1%/*}" && : >> "$root$1"; fi
    mount --bind "$1" "$root$1"
}

for name in bin lib lib64 sbin; do
    [ ! -L "/$name" ] || cp -P "/$name" "$root/$name"
done
mkdir -p "$root/usr/bin" "$root/usr/sbin" "$root/proc" "$root/dev" "$root/tmp"
for path in /usr/lib /usr/lib64 /usr/share/nodejs; do
    [ ! -e "$path" ] || bring "$path"
done
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
bring "$room"
bring "$(command -v busybox)"
chroot "$root" "$(command -v busybox)" --install -s /usr/bin
rm -f "$root/usr/bin/bash"
bring /usr/bin/bash

while [ "$1" != -- ]; do
    real=$(readlink -f "$1")
    prefix=${real%/bin/*}
    case $prefix in
        # Among all the others of the system: itself, and the name that leads to it.
        /usr) [ "${real#/usr/bin/}" = "$real" ] || bring "$real" ;;
        /usr/lib/* | /usr/share/*) ;;
        *) bring "$prefix" ;;
    esac
    for path in "$1" "/usr/bin/${1##*/}"; do
        [ -e "$root$path" ] || { mkdir -p "$root${path%/*}" && ln -s "$real" "$root$path"; }
    done
    shift
done
shift

cd "$room"
exec chroot "$root" /usr/bin/env -i PATH=/usr/bin HOME="$room" TMPDIR="$room" XDG_STATE_HOME="$room/state" LANG=C.UTF-8 \
    /usr/bin/sh -c 'cd "$HOME" && "$@"' sh "$@"
