#!/usr/bin/env bash
# pnpm 12.21.0: its store needs a writable /tmp, whatever TMPDIR and the store's settings say.
#
# Expected: with TMPDIR, the store, the cache and the state directory moved, an install writes only
# there and in the project, so that a sandbox can leave /tmp read-only. Seen: an install of a local
# package makes pnpm-store-operation-locks-UID, pnpm-dir-locks-UID and pnpm-modules-swaps-UID in
# /tmp, and with a read-only /tmp it ends with ERR_PNPM_STORE_DIR_OPEN_OPERATION_LOCK. The message
# names no absolute path.
#
# For agent-bash: a full sandbox mounts private directories there.
set -u
unshare -rm true 2> /dev/null || { echo "cannot run: no user namespaces"; exit 2; }
work=$(mktemp -d -p "$HOME")
trap 'rm -rf "$work"' EXIT
npm install --silent --prefix "$work/tool" pnpm@12.21.0 > /dev/null 2>&1 \
  || { echo "cannot run: pnpm 12.21.0 cannot be installed"; exit 2; }
mkdir -p "$work"/{project,package,home,tmp}
echo '{"name":"p","version":"1.0.0"}' > "$work/package/package.json"
echo '{"name":"a","version":"1.0.0","dependencies":{"p":"file:../package"}}' > "$work/project/package.json"
# install MODE: with a private /tmp that can be written (rw) or not (ro).
install() {
  rm -rf "$work/project/node_modules" "$work/project/pnpm-lock.yaml"
  unshare -rm bash -c '
    mount -t tmpfs tmpfs /tmp && mount -o "remount,$2" /tmp && cd "$1/project" || exit 9
    export HOME=$1/home TMPDIR=$1/tmp pnpm_config_store_dir=$1/store pnpm_config_cache_dir=$1/cache \
      pnpm_config_state_dir=$1/state
    "$1/tool/node_modules/.bin/pnpm" install > "$1/log" 2>&1; code=$?
    cd /tmp && echo *; exit "$code"' - "$work" "$1"
}
made=$(install rw); writable=$?
install ro > /dev/null; readonly=$?
lock=$(grep -o ERR_PNPM_STORE_DIR_OPEN_OPERATION_LOCK "$work/log" | head -1)
echo "pnpm 12.21.0: writable /tmp: exit $writable, made $made; read-only: exit $readonly $lock"
[ "$writable" = 0 ] && [ "$made" = "pnpm-dir-locks-0 pnpm-modules-swaps-0 pnpm-store-operation-locks-0" ] \
  && [ "$readonly" != 0 ] && [ -n "$lock" ]
