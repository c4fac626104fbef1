early() { echo early; }
( exec true )
exec 3>&1
command exec true
late() { :; }
