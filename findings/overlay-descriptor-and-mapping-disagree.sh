#!/usr/bin/env bash
# Linux 6.18, overlayfs: after a copy-up, `read` of an open descriptor and its mapping differ.
#
# Expected: either both show the new contents, as on every other file system, or both the old ones,
# as the descriptor was opened before the lower file was copied up. Seen: a read-only descriptor
# from before the change reads the new contents, since the overlay redirects each `read` to the
# upper file. A shared mapping made from the same descriptor shows the old contents for ever, as it
# maps the lower file. A program that maps its input (a linker, ripgrep, git's pack files) and one
# that reads it see two versions of one file.
#
# For agent-bash: a trial's view is mounted before its shell looks into the tree.
set -eu
case $(uname -r) in 6.18.*) ;; *) echo "cannot run: Linux $(uname -r), not 6.18"; exit 2 ;; esac
unshare -m true 2> /dev/null || { echo 'cannot run: mounts need root'; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
output=$(cd "$work" && unshare -m python3 - <<'P'
import mmap, os, subprocess, sys
os.mkdir("lower"), os.mkdir("rw")
mounted = subprocess.run("""mount -t tmpfs none rw && mkdir rw/upper rw/work rw/view && printf old > lower/file &&
    mount -t overlay none -o lowerdir=lower,upperdir=rw/upper,workdir=rw/work rw/view""", shell=True)
if mounted.returncode:
    sys.exit(2)
def look(path):
    with open(path, "rb") as reader:
        mapping = mmap.mmap(reader.fileno(), 3, mmap.MAP_SHARED, mmap.PROT_READ)
        with open(path, "r+") as writer:
            writer.write("new")
        return os.pread(reader.fileno(), 3, 0).decode() + "/" + mapping[:].decode()
view = look("rw/view/file")
print(f"read/mapping on the overlay {view}, on its lower file system {look('lower/file')}")
P
) || { echo 'cannot run: no overlay'; exit 2; }
echo "Linux 6.18: $output"
[ "$output" = 'read/mapping on the overlay new/old, on its lower file system new/new' ]
