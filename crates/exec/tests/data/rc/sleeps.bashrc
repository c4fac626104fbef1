early() { :; }
sleep 1000
