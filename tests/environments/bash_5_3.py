"""Compares scripts in the new forms of bash 5.3 (bash-5.3.txt) with a real bash 5.3.

    python3 bash_5_3.py AGENT_BASH DIRECTORY

Each script runs in that bash, in an isolated call and in a session, with equal text and exit code.
No script is refused. `probe` is a program that marks that it ran; if bash runs it, a script with
`git push --force` in its place is refused. Such a script is checked, and never runs.

Debian's packages of bash 5.3 are unpacked below DIRECTORY. Without them the program says so and
exits with 0.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PATIENCE = 20
DANGEROUS = "git push --force"
# At the end of the names of scripts whose traps or exits a session, which goes on, does not have.
ENDS_SHELL = "(ends the shell)"

# Programs of a later Debian need its C library beside them; the interpreter and the search path of
# the copy name it.
INSTALL = r"""
set -eu
. "$1"
sid bash libc6 libtinfo6 patchelf libstdc++6 libgcc-s1
rm -r sid
lib=$PWD/debian/usr/lib/$(uname -m)-linux-gnu
loader=$(find "$lib" -name 'ld-linux*' | head -n 1)
cp debian/usr/bin/bash bash
"$loader" --library-path "$lib" debian/usr/bin/patchelf --set-interpreter "$loader" --force-rpath --set-rpath "$lib" bash
"""


def install(directory):
    """Returns the path of bash 5.3 and its version; without one, `None` and the reason."""
    directory.mkdir(parents=True, exist_ok=True)
    bash = directory / "bash"
    if not bash.exists():
        try:
            done = subprocess.run(
                ["bash", "-c", INSTALL, "bash", Path(__file__).parent.resolve() / "sid.sh"],
                cwd=directory, capture_output=True, text=True, timeout=600,
            )
        except subprocess.TimeoutExpired:
            return None, "the installation takes too long"
        if done.returncode:
            return None, (done.stderr.strip().splitlines() or ["no reason"])[-1]
    version = subprocess.run(
        [bash, "-c", "echo $BASH_VERSION"], capture_output=True, text=True
    ).stdout.strip()
    if not version.startswith("5.3."):
        return None, f"the packages have version {version!r}"
    return bash, version


def scripts():
    text = (Path(__file__).parent / "bash-5.3.txt").read_text()
    parts = re.split(r"^=== (.*)\n", text, flags=re.MULTILINE)
    return list(zip(parts[1::2], (part.removesuffix("\n") for part in parts[2::2])))


class Server:
    def __init__(self, binary, env, cwd):
        self.process = subprocess.Popen(
            [binary, "rpc"], env=env, cwd=cwd, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )

    def ask(self, **request):
        self.process.stdin.write(json.dumps({"id": 1, **request}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["data"]

    def call(self, script, cwd, **request):
        request = {"command": script, "cwd": str(cwd), "timeout": PATIENCE, **request}
        return self.ask(type="tool_call", request=request)

    def close(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)


class Check:
    """Runs each script in a new directory, which has the same path each time."""

    def __init__(self, server, bash, env, root):
        self.server, self.bash, self.env, self.root = server, bash, env, root
        self.cwd, self.marker = root / "work", root / "probed"

    def renew(self):
        shutil.rmtree(self.cwd, ignore_errors=True)
        self.cwd.mkdir()
        self.marker.unlink(missing_ok=True)

    def in_bash(self, script):
        self.renew()
        run = subprocess.run(
            ["bash", "-c", script], executable=self.bash, cwd=self.cwd, env=self.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE,
        )
        return run.stdout.strip(), run.returncode, self.marker.exists()

    def in_call(self, script, **request):
        self.renew()
        data = self.server.call(script, self.cwd, **request)
        status = data["status"]
        text = data["text"].removesuffix(f"Command exited with code {status.get('code')}").strip()
        text = "" if text == "(no output)" else text
        return text, status.get("code", status), self.marker.exists()

    def faults(self, script, ends_shell):
        want = self.in_bash(script)
        found = {"isolated": self.in_call(script)}
        if not ends_shell:
            found["session"] = self.in_call(script, session="s")
            self.server.ask(type="session.close", session="s")
        for way, got in found.items():
            if got != want:
                yield f"{way}: {got}, not {want}"
        verdict = self.server.ask(type="check", command=script)["verdict"]
        if verdict != "allow":
            yield f"the verdict is {verdict}"
        dangerous = re.sub(r"\bprobe\b", DANGEROUS, script)
        verdict = self.server.ask(type="check", command=dangerous)["verdict"]
        if want[2] and verdict != "block":
            yield f"with `{DANGEROUS}`, the verdict is {verdict}"


def main():
    binary, directory = sys.argv[1], Path(sys.argv[2]).resolve()
    bash, version = install(directory / "installed/bash-5.3")
    if not bash:
        print(f"left out  bash 5.3: cannot be installed: {version}")
        return 0
    with tempfile.TemporaryDirectory() as root:
        root = Path(root).resolve()
        tools, home = root / "tools", root / "home"
        tools.mkdir()
        home.mkdir()
        (tools / "probe").write_text(f"#!/bin/sh\n: >{root}/probed\n")
        (tools / "probe").chmod(0o755)
        # `$BASH` and messages have the name by which bash was found.
        (tools / "bash").symlink_to(bash)
        env = {"HOME": str(home), "PATH": f"{tools}:/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb"}
        server = Server(binary, {**env, "AGENT_BASH_SHELL_PATH": str(bash)}, root)
        check, cases, failed = Check(server, bash, env, root), scripts(), 0
        for name, script in cases:
            faults = list(check.faults(script, name.endswith(ENDS_SHELL)))
            failed += bool(faults)
            for fault in faults:
                print(f"FAILED    bash 5.3: {name}: {fault}", flush=True)
        server.close()
    print(f"{'FAILED' if failed else 'ok':<9} bash {version}: {len(cases)} scripts, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
