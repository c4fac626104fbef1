#!/usr/bin/env bash
# Linux 6.18, overlayfs: a socket file of a running server refuses, and a FIFO has no reader.
#
# Expected: a socket file and a FIFO are names for what the kernel has once: through a bind mount
# of the directory, a client reaches the server that listens there. An overlay of the directory
# shows both files with the inode numbers of the lower ones. Seen: through the overlay, `connect`
# is refused, and a FIFO is another pipe: opening it for writing finds no reader (ENXIO), or waits
# for one. Nothing was changed or copied up. A server's socket within a project (of gpg-agent, a
# debugger, a database in a test directory) looks like that of a crashed server. Programs that
# replace the socket of a crashed server remove it and start another server.
#
# For agent-bash: a command in a trial cannot reach a server outside by a socket within the tree.
set -eu
case $(uname -r) in 6.18.*) ;; *) echo "cannot run: Linux $(uname -r), not 6.18"; exit 2 ;; esac
unshare -m true 2> /dev/null || { echo 'cannot run: mounts need root'; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
output=$(cd "$work" && unshare -m python3 - <<'P'
import errno, os, socket, subprocess, sys
for name in ("lower", "bound", "rw"):
    os.mkdir(name)
os.mkfifo("lower/fifo")
server = socket.socket(socket.AF_UNIX)
server.bind("lower/socket")
server.listen()
reader = os.open("lower/fifo", os.O_RDONLY | os.O_NONBLOCK)
mounted = subprocess.run("""mount --bind lower bound && mount -t tmpfs none rw && mkdir rw/upper rw/work rw/view &&
    mount -t overlay none -o lowerdir=lower,upperdir=rw/upper,workdir=rw/work rw/view""", shell=True)
if mounted.returncode:
    sys.exit(2)
def outcome(action):
    try:
        action()
        return "works"
    except OSError as error:
        return errno.errorcode[error.errno]
def connect(path):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
def write(path):
    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
inode = lambda path: os.stat(path).st_ino
print("; ".join(f"{name} socket {outcome(lambda: connect(path + '/socket'))}, FIFO {outcome(lambda: write(path + '/fifo'))}"
                for name, path in (("bind mount", "bound"), ("overlay", "rw/view"))))
print("inode numbers equal", inode("lower/socket") == inode("rw/view/socket"), "copied up", os.listdir("rw/upper"))
P
) || { echo 'cannot run: no overlay'; exit 2; }
output=$(echo "$output" | paste -sd ';')
echo "Linux 6.18: $output"
[ "$output" = 'bind mount socket works, FIFO works;'\
' overlay socket ECONNREFUSED, FIFO ENXIO;inode numbers equal True copied up []' ]
