#!/usr/bin/env python3
"""Records the picture of the README: screens of the interface in a real session, in one SVG for each theme.

    docs/picture/record.py target/release/agent-bash

Needs tmux, git, make and vim. The SVGs load no other file and contain no script.
"""

import html
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unicodedata

COLUMNS, ROWS = 96, 30
SECONDS_PER_SCREEN = 6
SECONDS_TO_DRAW = 30

# Sizes in units of the SVG: a cell, the margin, and the line of the title.
CELL_WIDTH, CELL_HEIGHT, MARGIN, TITLE = 8, 17, 14, 30

# The background, the text, the title, and the sixteen colours of a terminal.
THEMES = {
    "dark": "#0d1117 #e6edf3 #8b949e #484f58 #ff7b72 #3fb950 #d29922 #58a6ff #bc8cff #39c5cf #b1bac4"
    " #6e7681 #ffa198 #56d364 #e3b341 #79c0ff #d2a8ff #56d4dd #ffffff",
    "light": "#fafafa #24292f #6e7781 #24292f #b3261e #1a7f37 #7d5700 #0550ae #8250df #0b6a75 #57606a"
    " #6e7781 #cf222e #116329 #633c01 #0969da #6639ba #1b7c83 #8c959f",
}

PROJECT = r"""
mkdir -p ~/shop/src ~/shop/legacy && cd ~/shop
printf 'all:\n\t@echo "  compiling src/cart.c"; sleep 0.4; echo "  compiling src/main.c"; sleep 0.3\n' > Makefile
printf '\t@printf "\\033[32m14 tests passed\\033[0m, 0 failed\\n"\n' >> Makefile
printf '# shop\n\nPrices come from the old table in `legacy/`.\n\nmake\n' > README.md
printf 'int total(int a, int b) { return a + b; }\n' > src/cart.c
printf 'int main(void) { return 0; }\n' > src/main.c
printf '9.99\n' > legacy/prices.txt; printf 'see prices.txt\n' > legacy/notes.md
git init -qb main && git config user.name You && git config user.email you@example.com
git add src legacy README.md Makefile && git commit -qm 'A shop'
"""

# Each screen: its title, then what the user types and what the terminal shows after that. A key stands in `<>`.
SESSION = [
    (
        "calls: one that ended, one that was refused, one that left something running",
        [
            ("make<Enter>", "exit 0"),
            ("git add -A && git commit -m wip<Enter>", "Blocked"),
            ("python3 -m http.server --bind 127.0.0.1 8137 & sleep 0.5; echo serving<Enter>", "1 job"),
        ],
    ),
    (
        "a trial: what it would do to files, before anything is done",
        [
            (
                "rm -r legacy && sed -i 's/old table/new one/' README.md && echo 4.99 > src/prices.txt<F3>",
                "held",
            ),
            ("<C-Up>", "esc back"),
            ("<Enter>", "+Prices come from the new one"),
        ],
    ),
    (
        "a program that needs a terminal gets one",
        [("q", "esc back"), ("<Escape>", "❯"), ("vim README.md<Enter>", '"README.md" 5L'), ("G", "All")],
    ),
]


class Terminal:
    """tmux with a shell in a home of its own."""

    def __init__(self, home, program):
        programs = home / "bin"
        programs.mkdir()
        (programs / "agent-bash").symlink_to(program)
        self.environment = {
            "HOME": str(home),
            "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "SHELL": "/bin/bash",
            "AGENT_BASH_STATE_DIR": str(home / "state"),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self.command = ["tmux", "-f", "/dev/null", "-S", str(home / "tmux")]
        self.run(["bash", "-c", PROJECT])
        shell = "PS1='ready> ' exec bash --norc --noprofile"
        self.tmux("new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), shell)

    def run(self, command, check=True):
        pipe = subprocess.PIPE
        return subprocess.run(command, env=self.environment, check=check, stdout=pipe, stderr=pipe, text=True)

    def tmux(self, *words, check=True):
        return self.run([*self.command, *words], check)

    def screen(self):
        return self.tmux("capture-pane", "-p", "-e", "-N").stdout

    def type(self, text):
        for literal, key in re.findall(r"([^<]+(?:<(?![A-Z])[^<]*)*)|<([\w-]+)>", text):
            self.tmux("send-keys", *(["-l", "--", literal] if literal else [key]))

    def wait_for(self, text):
        """Returns the screen once it has had the text for a second, in which the rest is drawn."""
        end = time.monotonic() + SECONDS_TO_DRAW
        found = 0
        while found < 4:
            if time.monotonic() > end:
                sys.exit(f"`{text}` is not shown:\n{screen}")
            time.sleep(0.3)
            screen = self.screen()
            found = found + 1 if text in re.sub("\x1b\\[[0-9;]*m", "", screen) else 0
        return screen

    def wait_for_end(self):
        end = time.monotonic() + SECONDS_TO_DRAW
        while self.tmux("has-session", check=False).returncode == 0:
            if time.monotonic() > end:
                sys.exit("the interface does not quit")
            time.sleep(0.1)


def record(program, theme):
    """Returns the screens of a session, each with its title."""
    with tempfile.TemporaryDirectory() as home:
        terminal = Terminal(pathlib.Path(home), program)
        try:
            terminal.wait_for("ready>")
            terminal.type(f"cd ~/shop && clear && exec agent-bash tui --theme {theme}<Enter>")
            terminal.wait_for("❯")
            screens = []
            for title, steps in SESSION:
                for keys, shown in steps:
                    terminal.type(keys)
                    screen = terminal.wait_for(shown)
                screens.append((title, screen))
            # The server outlives the interface, so that the user ends it.
            ending = [(":q!<Enter>", "❯"), ("<C-g>", "1 running"), ("x", "y ends it"), ("y", "0 running")]
            for keys, shown in ending:
                terminal.type(keys)
                terminal.wait_for(shown)
            terminal.type("q<C-d>")
            terminal.wait_for_end()
            return screens
        finally:
            terminal.tmux("kill-server", check=False)


def colour(codes):
    """Takes the codes of a colour after 38 or 48; returns an index below 16, or a fixed colour."""
    if codes.pop(0) == 2:
        return "#{:02x}{:02x}{:02x}".format(*(codes.pop(0) for _ in range(3)))
    index = codes.pop(0)
    if index < 16:
        return index
    if index >= 232:
        return "#" + f"{8 + (index - 232) * 10:02x}" * 3
    levels = [0, 95, 135, 175, 215, 255]
    red, rest = divmod(index - 16, 36)
    return "#{:02x}{:02x}{:02x}".format(levels[red], *(levels[part] for part in divmod(rest, 6)))


def runs(line, style):
    """Splits a line at its sequences. `style` has the attributes in force, and is changed."""
    for text, sequence in re.findall("([^\x1b]+)|\x1b\\[([0-9;]*)m", line):
        codes = [int(code or 0) for code in sequence.split(";")] if not text else []
        while codes:
            code = codes.pop(0)
            if code == 0:
                style.clear()
            elif code in (38, 48):
                style[code] = colour(codes)
            elif code in (39, 49):
                style.pop(code - 1, None)
            elif 30 <= code <= 37 or 40 <= code <= 47:
                style[code // 10 * 10 + 8] = code % 10
            elif 90 <= code <= 97 or 100 <= code <= 107:
                style[(code - 60) // 10 * 10 + 8] = code % 10 + 8
            elif code in (1, 2, 3, 4, 7):
                style[code] = True
            elif code == 22:
                style.pop(1, None), style.pop(2, None)
            elif code in (23, 24, 27):
                style.pop(code - 20, None)
        if text:
            yield text, dict(style)


def paint(value, attribute):
    if isinstance(value, int):
        return f' class="c{value}"' if attribute == "background" else ""
    return f' fill="{value}"' if attribute == "background" else f' style="fill:{value}"'


def draw_line(line, row, style, background, foreground):
    y = TITLE + row * CELL_HEIGHT
    column = 0
    for text, of_run in runs(line, style):
        width = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text if not unicodedata.combining(c))
        x = MARGIN + column * CELL_WIDTH
        column += width
        ink, paper = of_run.get(38), of_run.get(48)
        if 7 in of_run:
            ink, paper = background if paper is None else paper, foreground if ink is None else ink
        if paper is not None:
            size = f'width="{width * CELL_WIDTH}" height="{CELL_HEIGHT}"'
            yield f'<rect x="{x}" y="{y}" {size}{paint(paper, "background")}/>'
        blanks = len(text) - len(text.lstrip(" "))
        shown = text.strip(" ")
        if not shown:
            continue
        classes = [name for code, name in ((1, "b"), (2, "d"), (3, "i"), (4, "u")) if code in of_run]
        classes += [f"c{ink}"] if isinstance(ink, int) else []
        attributes = f' class="{" ".join(classes)}"' if classes else ""
        attributes += paint(ink, "text") if isinstance(ink, str) else ""
        # A given length holds cells in place in every font.
        length = (width - (len(text) - len(shown))) * CELL_WIDTH
        position = f'x="{x + blanks * CELL_WIDTH}" y="{y + 13}" textLength="{length}"'
        yield f"<text {position}{attributes}>{html.escape(shown, quote=False)}</text>"


def draw(screens, theme):
    background, foreground, title_colour, *sixteen = THEMES[theme].split()
    width, height = COLUMNS * CELL_WIDTH + 2 * MARGIN, ROWS * CELL_HEIGHT + MARGIN + TITLE
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
        ' aria-label="a session in the terminal">\n<style>'
    )
    yield (
        "text { font: 13.3px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre;"
        f" fill: {foreground} }}\n.t {{ fill: {title_colour}; font-family: system-ui, sans-serif }}\n"
        ".b { font-weight: 600 } .i { font-style: italic } .d { opacity: .62 } .u { text-decoration: underline }"
    )
    for index, value in enumerate(sixteen):
        yield f".c{index} {{ fill: {value} }}"
    yield (
        f".s {{ opacity: 0; animation: s {len(screens) * SECONDS_PER_SCREEN}s step-end infinite }}\n"
        f"@keyframes s {{ 0% {{ opacity: 1 }} {100 // len(screens)}% {{ opacity: 0 }} }}"
    )
    for index in range(len(screens)):
        yield f".s{index} {{ animation-delay: {index * SECONDS_PER_SCREEN}s }}"
    yield (
        "@media (prefers-reduced-motion: reduce) { .s { animation: none } .s0 { opacity: 1 } }\n</style>\n"
        f'<rect width="{width}" height="{height}" rx="8" fill="{background}"/>'
    )
    for index, (title, screen) in enumerate(screens):
        yield f'<g class="s s{index}">\n<text class="t" x="{MARGIN}" y="20">{html.escape(title)}</text>'
        style = {}
        lines = screen.split("\n")[:ROWS]
        yield from itertools.chain.from_iterable(
            draw_line(line, row, style, background, foreground) for row, line in enumerate(lines)
        )
        yield "</g>"
    yield "</svg>"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = pathlib.Path(sys.argv[1]).resolve(strict=True)
    for theme in THEMES:
        picture = pathlib.Path(__file__).with_name(f"{theme}.svg")
        picture.write_text("\n".join(draw(record(program, theme), theme)) + "\n", encoding="utf-8")


main()
