#!/usr/bin/env bash
# pyte 0.8.2 (PyPI): modes for the keyboard underline all text, or are on the screen as letters.
#
# Expected: a terminal ignores a private sequence that it does not know; its marker (`<`, `>`, `=`)
# is there for that. Seen: pyte drops the marker `>`: by `CSI > 4 ; 2 m` vim asks for modified keys,
# and pyte reads "4;2", underlined, for all text from then on. With another marker the rest is text:
# `CSI < u`, with which neovim and fish leave kitty's keyboard protocol, is a "u" on the screen.
# Queries in a DCS or APC string are printed, too.
#
# For agent-bash: sequences with a marker are no attributes and no text.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'pyte==0.8.2 wcwidth==0.9.4' <<'P'
import pyte
for sequence in ("\x1b[>4;2m", "\x1b[=1;1u", "\x1b[<u", "\x1bP+q544e\x1b\\", "\x1b_Gi=1,a=q;AAAA\x1b\\"):
    screen = pyte.Screen(40, 1)
    pyte.Stream(screen).feed(sequence + "text")
    print(screen.display[0].rstrip(), "underlined" if screen.buffer[0][3].underscore else "plain")
P
) || exit 2
output=$(echo "$output" | paste -sd ';')
echo "pyte 0.8.2: 'text' after two modes, a third, a DCS and an APC: $output"
[ "$output" = 'text underlined;1;1utext plain;utext plain;+q544etext plain;Gi=1,a=q;AAAAtext plain' ]
