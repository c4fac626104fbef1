# The number is ours, and what is told there is judged as a whole.
told() { :; }
printf 'end\0' >&43
