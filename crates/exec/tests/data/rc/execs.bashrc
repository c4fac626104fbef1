early() { :; }
exec true
