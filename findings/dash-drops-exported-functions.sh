#!/usr/bin/env bash
# dash 0.5.12 (Debian's /bin/sh), bash 5.2.15: an exported function is lost below `sh`.
#
# Expected: `export -f helper` gives the function to every bash below, and a shell between the two
# passes its environment on. Seen: bash exports the function as a variable named
# `BASH_FUNC_helper%%`. dash drops each variable with a name that is not a shell's, so below `sh
# -c`, `xargs sh -c`, `npm run` or `system()`, no bash knows the function. The variables
# `my-option` and `a.b`, as CI systems set them, are lost alike. bash as `sh` and zsh keep them.
#
# For agent-bash: a function that a start file exports reaches the commands of a call, and not the
# ones below `sh -c`.
set -eu
[ "${BASH_VERSION%%(*}" = 5.2.15 ] || { echo "cannot run: bash $BASH_VERSION, not 5.2.15"; exit 2; }
version=$(dpkg-query -W -f '${Version}' dash 2> /dev/null) || version=none
case $version in 0.5.12*) ;; *) echo "cannot run: dash $version, not 0.5.12"; exit 2 ;; esac
helper() { echo reached; }
export -f helper
inner='helper 2> /dev/null || echo lost; printenv my-option a.b || echo lost'
below() { env my-option=1 a.b=2 "$@" -c 'bash -c "$0"; exit' "$inner" | paste -sd ' '; }
in_bash=$(below bash --posix)
in_dash=$(below dash)
echo "dash 0.5.12: function and two variables below bash as sh: $in_bash; below dash: $in_dash"
[ "$in_bash/$in_dash" = 'reached 1 2/lost lost' ]
