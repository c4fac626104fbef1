#!/usr/bin/env bash
# pyte 0.8.2 (PyPI, with wcwidth 0.9.4): the text after an emoji such as "❤️" is not on the screen.
#
# Expected: a character without a width is added to the one before it, or ignored, and the text after
# it is drawn. Seen: where pyte cannot add it to a letter, it stops drawing: "ok ❤️ 12 passed" is
# "ok ❤". All that was written in one piece up to the next control character is lost. The same
# happens after a zero width space, and after ENQ. `pyte.Screen` reports nothing.
#
# For agent-bash: the screen has the text after such a character.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'pyte==0.8.2 wcwidth==0.9.4' <<'P'
import pyte
for text in ("ok \u2764\ufe0f 12 passed", "ok \u2764 12 passed", "a\u200bb", "e\u0301b"):
    screen = pyte.Screen(20, 1)
    pyte.Stream(screen).feed(text)
    print(ascii(screen.display[0].rstrip()))
P
) || exit 2
output=$(echo "$output" | paste -sd ' ')
echo "pyte 0.8.2: a heart with U+FE0F and text, without, a zero width space, a combining accent: $output"
[ "$output" = "'ok \\u2764' 'ok \\u2764 12 passed' 'a' '\\xe9b'" ]
