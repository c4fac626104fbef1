#!/usr/bin/env bash
# Linux 6.18, bubblewrap 0.8.0: an allowed file is lost or old for a sandbox once it is saved outside.
#
# Expected: a running sandbox that may read ~/.gitconfig reads what is there. Seen: `git config
# --global` saves it by a rename, as most programs and editors do, and rules are for the file that
# had the name before. A Landlock rule does not fit the new file: git in the sandbox warns that it
# may not read it, and has no name at all. A file that bubblewrap binds is still the former one: git
# has the old name for as long as the sandbox runs.
#
# For agent-bash: each call has a new sandbox; a persistent shell, a job and `sandbox run` keep theirs.
set -eu
. "$(dirname "$0")/lib/debian.sh"
case $(uname -r) in 6.18.*) ;; *) echo "cannot run: Linux $(uname -r), not 6.18"; exit 2 ;; esac
unpack bubblewrap=0.8.0-2+deb12u1
python3 -m venv "$work/v" && "$work/v/bin/pip" --quiet --disable-pip-version-check install landlock==1.0.0.dev5 \
    > /dev/null 2>&1 || { echo 'cannot run: pip cannot install landlock==1.0.0.dev5'; exit 2; }
mkdir "$work/home"
export HOME=$work/home GIT_CONFIG_NOSYSTEM=1
cd /
cat > "$work/name" <<'S'
for _ in 1 2; do
    git config --global user.name 2> /dev/null || echo "exit code $?"
    read -r _
done
S
cat > "$work/landlocked.py" <<'P'
import os, sys
from landlock import FSAccess, Ruleset
rules = Ruleset()
for path in ("/usr", "/lib", "/lib64", "/bin", "/etc", "/dev", "/proc"):
    if os.path.isdir(path):
        rules.allow(path)
for path in (sys.argv[1], os.path.expanduser("~/.gitconfig")):
    rules.allow(path, rules=FSAccess.READ_FILE)
rules.apply()
os.execvp("bash", ["bash", sys.argv[1]])
P
names() {
    git config --global user.name before
    coproc SANDBOX { "$@"; }
    read -r first <&"${SANDBOX[0]}"
    git config --global user.name after
    echo >&"${SANDBOX[1]}"
    read -r second <&"${SANDBOX[0]}"
    echo >&"${SANDBOX[1]}"
    echo "$first, $second"
    wait
}
landlock=$(names "$work/v/bin/python" "$work/landlocked.py" "$work/name")
bound=$(names bwrap --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 \
    --proc /proc --dev /dev --ro-bind "$HOME/.gitconfig" "$HOME/.gitconfig" --ro-bind "$work/name" "$work/name" \
    bash "$work/name")
echo "git's user.name in the sandbox, before and after it is set outside: Landlock: $landlock; bubblewrap: $bound"
[ "$landlock; $bound" = 'before, exit code 1; before, before' ]
