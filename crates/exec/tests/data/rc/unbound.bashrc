set -u
before() { echo before; }
echo "$nothing_of_that_name"
after() { echo after; }
