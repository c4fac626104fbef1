unset PATH
lost() { echo lost; }
