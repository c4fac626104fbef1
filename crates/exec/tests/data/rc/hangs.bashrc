early() { :; }
while :; do :; done
