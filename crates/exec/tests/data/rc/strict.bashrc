set -euo pipefail
before() { echo before; }
false
after() { echo after; }
