#!/usr/bin/env bash
# autogen-ext 0.7.5 (PyPI): lines "pip install ..." that a script writes into files are changed.
#
# Expected: the executor runs the model's code as it is. To have quiet output, it may change the
# command `pip install`. Seen: it adds "-qqq" to each line that begins with "pip install", without
# regard to the syntax. A here-document that writes a README, a Dockerfile part or a CI step gets
# "pip install -qqq" in the file. Indented lines and `python -m pip` stay.
#
# For agent-bash: bash gets the text of a call unchanged.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'autogen-ext==0.7.5' <<'P'
import asyncio, warnings
warnings.simplefilter("ignore")
from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock
from autogen_ext.code_executors.local import LocalCommandLineCodeExecutor

async def main():
    executor = LocalCommandLineCodeExecutor(work_dir=".", timeout=20)
    code = "cat > README.md <<'E'\n## Install\npip install mypackage\n  pip install other\nE"
    result = await executor.execute_code_blocks([CodeBlock(code=code, language="bash")], CancellationToken())
    with open("README.md") as file:
        print("exit code", result.exit_code, repr(file.read()))

asyncio.run(main())
P
) || exit 2
echo "autogen-ext 0.7.5: the file of a here-document: $output"
[ "$output" = "exit code 0 '## Install\\npip install -qqq mypackage\\n  pip install other\\n'" ]
