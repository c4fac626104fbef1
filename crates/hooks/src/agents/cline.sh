#!/bin/sh
# Written by `agent-bash hook --install cline`, removed by `--uninstall`.
# Asks agent-bash before Cline runs a command. A command that agent-bash refuses or cannot check does not run.
PROGRAM hook cline || echo '{"cancel": true, "errorMessage": "Not run: agent-bash did not permit it"}'
