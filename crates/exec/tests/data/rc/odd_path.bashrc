PATH="/opt/it's \"quoted\" \$HOME \`id\`:$PATH:/opt/new
line:/opt/ü"
odd() { echo odd; }
