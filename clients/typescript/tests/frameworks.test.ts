// The tools of `bash-tool`, and an agent of Mastra, with a model that follows a script.

import assert from "node:assert/strict";
import { Agent } from "@mastra/core/agent";
import { createBashTool } from "bash-tool";
import { MockLanguageModelV3 } from "ai/test";
import { bashTool } from "../src/ai.js";
import { sandbox } from "../src/bash-tool.js";
import { Shell, ShellLost } from "../src/index.js";
import { inShell, inWorld } from "./world.js";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

inShell("bash-tool runs commands and moves files", async (sh, world) => {
  const files = { "new/it's/a.txt": "text" };
  const { tools, sandbox: box } = await createBashTool({ sandbox: sandbox(sh), destination: world.work, files });
  assert.equal(world.read("new/it's/a.txt"), "text");
  const options = { toolCallId: "1", messages: [], context: {} };
  const run = (command: string) => Promise.resolve(tools.bash.execute!({ command }, options as never));
  assert.deepEqual(await run("echo out; echo err >&2; exit 3"), { stdout: "out\n", stderr: "err\n", exitCode: 3 });
  assert.deepEqual(await run("cat new/*/a.txt"), { stdout: "text", stderr: "", exitCode: 0 });
  assert.equal(await box.readFile(`${world.work}/new/it's/a.txt`), "text");
  await assert.rejects(box.readFile("absent"), /absent/);
});

inWorld("a lost shell is an error of bash-tool", async (world) => {
  const sh = await Shell.open(world.options);
  const running = sandbox(sh).executeCommand("touch begun; sleep 600");
  await world.begun();
  process.kill(sh.pid!, "SIGKILL");
  await assert.rejects(running, ShellLost);
  await sh.close();
});

inShell("an agent of Mastra runs the tool", async (sh, world) => {
  const generate = async (input: object, abortSignal?: AbortSignal) => {
    const results: string[] = [];
    const model = new MockLanguageModelV3({
      doGenerate: async ({ prompt }) => {
        for (const message of prompt) {
          if (message.role === "tool") results.push(JSON.stringify(message.content));
        }
        const call = { type: "tool-call" as const, toolCallId: "1", toolName: "bash", input: JSON.stringify(input) };
        return {
          content: results.length === 0 ? [call] : [{ type: "text" as const, text: "done" }],
          finishReason: {
            unified: results.length === 0 ? ("tool-calls" as const) : ("stop" as const),
            raw: undefined,
          },
          usage,
          warnings: [],
        };
      },
    });
    const tools = { bash: await bashTool(sh) };
    // Mastra's types are those of an earlier version of the SDK: they know neither this model nor this tool.
    const agent = new Agent({ id: "a", name: "a", instructions: "go", model: model as never, tools: tools as never });
    await agent.generate("go", { maxSteps: 3, abortSignal });
    return results[0]!;
  };
  assert.match(await generate({ command: "echo one" }), /"one\\n"/);
  assert.match(await generate({ command: "echo out; exit 3" }), /out[^]*Command exited with code 3/);
  assert.match(await generate({ command: "echo before; sleep 60", timeout: 1 }), /timed out[^]*before/);

  const controller = new AbortController();
  const running = generate({ command: "echo $$ > pid; touch begun; sleep 600" }, controller.signal).catch(() => "");
  await world.begun();
  controller.abort();
  await running;
  assert.equal((await sh.run("kill -0 $(cat pid) && echo alive")).text.includes("alive"), false);
});
