#!/usr/bin/env bash
# ACP for Python 0.12.1 (PyPI, agent-client-protocol): a stream ends if a chunk ends within a character.
#
# Expected: the HTTP client reads a stream of UTF-8 however the network cuts it. Seen: each chunk is
# decoded on its own. A chunk that ends between the two bytes of "é" ends the stream: its message and
# all later ones are lost, and the connection looks as if the server had closed it. The SDK's own
# server sends "\u00e9", and never meets this; those in TypeScript and Rust send the character.
#
# For agent-bash: a character that is cut waits for its other bytes.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'agent-client-protocol[http]==0.12.1' <<'P'
import asyncio, http.server, json, logging, threading
from acp.http import create_http_stream
logging.disable()
class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    cut = 0
    def log_message(self, *_):
        pass
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.answer("application/json", [b'{"jsonrpc": "2.0", "id": 1, "result": {}}'])
    def do_DELETE(self):
        self.answer("application/json", [b"{}"])
    def do_GET(self):
        message = {"jsonrpc": "2.0", "method": "note", "params": {"text": "é"}}
        event = f"data: {json.dumps(message, ensure_ascii=False)}\n\n".encode()
        at = event.index("é".encode()) + self.cut
        self.answer("text/event-stream", [event[:at], event[at:]])
    def answer(self, kind, chunks):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("acp-connection-id", "1")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for chunk in [*chunks, b""]:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
async def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for Server.cut in (0, 1):
        stream = create_http_stream(f"http://127.0.0.1:{server.server_port}/")
        await stream.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
        await stream.receive()
        message = await asyncio.wait_for(stream.receive(), 20)
        print("end" if message is None else message["params"]["text"])
        await stream.close()
asyncio.run(main())
P
) || exit 2
output=$(echo "$output" | paste -sd ' ')
echo "ACP for Python 0.12.1: a message whose chunks are cut before the character, and within it: $output"
[ "$output" = 'é end' ]
