#!/usr/bin/env bash
# Claude Code 2.1.332 (npm): tokens that are summed over a transcript are several times the real
# ones.
#
# Expected: each assistant line of a transcript (~/.claude/projects/.../ID.jsonl) is one answer of
# the model, with its own `usage`. Seen: an answer is written as one line for each of its blocks,
# a text and each tool call, and every line repeats the `usage` of the whole answer. A sum over
# the lines counts an answer with a text and two calls three times. Only `message.id` tells that
# they are one; the totals that the agent prints itself are right.
#
# For agent-bash: no transcript of an agent is read; the own record has each call once.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @anthropic-ai/claude-code@2.1.332
# The stand-in of the other findings answers with one block; this one with a text and two calls,
# then with a text.
cat > "$work/model.py" <<'P'
import http.server, json, os, sys, threading
class Model(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        calls = [] if b'"tool_result"' in body or not json.loads(body).get("tools") else ["true", "false"]
        events = [{"type": "message_start", "message": {
            "id": f"msg_{len(calls)}", "type": "message", "role": "assistant", "model": "stand-in", "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1000, "output_tokens": 1}}}]
        blocks = [({"type": "text", "text": ""}, {"type": "text_delta", "text": "text"})]
        for number, command in enumerate(calls):
            blocks.append(({"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {}},
                           {"type": "input_json_delta", "partial_json": json.dumps({"command": command})}))
        for index, (block, delta) in enumerate(blocks):
            events += [{"type": "content_block_start", "index": index, "content_block": block},
                       {"type": "content_block_delta", "index": index, "delta": delta},
                       {"type": "content_block_stop", "index": index}]
        events += [{"type": "message_delta", "delta": {"stop_reason": "tool_use" if calls else "end_turn",
                    "stop_sequence": None}, "usage": {"output_tokens": 50}}, {"type": "message_stop"}]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write("".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode())
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Timer(180, os._exit, [1]).start()
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(server.server_address[1]))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
P
python3 "$work/model.py" "$work/port" &
model_pid=$!
for _ in {1..100}; do [ -e "$work/port" ] && break; sleep 0.1; done
in_clean_environment ANTHROPIC_BASE_URL="http://127.0.0.1:$(cat "$work/port")" ANTHROPIC_API_KEY=none IS_SANDBOX=1 \
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 \
    "$work"/node_modules/@anthropic-ai/claude-code-linux-x64/claude -p 'go on' --output-format json \
    --dangerously-skip-permissions --strict-mcp-config || cannot_run "$(tail -n 1 "$work/log")"
output=$(python3 - "$work/log" "$work"/home/.claude/projects/*/*.jsonl <<'P'
import json, sys
with open(sys.argv[1]) as file:
    total = json.loads(file.read().splitlines()[-1])["usage"]["input_tokens"]
with open(sys.argv[2]) as file:
    answers = [line["message"] for line in map(json.loads, file) if line["type"] == "assistant"]
print(f"the agent counts {total}, the lines {sum(answer['usage']['input_tokens'] for answer in answers)}, "
      f"{len(answers)} lines of {len({answer['id'] for answer in answers})} answers")
P
)
echo "Claude Code 2.1.332: input tokens of two answers of 1000: $output"
[ "$output" = 'the agent counts 2000, the lines 4000, 4 lines of 2 answers' ]
