export SHELLOPTS BASHOPTS
shared() { echo shared; }
export -f shared
set -f
