#!/usr/bin/env bash
# Mastra 1.71.0 (npm, @mastra/core), ai 6.0.325 and 7.0.173 (npm): a tool that works does not compile.
#
# Expected: an agent's `tools` accept what `tool()` of the Vercel AI SDK returns, and the types say
# the same as the run. Seen: TypeScript refuses it, because Mastra's types want an `id`, which that
# function does not give, and because since version 7 a tool's `description` may be a function. Run
# without the check, the agent makes an id of its own, calls the tool and gets its result. A copy
# with an id compiles with version 6.
#
# For agent-bash: the tool of the package `agent-bash` for ai is passed to Mastra with a type
# assertion.
set -eu
. "$(dirname "$0")/lib/agent.sh"
write() {
    cat > "$work/$1.mts" <<T
import { Agent } from '@mastra/core/agent';
import { tool } from 'ai';
import { z } from 'zod';
const clock = tool({ description: 'Returns the time.', inputSchema: z.object({}), execute: async () => 'noon' });
const model = { id: 'stand-in/model' as const, url: process.argv[2] + '/v1', apiKey: 'none' };
const agent = new Agent({ id: 'a', name: 'a', instructions: 'i', model, tools: { clock: $2 } });
const answer = await agent.stream('go on');
for await (const _ of answer.textStream);
process.exit();
T
}
write plain clock
write named "{ ...clock, id: 'clock' }"
# compiles VERSION FILE: yes or no, with this version of ai.
compiles() {
    install @mastra/core@1.71.0 "ai@$1" zod@4.6.7 typescript@5.9.3 @types/node@20.9.5
    (cd "$work" && node_modules/.bin/tsc --strict --module nodenext --target es2023 --skipLibCheck "$2.mts" > log) \
        && echo yes && return
    [[ $(< "$work/log") == *"error TS2322"*"is not assignable to type 'ToolAction"* ]] || cannot_run "$(head -n 1 "$work/log")"
    echo no
}
output="ai 6: $(compiles 6.0.325 plain), with an id: $(compiles 6.0.325 named), ai 7: $(compiles 7.0.173 plain)"
start_model '[["clock", {}]]'
in_clean_environment node "$work/plain.mjs" "$url" || cannot_run "$(tail -n 1 "$work/log")"
echo "Mastra 1.71.0: does a tool compile? $output; its result in a run: $(result 0)"
[ "$output, $(result 0)" = 'ai 6: no, with an id: yes, ai 7: no, noon' ]
