#!/usr/bin/env bash
# pre-commit 4.7.0 (PyPI): a `git commit` that SIGTERM ends takes edits out of the working tree.
#
# Expected: a commit that does not succeed leaves the files as they are; at most a lock file
# stays. Seen: before the hooks, pre-commit takes what is not staged out of the working tree, so
# that they see what is committed, and puts it back afterwards. Ctrl-C puts it back; SIGTERM,
# which a time limit, `kill` or a closing agent sends, does not. The edits are then only in a
# patch below ~/.cache/pre-commit, and `git stash list` and `git status` do not show them.
#
# For agent-bash: a time limit can end a `git commit` during its hooks; with recorded changes, the
# result lists the files, and `undo` has the edits; else `git apply` of the newest patch.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'pre-commit==4.7.0' <<'P'
import os, pathlib, signal, subprocess, sys, time
os.environ.update(PATH=os.path.dirname(sys.executable) + ":" + os.environ["PATH"], GIT_CONFIG_NOSYSTEM="1",
                  PRE_COMMIT_HOME=os.environ["HOME"] + "/cache", GIT_CONFIG_GLOBAL="/dev/null")
for name in list(os.environ):
    if name.startswith("GIT_") and not name.startswith("GIT_CONFIG_"):
        del os.environ[name]

def git(*words):
    return subprocess.run(["git", "-c", "user.name=user", "-c", "user.email=user@example.org", *words],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.strip()

config = """repos: [{repo: local, hooks: [{id: tests, name: tests, language: system, pass_filenames: false,
    entry: "sh -c 'touch .git/started; exec sleep 20'"}]}]"""
edited = pathlib.Path("edited")

def end_by(number):
    """Ends a commit of another file by a signal to its process group while the hook runs."""
    edited.write_text("an edit that is not staged\n")
    pathlib.Path("staged").write_text(f"{number}\n")
    git("add", "staged")
    commit = subprocess.Popen(["git", "-c", "user.name=user", "-c", "user.email=user@example.org", "commit", "-m", "second"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    started = pathlib.Path(".git/started")
    while not started.exists():
        time.sleep(0.1)
    started.unlink()
    os.killpg(commit.pid, number)
    commit.wait()
    time.sleep(2)
    return edited.read_text().split()[0]

git("init", ".")
pathlib.Path(".pre-commit-config.yaml").write_text(config)
edited.write_text("first\n")
git("add", ".")
git("commit", "-m", "first")
subprocess.run(["pre-commit", "install"], check=True, stdout=subprocess.DEVNULL)
interrupted, ended = end_by(signal.SIGINT), end_by(signal.SIGTERM)
patches = [path for path in pathlib.Path(os.environ["PRE_COMMIT_HOME"]).glob("patch*")]
print(f"after SIGINT '{interrupted}', after SIGTERM '{ended}', stashes {len(git('stash', 'list'))}, patches {len(patches)}")
P
) || exit 2
echo "pre-commit 4.7.0: the file begins with 'an' before the commit, $output"
[ "$output" = "after SIGINT 'an', after SIGTERM 'first', stashes 0, patches 2" ]
