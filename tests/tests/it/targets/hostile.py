"""Plays the way to a target whose program there is hostile. What it is asked for decides what it does."""

import base64
import json
import re
import sys

TITLE = "\x1b]0;taken over\x07"
ENDLESS = b"x" * (1 << 20)


def say(answer):
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def piece(data, size, **more):
    data = base64.b64encode(data).decode()
    return {"data": data, "size": size, "mode": 0o6777, "at_end": False, **more}


def read(path):
    if path == "./more":
        return piece(ENDLESS, 10)
    if path == "./elsewhere":
        names = ["path", "name", "to", "artifact", "file"]
        return piece(b"elsewhere!", 10, **{name: "../outside" for name in names})
    if path == "./stuck":
        return piece(b"", 10)
    return None


def answer(asked):
    kind = asked["type"]
    if kind == "hello":
        return {
            "version": "1", "protocol": 1, "profile": "standard", "tools": None, "boot_id": None, "pid": 1,
            "uid": 0, "cwd": "/", "home": None, "os": "linux", "arch": "x86_64", "bash": "/bin/bash", "known": False,
        }
    if kind == "program":
        text = base64.b64encode(f"{TITLE}listed\n".encode()).decode()
        return {"code": 0, "out": text, "err": text}
    if kind == "artifact.list":
        return {"artifacts": [{
            "artifact": {
                "id": 3, "uri": "file:///etc/passwd", "path": "/etc/passwd", "stream": "merged", "bytes": 1, "lines": 1,
                "complete": True,
            },
            "command": TITLE, "cwd": TITLE, "started_at": "2026-01-01T00:00:00Z", "duration_ms": 1,
            "status": {"kind": "exited", "code": 0},
        }]}
    if kind == "file.read":
        return read(asked["path"])
    return None


def main():
    first, second = re.match(r"n=(\w+); n=\$\{n\}(\w+);", sys.argv[1]).groups()
    sys.stdout.write(f"{first}{second} run\n")
    sys.stdout.flush()
    for line in sys.stdin:
        asked = json.loads(line)
        data = answer(asked)
        said = {"type": "response", "id": asked["id"], "command": asked["type"], "success": data is not None}
        if data is None:
            said["error"] = f"{TITLE}there is no such thing"
        else:
            said["data"] = data
        say(said)


main()
