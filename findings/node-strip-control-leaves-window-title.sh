#!/usr/bin/env bash
# Node 20.20.2: `util.stripVTControlCharacters` leaves a window title with a blank in the text.
#
# Expected: the text without terminal sequences. Seen: of `ESC ] 0 ; my project BEL`, which shells
# and build tools print for the window's title, "y project" and the BEL stay; the title `make` goes.
# Titles are matched as words of a path or an address, so everything else ends the match, and the
# first letter counts as the end of a sequence. Of the colon form of SGR, `ESC [ 4 : 3 m` for a
# curly underline, ":3m" stays.
#
# For agent-bash: a parser with states cleans output: OSC and DCS end at BEL or ST, whatever they
# hold.
set -eu
[ "$(node --version 2> /dev/null)" = v20.20.2 ] || { echo "cannot run: node is not 20.20.2"; exit 2; }
output=$(node -e '
const { stripVTControlCharacters } = require("node:util");
const texts = ["\x1b]0;make\x07word", "\x1b]0;my project\x07word", "\x1b[4mword\x1b[0m", "\x1b[4:3mword\x1b[0m"];
console.log(JSON.stringify(texts.map(stripVTControlCharacters)));')
echo "Node 20.20.2: two titles, two underlines, each before 'word': $output"
[ "$output" = '["word","y project\u0007word","word",":3mword"]' ]
