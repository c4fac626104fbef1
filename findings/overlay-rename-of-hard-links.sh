#!/usr/bin/env bash
# Linux 6.18, overlayfs: renaming a file to another hard link of it removes a name.
#
# Expected: POSIX has `rename` do nothing if both names are links of the same file, and Linux's file
# systems do so: both names stay. Seen: on an overlay, two links of a lower file are two files from
# the first change on. `rename("a", "b")` succeeds, and "a" is gone. A program that counts on the
# rule (a backup by hard links, `mv` of one link over the other, which asks nothing) loses a name.
#
# For agent-bash: a trial can differ from the real run.
set -eu
case $(uname -r) in 6.18.*) ;; *) echo "cannot run: Linux $(uname -r), not 6.18"; exit 2 ;; esac
unshare -m true 2> /dev/null || { echo 'cannot run: mounts need root'; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
output=$(cd "$work" && unshare -m python3 - <<'P'
import os, subprocess, sys
os.mkdir("lower"), os.mkdir("rw")
with open("lower/a", "w") as file:
    file.write("text\n")
os.link("lower/a", "lower/b")
os.rename("lower/a", "lower/b")
plain = sorted(os.listdir("lower"))
mounted = subprocess.run("""mount -t tmpfs none rw && mkdir rw/upper rw/work rw/view &&
    mount -t overlay none -o lowerdir=lower,upperdir=rw/upper,workdir=rw/work rw/view""", shell=True)
if mounted.returncode:
    sys.exit(2)
same = os.path.samefile("rw/view/a", "rw/view/b")
os.rename("rw/view/a", "rw/view/b")
print(f"plain {plain}, overlay {sorted(os.listdir('rw/view'))} (the same file before: {same})")
P
) || { echo 'cannot run: no overlay'; exit 2; }
echo "Linux 6.18: after rename of a to b: $output"
[ "$output" = "plain ['a', 'b'], overlay ['b'] (the same file before: True)" ]
