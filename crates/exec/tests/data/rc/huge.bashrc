printf -v text 'echo %01000d;' 0
for ((i = 0; i < 13; i++)); do text+=$text; done
eval "huge() { $text }"
