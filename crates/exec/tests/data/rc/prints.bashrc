echo "Welcome, $USER!"
printf '\033]0;title\007' >&2
printf 'f%s\0%s\0' evil 'evil () { echo evil; }'
for ((i = 0; i < 20000; i++)); do echo "a line of noise, and another, and another"; done
told() { echo told; }
