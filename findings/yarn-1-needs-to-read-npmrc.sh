#!/usr/bin/env bash
# yarn 1.22.22: an unreadable ~/.npmrc ends an install, also without a network.
#
# Expected: a file of another tool that cannot be read is skipped with a warning, as npm and pnpm
# do: ~/.npmrc often has a token, so sandboxes hide it. Seen: `yarn install` of a project without
# any dependency ends with "EACCES: permission denied, open '…/.npmrc'" and exit code 1, also with
# `--offline`. `--no-default-rc` helps. npm 11.6.2 installs the same project.
#
# For agent-bash: in the sandbox, which hides that file, the result names it; `yarn --no-default-
# rc`, or `sandbox.readable`.
set -u
[ "$(id -u)" != 0 ] || command -v setpriv > /dev/null || { echo "cannot run: root without setpriv"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --silent --prefix "$work/tool" yarn@1.22.22 npm@11.6.2 > /dev/null 2>&1 \
  || { echo "cannot run: yarn 1.22.22 cannot be installed"; exit 2; }
mkdir -p "$work"/{project,home}
echo '{"name":"a","version":"1.0.0","license":"MIT"}' > "$work/project/package.json"
echo 'registry=http://127.0.0.1:9/' > "$work/home/.npmrc"
as_user=()
if [ "$(id -u)" = 0 ]; then
  # Root reads every file.
  chown -R 65534:65534 "$work"
  chmod 755 "$work"
  as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
node=$(node -p process.execPath)
# run MODE ARG...: exit code of a tool, with ~/.npmrc of this mode.
run() {
  chmod "$1" "$work/home/.npmrc"; shift
  (cd "$work/project" && env -i PATH="${node%/*}:/usr/bin:/bin" HOME="$work/home" "${as_user[@]}" \
    "$work/tool/node_modules/.bin/$@" > "$work/log" 2>&1)
}
run 600 yarn install --offline; readable=$?
run 000 yarn install --offline; yarn=$?
reason=$(grep -o 'EACCES: permission denied' "$work/log" | head -1)
run 000 yarn install --offline --no-default-rc; bare=$?
run 000 npm install --offline --no-audit --no-fund; npm=$?
echo "yarn 1.22.22: ~/.npmrc readable: exit $readable; not: exit $yarn ($reason), with --no-default-rc $bare; npm 11.6.2: $npm"
[ "$readable $yarn $bare $npm" = '0 1 0 0' ] && [ -n "$reason" ]
