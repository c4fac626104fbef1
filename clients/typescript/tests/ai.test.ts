// The Vercel AI SDK itself runs the tool, with a model that follows a script.

import assert from "node:assert/strict";
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { bashTool } from "../src/ai.js";
import { AbortError, Shell, ShellLost } from "../src/index.js";
import { inShell, inWorld } from "./world.js";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** Calls the tool once, then finishes. Returns the result that the model got. */
async function generate(sh: Shell, input: object, abortSignal?: AbortSignal) {
  let turn = 0;
  const model = new MockLanguageModelV3({
    doGenerate: async () => {
      turn += 1;
      const call = { type: "tool-call" as const, toolCallId: "1", toolName: "bash", input: JSON.stringify(input) };
      return {
        content: turn === 1 ? [call] : [{ type: "text" as const, text: "done" }],
        finishReason: { unified: turn === 1 ? ("tool-calls" as const) : ("stop" as const), raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
  const { text, steps } = await generateText({
    model,
    prompt: "go",
    tools: { bash: await bashTool(sh) },
    stopWhen: stepCountIs(3),
    abortSignal,
  });
  assert.equal(text, "done");
  return steps[0]!.content.filter((part) => part.type !== "tool-call")[0]!;
}

inShell("the model sees success, failure and timeout", async (sh) => {
  const answer = async (input: object) => {
    const part = await generate(sh, input);
    assert.ok(part.type === "tool-result");
    return String(part.output);
  };
  assert.equal(await answer({ command: "echo one" }), "one\n");
  assert.match(await answer({ command: "echo out; exit 3" }), /^out\n\nCommand exited with code 3/);
  assert.match(await answer({ command: "echo before; sleep 60", timeout: 1 }), /timed out[^]*before/);
});

inShell("aborting the generation ends the command", async (sh, world) => {
  const controller = new AbortController();
  const generating = generate(sh, { command: "echo $$ > pid; echo part; touch begun; sleep 600" }, controller.signal);
  await world.begun();
  controller.abort();
  await assert.rejects(generating);
  await assert.rejects(sh.run("true", { signal: controller.signal }), AbortError);
  assert.equal((await sh.run("kill -0 $(cat pid) && echo alive")).text.includes("alive"), false);
});

inWorld("a lost shell is an error of the tool", async (world) => {
  const sh = await Shell.open(world.options);
  const generating = generate(sh, { command: "touch begun; sleep 600" });
  await world.begun();
  process.kill(sh.pid!, "SIGKILL");
  const part = await generating.catch((error: unknown) => error);
  // The SDK reports the error to the model, or fails when the tools are requested again.
  const error = part instanceof Error ? part : (part as { error?: unknown }).error;
  assert.ok(error instanceof ShellLost, String(error));
  await sh.close();
});
