#!/usr/bin/env bash
# GNU tar 1.34: in a user namespace that maps the user to root, extraction fails with exit code 2.
#
# Expected: `unshare -r tar xf archive.tar` extracts the files that the same user extracts without
# it; more privileges do not make it fail. Seen: as root, tar gives each file the owner that the
# archive has. A user ID without a mapping is "Cannot change ownership to uid 1000, gid 1000:
# Invalid argument". Archives that an ordinary user packed have such owners. All files are there,
# and the exit code is 2, so `&&` and build scripts stop. `--no-same-owner` is the cure.
#
# For agent-bash: the sandbox maps a user to the same number, and for root all users.
set -eu
version=$(tar --version | head -n 1)
[ "$version" = 'tar (GNU tar) 1.34' ] || { echo "cannot run: $version, not 1.34"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work"/{in,out,mapped,cured}
echo text > "$work/in/file"
tar cf "$work/archive" --owner=user:1000 --group=user:1000 -C "$work/in" file
user=()
if [ "$(id -u)" = 0 ]; then
    chown -R 65534:65534 "$work"
    user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
fi
"${user[@]}" unshare -r true 2> /dev/null || { echo 'cannot run: no user namespaces'; exit 2; }
extract() { "${user[@]}" "${@:2}" -xf "$work/archive" -C "$work/$1" 2> "$work/log" && echo 0 || echo "$?"; }
plain=$(extract out tar)
cured=$(extract cured unshare -r tar --no-same-owner)
mapped=$(extract mapped unshare -r tar)
message=$(grep -o 'Cannot change ownership.*' "$work/log" | head -n 1)
[ -e "$work/mapped/file" ] && extracted=yes || extracted=no
echo "GNU tar 1.34: the user: exit $plain; mapped to root: exit $mapped, extracted: $extracted, '$message'; --no-same-owner: $cured"
[ "$plain $mapped $extracted $cured" = '0 2 yes 0' ] && [ -n "$message" ]
