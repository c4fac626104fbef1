"""The shell as the tool of an agent framework: a module for each, which imports that framework."""
