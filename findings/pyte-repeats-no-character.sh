#!/usr/bin/env bash
# pyte 0.8.2 (PyPI): in the locale POSIX, a line of 30 equals signs is one.
#
# Expected: what a program of ncurses draws for `xterm-256color` is the same on the emulated
# screen, as far as its modes and colours are known. Seen: pyte ignores REP (`CSI n b`), which
# repeats the last character. ncurses uses it for a run of equal characters, if the locale is not
# UTF-8, as in a container without LANG: a rule of 30 `=` is one `=`, "Name....end" is "Name.end",
# and what follows on the line is in other columns. With C.UTF-8 the same program is drawn in full,
# so a developer's machine does not show it.
#
# For agent-bash: the screen has repeated characters.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'pyte==0.8.2 wcwidth==0.9.4' <<'P'
import os, pty, pyte
program = """
import curses
def main(window):
    window.addstr(0, 0, "Name" + "." * 20 + "end")
    window.addstr(1, 0, "=" * 30)
    window.refresh()
    window.getch()
curses.wrapper(main)
"""
for locale in ("C.UTF-8", "POSIX"):
    process, terminal = pty.fork()
    if process == 0:
        os.execvpe("python3", ["python3", "-c", program], {
            "PATH": os.environ["PATH"], "TERM": "xterm-256color", "LINES": "4", "COLUMNS": "40", "LC_ALL": locale,
            "PYTHONCOERCECLOCALE": "0"})
    screen = pyte.Screen(40, 4)
    stream = pyte.ByteStream(screen)
    while screen.cursor.y != 1:
        stream.feed(os.read(terminal, 1))
    while not screen.display[1].strip():
        stream.feed(os.read(terminal, 1))
    # The rest of the second line.
    os.write(terminal, b"q")
    output = b""
    try:
        while part := os.read(terminal, 4096):
            output += part
    except OSError:
        pass
    stream.feed(output.split(b"\x1b[?")[0])
    print(locale, *(line.strip() for line in screen.display[:2]))
    os.waitpid(process, 0)
P
) || exit 2
output=$(echo "$output" | paste -sd ';')
echo "pyte 0.8.2: $output"
[ "$output" = 'C.UTF-8 Name....................end ==============================;POSIX Name.end =' ]
