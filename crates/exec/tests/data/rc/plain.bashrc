# What people have.
greet() { printf 'hello %s\n' "${1:-you}"; }
function with-dash { echo dashed; }
with.dot() { echo dotted; }
alias gs='git status'
alias hi='greet there'
alias ..='cd ..'
shopt -s globstar nullglob
set -o pipefail
PATH="/opt/mine:$PATH"
export EDITOR=vim SOMETHING=else
