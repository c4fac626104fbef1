"""A server of the Model Context Protocol without dependencies, with a tool `run`.

A result has two lines: "line one", then the command and which call of this process it is. If the
command begins with "false", the result is an error. Each start appends a line to $STARTS, if set.
"""
import json, os, sys

if "STARTS" in os.environ:
    with open(os.environ["STARTS"], "a") as file:
        file.write(f"{os.getpid()}\n")
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
calls = 0
for line in sys.stdin:
    message = json.loads(line)
    method, parameters = message.get("method"), message.get("params", {})
    if "id" not in message:
        continue
    answer = {"error": {"code": -32601, "message": "Method not found"}}
    if method == "initialize":
        answer = {"result": {"protocolVersion": parameters["protocolVersion"], "capabilities": {"tools": {}},
                             "serverInfo": {"name": "finding", "version": "1"}}}
    elif method == "tools/list":
        answer = {"result": {"tools": [{"name": "run", "description": "Runs a command.", "inputSchema": SCHEMA}]}}
    elif method == "tools/call":
        calls += 1
        command = parameters["arguments"]["command"]
        text = f"line one\n{command}, call {calls}"
        answer = {"result": {"content": [{"type": "text", "text": text}], "isError": command.startswith("false")}}
    elif method == "ping":
        answer = {"result": {}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
