#!/usr/bin/env bash
# Linux 6.18, overlayfs: the same file with the same inode number is locked below and free above.
#
# Expected: `flock` and `fcntl` locks belong to the file. An unchanged file of an overlay is the
# lower one: `stat` gives the same inode number, and reads go to it. So a lock of a program that
# works on the lower directory excludes a program within the overlay. Seen: an overlay keeps locks
# at inodes of its own. A lock is granted above while an exclusive one is held below, though
# nothing is copied up. Builds, package managers and databases that take turns by a lock file
# (cargo, apt, SQLite) run at the same time, inside and outside. Within one overlay, a lock holds,
# also from before a copy-up to after it.
#
# For agent-bash: a trial does not wait for a lock that a process outside holds.
set -eu
case $(uname -r) in 6.18.*) ;; *) echo "cannot run: Linux $(uname -r), not 6.18"; exit 2 ;; esac
unshare -m true 2> /dev/null || { echo 'cannot run: mounts need root'; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
output=$(cd "$work" && unshare -m python3 - <<'P'
import fcntl, os, subprocess, sys
os.mkdir("lower"), os.mkdir("rw")
with open("lower/file", "w") as file:
    file.write("text\n")
mounted = subprocess.run("""mount -t tmpfs none rw && mkdir rw/upper rw/work rw/view &&
    mount -t overlay none -o lowerdir=lower,upperdir=rw/upper,workdir=rw/work rw/view""", shell=True)
if mounted.returncode:
    sys.exit(2)
same = os.stat("lower/file").st_ino == os.stat("rw/view/file").st_ino
below = open("lower/file", "r+")
fcntl.flock(below, fcntl.LOCK_EX)
fcntl.lockf(below, fcntl.LOCK_EX)
child = """import fcntl, sys
file = open(sys.argv[1], sys.argv[2])
for lock in (fcntl.flock, fcntl.lockf):
    try:
        lock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        print("granted", end=" ")
    except BlockingIOError:
        print("refused", end=" ")"""
def locks(path, mode="r"):
    return subprocess.run([sys.executable, "-c", child, path, mode], stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
print(f"inode numbers equal {same}; below {locks('lower/file')}; above {locks('rw/view/file')}, copied up {os.listdir('rw/upper')}")
above = open("rw/view/file")
fcntl.flock(above, fcntl.LOCK_EX)
print(f"after a lock and a copy-up above {locks('rw/view/file', 'r+')}, copied up {os.listdir('rw/upper')}")
P
) || { echo 'cannot run: no overlay'; exit 2; }
output=$(echo "$output" | paste -sd ';')
echo "Linux 6.18: with exclusive locks below, flock and fcntl: $output"
[ "$output" = "inode numbers equal True; below refused refused; above granted granted, copied up [];"\
"after a lock and a copy-up above refused granted, copied up ['file']" ]
