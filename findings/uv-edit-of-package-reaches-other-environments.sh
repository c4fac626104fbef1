#!/usr/bin/env bash
# uv 0.13.9 (PyPI): an edit of a package in one environment also changes the others, for good.
#
# Expected: a virtual environment has its own files, as with pip; a debugging line that is appended
# to a package in `.venv` ends with `uv pip install --reinstall`, or with a new environment. Seen:
# uv installs by hard links to its cache. A program that writes into the file, as `>>` and some
# editors do, changes the cache and each environment of the user with that version. A reinstallation
# links the changed file again, without a check of its hash. `sed -i` makes a new file and is safe;
# `UV_LINK_MODE=copy` is the cure.
#
# For agent-bash: a change through a hard link is listed and undone by each name, also outside the
# root.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'uv==0.13.9' <<'P'
import os, subprocess, sys, zipfile
os.environ.update(UV_CACHE_DIR=os.path.abspath("cache"), UV_OFFLINE="1", UV_NO_CONFIG="1")
os.environ.pop("UV_LINK_MODE", None)
wheel = "demo-1.0-py3-none-any.whl"
with zipfile.ZipFile(wheel, "w") as file:
    file.writestr("demo.py", "value = 1\n")
    file.writestr("demo-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n")
    file.writestr("demo-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    file.writestr("demo-1.0.dist-info/RECORD", "")
def uv(*words):
    subprocess.run([os.path.join(os.path.dirname(sys.executable), "uv"), "--quiet", *words], check=True)
def value(name):
    return subprocess.run([f"{name}/bin/python", "-c", "import demo; print(demo.value)"],
                          capture_output=True, text=True, check=True).stdout.strip()
for name in ("one", "two"):
    uv("venv", "--python", sys.executable, name)
    uv("pip", "install", "--python", name, wheel)
path = subprocess.run(["one/bin/python", "-c", "import demo; print(demo.__file__)"],
                      capture_output=True, text=True, check=True).stdout.strip()
with open(path, "a") as file:
    file.write("value = 20\n")
edited, other = value("one"), value("two")
uv("pip", "install", "--python", "one", "--reinstall", wheel)
print(edited, other, value("one"))
P
) || exit 2
echo "uv 0.13.9: the value 1 after an edit to 20: here, in another environment, here after --reinstall: $output"
[ "$output" = '20 20 20' ]
