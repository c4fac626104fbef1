read -r -p 'Your name? ' name
read -r -s -p 'Password: ' answer </dev/tty
select choice in one two; do break; done
cat >/dev/null
asked() { echo "asked"; }
