"""Runs the checks of frameworks.toml: what the commands of a framework print in a terminal, in
isolated calls and in a session.

    python3 check.py AGENT_BASH DIRECTORY [NAME...]

Frameworks are installed once below DIRECTORY; each check has a home of its own there.
"""

import json
import os
import pty
import select
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

PATIENCE = 60
MARK = "@@done@@"


def environment(home, paths):
    path = ":".join([*paths, "/usr/local/bin", "/usr/bin", "/bin"])
    return {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", "SHELL": "/bin/bash"}


def shell(text, env, cwd):
    return subprocess.run(
        ["bash", "-ec", text], env=env, cwd=cwd, capture_output=True, text=True, timeout=900
    )


class Terminal:
    """An interactive bash on a terminal. Commands are typed one after another."""

    def __init__(self, home, env, cwd):
        self.out = home / ".out"
        pid, self.fd = pty.fork()
        if pid == 0:
            os.chdir(cwd)
            os.execve("/bin/bash", ["bash", "-i"], {**env, "TERM": "xterm-256color"})
        self.pid = pid
        self.type("stty -echo")

    def type(self, line):
        text = f"{line}\necho '{MARK[:4]}''{MARK[4:]}'\n"
        os.write(self.fd, text.encode())
        seen, deadline = b"", time.monotonic() + PATIENCE
        while MARK.encode() not in seen:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the terminal does not finish `{line}`: {seen[-200:]!r}")
            if select.select([self.fd], [], [], 0.2)[0]:
                seen += os.read(self.fd, 65536)

    def run(self, command, cwd):
        if cwd:
            self.type(f"cd {cwd}")
        self.type(f"{{ {command}\n}} >|{self.out} 2>&1")
        return self.out.read_text()

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


class Calls:
    """Calls of `agent-bash rpc`, isolated or in a session."""

    def __init__(self, binary, env, cwd, session):
        self.cwd, self.session = str(cwd), session
        self.server = subprocess.Popen(
            [binary, "rpc"], env=env, cwd=cwd, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )

    def call(self, **request):
        line = {"id": 1, "type": "tool_call", "request": {"timeout": PATIENCE, **request}}
        self.server.stdin.write(json.dumps(line) + "\n")
        self.server.stdin.flush()
        data = json.loads(self.server.stdout.readline())["data"]
        return data["text"], {notice["kind"] for notice in data["notices"]}

    def run(self, command, cwd):
        if cwd:
            self.cwd = cwd
        # The configuration of a directory may take longer to read than a call waits.
        deadline = time.monotonic() + PATIENCE
        while "snapshot_skipped" in self.call(command="true", cwd=self.cwd)[1]:
            while "snapshot_loaded" not in self.call(command="true", cwd=self.cwd)[1]:
                if time.monotonic() > deadline:
                    raise TimeoutError("the configuration is not read")
                time.sleep(0.2)
        if not self.session:
            return self.call(command=command, cwd=self.cwd)[0]
        if cwd:
            self.call(command=f"cd {cwd}", session="s")
        return self.call(command=command, session="s")[0]

    def close(self):
        self.server.stdin.close()
        self.server.wait(PATIENCE)


def check(framework, binary, directory, tool):
    """Returns a line per difference."""
    name, cache = framework["name"], directory / "installed"
    paths = [str(cache / path) for path in framework.get("paths", [])]
    faults, cost = [], {}
    for way in ["terminal", "isolated", "session"]:
        home = directory / "homes" / name / way
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        env = environment(home, paths)
        start = framework["start"].replace("@CACHE@", str(cache))
        (home / ".bashrc").write_text(start)
        prepared = shell(tool + framework["home"], {**env, "CACHE": str(cache)}, home)
        if prepared.returncode:
            return [f"its home cannot be made: {prepared.stderr[-300:]}"], cost
        cwd = home / framework.get("cwd", "")
        runner = (
            Terminal(home, env, cwd) if way == "terminal"
            else Calls(binary, env, cwd, way == "session")
        )
        began = time.monotonic()
        for step in framework["step"]:
            if step.get("lasts") and way == "isolated":
                continue
            place = step.get("cwd")
            out = runner.run(step["run"], place and str(home / place))
            out = out.replace(str(home), "~").strip()
            if out != step["want"].strip():
                faults.append(f"{way}: `{step['run']}`: {out!r}, not {step['want'].strip()!r}")
        cost[way] = time.monotonic() - began
        runner.close()
    return faults, cost


def main():
    binary, directory, *names = sys.argv[1:]
    directory = Path(directory).resolve()
    cache = directory / "installed"
    cache.mkdir(parents=True, exist_ok=True)
    here = Path(__file__).parent.resolve()
    sid = here / "sid.sh"
    data = tomllib.loads((here / "frameworks.toml").read_text())
    failed, left_out = 0, 0
    for framework in data["framework"]:
        name = framework["name"]
        if names and name not in names:
            continue
        label = f"{name} {framework['version']}"
        done = cache / f".{name}-{framework['version']}"
        if not done.exists():
            env = {**os.environ, "CACHE": str(cache), "VERSION": framework["version"]}
            env["GIT_TERMINAL_PROMPT"] = "0"
            installed = shell(f". {sid}\n{framework['install']}", env, cache)
            if installed.returncode:
                left_out += 1
                reason = installed.stderr.strip().splitlines()[-1:]
                print(f"left out  {label}: cannot be installed: {reason}", flush=True)
                continue
            done.touch()
        faults, cost = check(framework, binary, directory, data["tool"])
        failed += bool(faults)
        times = ", ".join(f"{way} {seconds:.1f} s" for way, seconds in cost.items())
        print(f"{'FAILED' if faults else 'ok':<9} {label} ({times})", flush=True)
        for fault in faults:
            print(f"          {fault}", flush=True)
    print(f"{failed} failed, {left_out} left out")
    sys.exit(1 if failed else 0)


main()
