traced() { echo traced; }
set -x
