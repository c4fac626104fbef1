early() { echo early; }
set -n
late() { echo late; }
