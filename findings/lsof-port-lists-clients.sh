#!/usr/bin/env bash
# lsof 4.95.0 (Debian 12): `kill $(lsof -ti :PORT)` ends the clients of a server with the server.
#
# Expected: `lsof -i :3000` lists the process that has the port, so the usual command to free a port
# ends a forgotten server. Seen: the port matches at both ends of a connection. Each process that is
# connected to the server is listed: the browser with the page open, a proxy, a test runner, the
# editor or agent that talks to the server. `-sTCP:LISTEN` lists the server alone.
#
# For agent-bash: rules compare the pattern of such a command with its own processes, not with their
# connections; `jobs kill` ends a server by its job.
set -eu
version=$(lsof -v 2>&1 | sed -n 's/^ *revision: //p')
[ "$version" = 4.95.0 ] || { echo "cannot run: lsof ${version:-is missing}, not 4.95.0"; exit 2; }
work=$(mktemp -d)
server='' client=''
trap 'kill $server $client 2> /dev/null || true; rm -rf "$work"' EXIT
until_exists() { for _ in {1..100}; do [ -e "$1" ] && return; sleep 0.1; done; echo "cannot run: no $1"; exit 2; }
python3 - "$work" <<'P' &
import os, socket, sys, time
server = socket.create_server(("127.0.0.1", 0))
with open(f"{sys.argv[1]}/new", "w") as file:
    file.write(str(server.getsockname()[1]))
os.rename(f"{sys.argv[1]}/new", f"{sys.argv[1]}/port")
connection = server.accept()
open(f"{sys.argv[1]}/accepted", "w").close()
time.sleep(60)
P
server=$!
until_exists "$work/port"
port=$(cat "$work/port")
bash -c 'exec 3<> "/dev/tcp/127.0.0.1/$0"; exec sleep 60' "$port" &
client=$!
until_exists "$work/accepted"
names() { sed "s/^$server\$/server/; s/^$client\$/client/" | sort | paste -sd ' '; }
listed=$(lsof -ti ":$port" | names)
listening=$(lsof -ti ":$port" -sTCP:LISTEN | names)
echo "lsof 4.95.0: processes of a port: $listed; with -sTCP:LISTEN: $listening"
[ "$listed/$listening" = 'client server/server' ]
