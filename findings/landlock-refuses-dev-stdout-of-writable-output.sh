#!/usr/bin/env bash
# Linux 6.18, Landlock: a command that can print cannot write to /dev/stdout if its output is a file.
#
# Expected: Landlock leaves open descriptors alone, so `echo text` and `echo text > /dev/stdout` both
# work, in whatever file the output of the sandbox ends. Seen: the second opens the file behind the
# descriptor, by the file's real path, and fails with "Permission denied" if that path is not among
# the allowed ones. `tee /dev/stderr` fails alike. By a pipe the same command works, without a rule
# for it: an author who reads the output by pipes sees no fault, and a user who writes `sandbox make
# > log` does.
#
# For agent-bash: `run` gives commands pipes, so both work; with `shell` and `sandbox run`, commands
# have the caller's outputs, and an agent such as Claude Code passes a file.
set -eu
case $(uname -r) in 6.18.*) ;; *) echo "cannot run: Linux $(uname -r), not 6.18"; exit 2 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/allowed"
# Runs a command that may write and truncate files below a directory only.
cat > "$work/confine.py" <<'P'
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
CREATE, ADD, RESTRICT, PATH_BENEATH, NO_NEW_PRIVS = 444, 445, 446, 1, 38
rights = 1 << 1 | 1 << 14
def call(*arguments):
    value = libc.syscall(*arguments)
    if value < 0:
        sys.exit(f"cannot run: {os.strerror(ctypes.get_errno())}")
    return value
ruleset = call(CREATE, struct.pack("QQQ", rights, 0, 0), 24, 0)
directory = os.open(sys.argv[1], os.O_PATH)
call(ADD, ruleset, PATH_BENEATH, struct.pack("=Qi", rights, directory), 0)
libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0)
call(RESTRICT, ruleset, 0)
os.execvp(sys.argv[2], sys.argv[2:])
P
confined() { python3 "$work/confine.py" "$work/allowed" bash -c "$1" 2> "$work/error" || true; }
script='echo one; echo two >> /dev/stdout; echo three | tee -a /dev/stdout'
confined "$script" >> "$work/log"
error=$(sed 's/^bash: line 1: //' "$work/error" | paste -sd ';')
confined "$script" >> "$work/allowed/log"
by_file=$(paste -sd ' ' "$work/log")
allowed=$(paste -sd ' ' "$work/allowed/log")
by_pipe=$(confined "$script" | paste -sd ' ')
echo "Linux 6.18: output in a file: $by_file ($error); in an allowed file: $allowed; by a pipe: $by_pipe"
[ "$by_file/$allowed/$by_pipe" = 'one three/one two three three/one two three three' ]
