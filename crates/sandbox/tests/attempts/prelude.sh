# What the texts of the table may call. Read by the attempt's shell and by the shells that prepare and judge it.

# As root, or as the root of a namespace of its own.
as_admin() { "$@" 2> /dev/null || unshare -Urm "$@"; }

# Until FILE is there, for at most forty seconds, or a number of SECONDS.
await() {
    local left=$((${2:-40} * 50))
    until test -e "$1" || test $((left--)) = 0; do sleep 0.02; done
    test -e "$1"
}

# The same until FILE has a text, which a process writes after it has made the file.
await_text() {
    local left=$((${2:-40} * 50))
    until test -s "$1" || test $((left--)) = 0; do sleep 0.02; done
    test -s "$1"
}

# The same until one of two files has a text.
await_any() {
    local left=2000
    until test -s "$1" || test -s "$2" || test $((left--)) = 0; do sleep 0.02; done
}

# Until the last process in the background has written to FILE, or has ended.
await_start() { until test -s "$1" || ! kill -0 $! 2> /dev/null; do sleep 0.02; done; }

# Until the process outside has made FILE, or the last one in the background has ended.
await_or_end() { until test -e "$1" || ! kill -0 $! 2> /dev/null; do sleep 0.02; done; }

# As the user that the attempt is made by.
as_user() {
    if test "$(id -u)" = "$USER_ID"; then "$@"; else setpriv --reuid="$USER_ID" --regid="$USER_ID" --clear-groups "$@"; fi
}

# A process that a call has left running, and a server on loopback; without sockets that is only a process, too.
remain() {
    exec bash -c 'trap "" HUP; echo $$ > "$WS/earlier"; touch "$WS/ready"; sleep 60; :'
}
serve() {
    echo $$ > "$WS/earlier"
    /usr/bin/python3 -c '
import socket, sys
server = socket.create_server(("127.0.0.1", 8123))
open(sys.argv[1], "w").close()
while True:
    client = server.accept()[0]
    open(sys.argv[2], "w").close()
    client.sendall(b"answered\n")
    client.close()' "$WS/ready" "$WS/reached" 2> /dev/null || { touch "$WS/ready"; sleep 60; }
}
earlier() { await "$WS/ready" && cat "$WS/earlier"; }

# Sends the words to the proxy of the box, by printf, and prints the answer.
to_proxy() {
    exec 5<> /dev/tcp/127.0.0.1/31280
    local word
    for word; do printf "$word" >&5; done
    timeout 20 cat <&5
}
# The port's two bytes, for printf.
port_bytes() { printf '\\x%02x\\x%02x' $(($1 >> 8)) $(($1 & 255)); }

# What an attempt did, seen from outside.
changed() { grep -qs "${2:-changed}" "$1"; }
empty() { test -e "$1" && test ! -s "$1"; }
missing() { test ! -e "$1"; }
seen() { test -s "$SEEN/$1"; }
printed() { grep -qsF "$1" "$SEEN/output"; }
# Whether two namespaces of one KIND were printed.
printed_others() { test "$(grep -s "^$1:" "$SEEN/output" | sort -u | wc -l)" = 2; }
gone() { test ! -e "/proc/$1/status" || state "$1" Z; }
state() { grep -q "^State:.$2" "/proc/$1/status"; }
attribute() { attacker has-attribute "$1"; }
# Until the attempt has printed the text, or has ended.
await_output() {
    until grep -qs "$1" "$SEEN/output" || test -e "$SEEN/over"; do sleep 0.02; done
}

# Git as the user who owns the workspace.
in_git() { git -C "$WS" -c safe.directory='*' "$@"; }
