early() { echo early; }
set -t
late() { echo late; }
