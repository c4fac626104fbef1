bom() { :; }
kept() { echo kept; }
