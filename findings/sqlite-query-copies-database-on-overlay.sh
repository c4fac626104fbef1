#!/usr/bin/env bash
# SQLite 3 on overlayfs (Linux 6.18): a SELECT copies the whole database into the upper layer.
#
# Expected: a query reads; `ls`, `cat` and `grep` leave an overlay's upper layer empty. Seen:
# SQLite opens a database for writing, unless told otherwise, and overlayfs copies a file when it
# is opened for writing, not when it is written. So one `SELECT` in a container, or in an agent's
# view of a project, costs the time and disk space of the whole file, and the file there no longer
# follows the one below. The URI `file:NAME?mode=ro` reads without a copy.
#
# For agent-bash: a trial of such a query lists no change, and needs as much space as the
# database.
set -eu
case $(uname -r) in 6.18.*) ;; *) echo "cannot run: Linux $(uname -r), not 6.18"; exit 2 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir lower upper layers view
python3 - <<'P'
import sqlite3
base = sqlite3.connect("lower/data")
base.execute("create table lines (line)")
base.executemany("insert into lines values (?)", [("x" * 1000,)] * 8000)
base.commit()
P
echo text > lower/text
cat > query.py <<'P'
import os, sqlite3, sys
counts = []
for name in ("file:view/data?mode=ro", "file:view/data"):
    base = sqlite3.connect(name, uri=True)
    counts.append((base.execute("select count(*) from lines").fetchone()[0], "copied" if os.path.exists("upper/data") else "not copied"))
    base.close()
print(f"by mode=ro {counts[0]}, by default {counts[1]}")
P
output=$(unshare --user --map-root-user --mount sh -c 'mount -t overlay overlay -o \
    lowerdir=lower,upperdir=upper,workdir=layers,userxattr view && cat view/text > /dev/null && python3 query.py' 2> log) \
    || { echo "cannot run: $(tail -n 1 log)"; exit 2; }
output+=", size as below: $(cmp -s lower/data upper/data && echo yes || echo no), other files: $(find upper -type f -not -name data | wc -l)"
echo "SQLite on overlayfs, lines counted by a query: $output"
[ "$output" = "by mode=ro (8000, 'not copied'), by default (8000, 'copied'), size as below: yes, other files: 0" ]
