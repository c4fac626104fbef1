#!/usr/bin/env bash
# bash-tool 1.3.19 (npm): after a command that ends in `&`, the next ones run in another
# directory.
#
# Expected: as the tool tells the model: "WORKING DIRECTORY: ... All commands execute from this
# directory". Seen: the tool puts `cd "DIRECTORY" && ` before the text. By a shell's grammar, `&`
# applies to the whole list before it: `server & npm test` becomes `cd DIRECTORY && server &` in a
# subshell, and `npm test` in the directory where the sandbox starts its shells. `pwd` after an
# `&` shows it; without one, all is as told. Also with a line end after the `&`.
#
# For agent-bash: the directory of a call is that of its shell; no text is put before a script.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install bash-tool@1.3.19
mkdir "$work/elsewhere"
cat > "$work/main.mjs" <<'J'
import { createBashTool } from 'bash-tool';
import { execFile } from 'node:child_process';
const [project, elsewhere] = process.argv.slice(2);
const sandbox = {
    executeCommand: (command) => new Promise((resolve) => execFile('bash', ['-c', command], { cwd: elsewhere },
        (error, stdout, stderr) => resolve({ stdout, stderr, exitCode: error?.code ?? 0 }))),
    readFile: async () => '',
    writeFiles: async () => {},
};
const { tools } = await createBashTool({ sandbox, destination: project });
console.log('told', /WORKING DIRECTORY: (.*)/.exec(tools.bash.description)[1]);
for (const command of ['pwd', 'true; pwd', 'true & pwd', 'true &\npwd']) {
    console.log((await tools.bash.execute({ command }, {})).stdout.trim());
}
J
in_clean_environment node "$work/main.mjs" "$work/project" "$work/elsewhere" || cannot_run "$(tail -n 1 "$work/log")"
output=$(sed "s|$work/||" "$work/log" | paste -sd ' ')
echo "bash-tool 1.3.19: directory as told, of pwd, 'true; pwd', 'true & pwd', and with a line end: $output"
[ "$output" = 'told project project project elsewhere elsewhere' ]
