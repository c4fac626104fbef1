"""A plain Python script against `agent-bash rpc`. Started by tests/tests/clients, in a world of its own.

Argument: the directory of the JSON Schemas. Where `jsonschema` can be imported, every message of both sides is held against
them. Exits 0 if all is as it should be.
"""

import json
import os
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    jsonschema = None


def schema(name):
    with open(os.path.join(sys.argv[1], name)) as file:
        return json.load(file)


def validator(whole, part=None):
    if jsonschema is None:
        return None
    chosen = whole if part is None else {"$defs": whole["$defs"], **whole["properties"][part]}
    return jsonschema.Draft202012Validator(chosen)


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def hold(message, by):
    if by is not None:
        by.validate(message)


requests = validator(schema("rpc_request.schema.json"))
responses = validator(schema("rpc_response.schema.json"))
updates = validator(schema("rpc_update.schema.json"))
data_schema = schema("rpc_data.schema.json")
server = subprocess.Popen(
    ["agent-bash", "rpc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
)
last = 0


def send(type, **fields):
    global last
    last += 1
    request = {"id": last, "type": type, **fields}
    hold(request, requests)
    server.stdin.write(json.dumps(request) + "\n")
    return last


def read():
    message = json.loads(server.stdout.readline())
    if message["type"] == "update":
        hold(message, updates)
        return message
    hold(message, responses)
    if message["success"] and "data" in message:
        hold(message["data"], validator(data_schema, message["command"]))
    return message


def ask(type, **fields):
    id = send(type, **fields)
    while True:
        message = read()
        if message.get("id") == id and message["type"] == "response":
            check(message["success"], message)
            return message.get("data")


check(ask("ping")["version"], "a version")
check(ask("schema")["name"] == "bash", "the tool")
check(ask("check", command="rm -rf /")["verdict"] == "block", "a refusal")
check(ask("check", command="ls")["verdict"] == "allow", "no refusal")

result = ask("tool_call", request={"command": "echo a; exit 3"})
check(result["status"] == {"kind": "exited", "code": 3} and result["is_error"], result)
result = ask("tool_call", request="sleep 1000 & echo $!")
check(result["survivors"][0]["job"], result)
ask("jobs.kill", job=result["survivors"][0]["job"], grace=0.1)

for stream in (True, "snapshot", "delta"):
    id = send("tool_call", request="echo one; sleep 0.2; echo two", stream=stream)
    seen = []
    while (message := read())["type"] == "update":
        seen.append(message)
    check(seen and message["id"] == id, message)
    text = seen[-1].get("text") or "".join(update["delta"] for update in seen)
    check(text == "one\ntwo\n", seen)

data = ask("bash", command="cd /; seq 30000")
check(data["truncated"] and data["exitCode"] == 0, data)
check(ask("bash", command="pwd", exclude_from_context=True)["output"] == "/\n", "the same shell")
check(ask("abort_bash") is None, "no data")
check(ask("cancel", target="unknown") == {"cancelled": False}, "unknown target")
ask("session.begin_turn")
ask("bash", command="false")
check(len(ask("session.messages")["messages"]) == 2, "held back")
check(ask("session.end_turn")["messages"][0]["exit_code"] == 1, "held back")

kept = [one for one in ask("artifact.list")["artifacts"] if "seq" in one["command"]]
artifact = kept[0]["artifact"]["uri"]
check(ask("artifact.show", artifact=artifact, offset=100, limit=1)["text"] == "100\n", artifact)
check(ask("artifact.show", artifact=artifact, tail=1)["text"] == "30000\n", artifact)
check(ask("artifact.grep", artifact=artifact, pattern="^77$")["total_matches"] == 1, artifact)

ask("tool_call", request={"command": "cd /usr", "session": "s"})
check(any(shell["name"] == "s" for shell in ask("session.list")["sessions"]), "listed")
check(ask("session.reset", session="s")["reset"], "reset")

started = ask("tool_call", request={"command": "cat; exit 5", "mode": "background", "stdin": "pipe"})
job = started["status"]["job"]
ask("jobs.input", job=job, text="fed\n", close=True)
check(ask("jobs.wait", job=job, timeout="1m")["over"], "over")
check(ask("jobs.output", job=job)["text"].startswith("fed\n"), "fed")
check(ask("jobs.show", job=job)["state"]["ending"] == {"kind": "exited", "code": 5}, "shown")
check(len(ask("jobs.list")["jobs"]) == 2, "listed")

server.stdin.write("no JSON\n")
refusal = read()
check(refusal["success"] is False and "id" not in refusal, refusal)
ids = {send("tool_call", request=f"echo {i}") for i in range(20)}
while ids:
    ids.remove(read()["id"])
server.stdin.close()
check(server.stdout.read() == "" and server.wait() == 0, "the end")
print("schemas:", "held" if jsonschema else "not looked at")
