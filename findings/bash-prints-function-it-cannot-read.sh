#!/usr/bin/env bash
# bash 5.2.15: `declare -f` prints a valid function in a form that bash itself rejects.
#
# Expected: the output of `declare -f` defines the same function again; snapshots of a shell, and
# `bash -c "$(declare -f f); f"` by ssh, depend on it. Seen: bash drops the parenthesis before a
# pattern of `case`. If the pattern is `esac`, the printed text ends the `case` there: "syntax error
# near unexpected token `)'". A file of printed functions ends there for bash, so all later ones are
# lost. An exported function fails in the same way in every child, which prints "error importing
# function definition".
#
# For agent-bash: a second shell reads each definition of a snapshot.
set -u
[ "${BASH_VERSION%%(*}" = 5.2.15 ] || { echo "cannot run: bash $BASH_VERSION, not 5.2.15"; exit 2; }
f() { case $1 in (esac) echo end;; esac; }
ran=$(f esac)
printed=$(bash -c "$(declare -f f); f esac" 2>&1) && printed_ok=yes || printed_ok=no
export -f f
imported=$(bash -c 'f esac' 2>&1) && imported_ok=yes || imported_ok=no
echo "bash 5.2.15: called: $ran; printed and read again: $printed_ok; exported: $imported_ok"
case $printed$imported in
*"unexpected token \`)'"*"error importing function definition"*) ;;
*) exit 1 ;;
esac
[ "$ran $printed_ok $imported_ok" = 'end no no' ]
