#!/usr/bin/env bash
# Anthropic's sandbox runtime 0.0.83 (npm): `git add -A` fails, as the project has 11 device files.
#
# Expected: a sandbox that protects `.bashrc`, `.mcp.json` or `.vscode` in a project refuses to create
# these names. Seen: in the sandbox, each of these names is a character device, in a project that
# has none of them. `git status` lists them as untracked, `git add -A` fails with exit code 128 and
# adds nothing, and a program that looks for `.gitmodules` or `.vscode` finds one. Outside of the
# sandbox, the project has none of them.
#
# For agent-bash: a name that does not exist is not mounted; the result names protected files that a
# call has created.
set -eu
. "$(dirname "$0")/lib/debian.sh"
unpack bubblewrap=0.8.0-2+deb12u1 socat=1.7.4.4-2 libwrap0=7.6.q-32 ripgrep=13.0.0-4+b2
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" @anthropic-ai/sandbox-runtime@0.0.83 \
    > /dev/null 2>&1 || { echo 'cannot run: npm cannot install @anthropic-ai/sandbox-runtime'; exit 2; }
mkdir "$work/home" "$work/project"
echo '{"network": {"allowedDomains": [], "deniedDomains": []},
    "filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": []}}' > "$work/settings.json"
cd "$work/project"
git init -q .
cat > script.sh <<'S'
git add -A 2> /dev/null && code=0 || code=$?
echo "git add: $code, added: $(git ls-files | wc -l), devices: $(ls -lA | grep -c ^c)"
S
outside=$(bash script.sh)
rm .git/index
inside=$(HOME=$work/home LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu timeout 60 \
    node "$work/node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js" --settings "$work/settings.json" \
    -c 'bash script.sh' 2> "$work/log") || { echo "cannot run: $(tail -n 1 "$work/log")"; exit 2; }
echo "sandbox-runtime 0.0.83: outside: $outside; in the sandbox: $inside; then: $(ls -A | paste -sd ' ')"
[ "$outside; $inside; $(ls -A | paste -sd ' ')" \
    = 'git add: 0, added: 1, devices: 0; git add: 128, added: 0, devices: 11; .git script.sh' ]
