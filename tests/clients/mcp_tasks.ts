// `agent-bash mcp` and the package for tasks of the official MCP client for TypeScript: a long call is a task, whose
// result is the call's, and which can be cancelled; a short one is answered at once. Started by tests/tests/clients, in
// a world of its own. Ends with 0 if all is as it should be.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createTaskSessionFromClient } from "@modelcontextprotocol/ext-tasks/client";

const env = Object.fromEntries(Object.entries(process.env).filter((entry) => entry[1] !== undefined)) as Record<string, string>;
const clientInfo = { name: "test", version: "1" };
const protocolVersion = "2026-07-28";
const client = new Client(clientInfo, { versionNegotiation: { mode: { pin: protocolVersion } } });
const transport = new StdioClientTransport({ command: "agent-bash", args: ["mcp"], env });
await client.connect(transport);

// The client itself takes no tasks as answers: the package wants requests past it.
const waiting = new Map<string, (answer: any) => void>();
const progress: string[] = [];
const passOn = transport.onmessage;
transport.onmessage = (message: any) => {
  const answered = waiting.get(message.id);
  if (answered && message.method === undefined) {
    waiting.delete(message.id);
    answered("error" in message ? { kind: "error", error: message.error } : { kind: "result", result: message.result });
  } else if (message.method === "notifications/progress") {
    progress.push(message.params.message);
  } else {
    passOn?.(message);
  }
};
const rawDispatch = (request: any): Promise<any> =>
  new Promise((answered, failed) => {
    const id = `raw-${waiting.size}-${request.method}-${Math.random()}`;
    waiting.set(id, answered);
    transport.send({ jsonrpc: "2.0", id, ...request }).catch(failed);
  });
const session = createTaskSessionFromClient(client, {
  endpointId: "agent-bash",
  rawDispatch,
  v2RequestFraming: { protocolVersion, clientInfo, clientCapabilities: {} },
});

const short = await session.callTool("bash", { command: "echo hi" });
const { outcome: hi }: any = await short.settle();
assert.equal(hi.result.content[0].text, "hi\n");

const long = await session.callTool(
  "bash",
  { command: "echo begun; until test -e go; do sleep 0.01; done; echo done; exit 7" },
  { metadata: { progressToken: "p" } },
);
assert.ok(long.kind === "task");
// Progress ends with the answer, as a task has none.
assert.ok("begun\n".startsWith(progress.join("")), progress.join());
const states: string[] = [];
const { outcome }: any = await long.settle({
  onEvent: (event) => {
    if (event.type !== "task") return;
    states.push(event.task.status);
    writeFileSync("go", "");
  },
});
assert.equal(states[0], "working");
assert.equal(outcome.status, "completed");
assert.equal(outcome.result.isError, true);
assert.equal(outcome.result.content[0].text, "begun\ndone\n\nCommand exited with code 7");
assert.deepEqual(outcome.result.structuredContent.status, { kind: "exited", code: 7 });

const endless = await session.callTool("bash", { command: "echo $$ > pid; misbehave ignore-term & sleep 600" });
assert.ok(endless.kind === "task");
while (!existsSync("pid") || readFileSync("pid", "utf8") === "") await pause(10);
const pid = readFileSync("pid", "utf8").trim();
await endless.cancel();
const { outcome: cancelled } = await endless.settle();
assert.equal(cancelled.status, "cancelled");
while (existsSync(`/proc/${pid}`)) await pause(10);

await session.close();
await client.close();
console.log("ok");
