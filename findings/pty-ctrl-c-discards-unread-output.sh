#!/usr/bin/env bash
# Linux 6.18: Ctrl-C written to a terminal discards output that is not read yet.
#
# Expected: output that a program has written to its terminal arrives, as by a pipe; Ctrl-C only
# sends SIGINT. Seen: with the signal, the kernel empties the queues of the terminal (the flag
# NOFLSH is off by default), and also the queue towards the reader of a pseudo-terminal. Of 8,000
# bytes printed before, the reader gets the first 4,095 and what follows the interrupt, in one
# piece. `kill -INT` of the same process loses nothing; nor does Ctrl-C after `stty noflsh`.
#
# For agent-bash: a command on a terminal can lose its last output by the Ctrl-C of a user; `jobs
# kill` loses none.
set -eu
case $(uname -r) in 6.18.*) ;; *) echo "cannot run: Linux $(uname -r), not 6.18"; exit 2 ;; esac
output=$(python3 - <<'P'
import os, pty, signal, termios, time
def received(interrupt, keep):
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, lambda *_: (os.write(1, b"interrupted"), os._exit(0)))
        if keep:
            attributes = termios.tcgetattr(0)
            attributes[3] |= termios.NOFLSH
            termios.tcsetattr(0, termios.TCSANOW, attributes)
        for _ in range(80):
            os.write(1, b"x" * 100)
        time.sleep(10)
        os._exit(1)
    time.sleep(0.5)
    interrupt(pid, terminal)
    output = b""
    try:
        while chunk := os.read(terminal, 65536):
            output += chunk
    except OSError:
        pass
    os.waitpid(pid, 0)
    return output.count(b"x")
ctrl_c = lambda _, terminal: os.write(terminal, b"\x03")
print(received(ctrl_c, False) < 5000, received(lambda pid, _: os.kill(pid, signal.SIGINT), False) == 8000,
      received(ctrl_c, True) == 8000)
P
)
echo "Linux 6.18: output lost by Ctrl-C: ${output%% *}; all of it after kill -INT, and by noflsh: ${output#* }"
[ "$output" = 'True True True' ]
