told() { :; }
echo >&43
