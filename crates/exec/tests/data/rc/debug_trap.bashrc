trap 'echo debug' DEBUG
trapped() { echo trapped; }
