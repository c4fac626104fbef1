early() { :; }
set -r
