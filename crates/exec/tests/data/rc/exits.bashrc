early() { echo early; }
exit 3
late() { :; }
