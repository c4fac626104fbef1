// The official MCP SDK for TypeScript against `agent-bash mcp`: what an agent on Node does with it. Started by
// tests/tests/clients, in a world of its own. Ends with 0 if all is as it should be.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const env = Object.fromEntries(Object.entries(process.env).filter((entry) => entry[1] !== undefined)) as Record<string, string>;
const client = new Client({ name: "test", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command: "agent-bash", args: ["mcp"], env }));

const run = (command: string, more: object = {}): Promise<any> =>
  client.callTool({ name: "bash", arguments: { command } }, undefined, more);

async function until(isSo: () => boolean) {
  while (!isSo()) await pause(10);
}

const names = (await client.listTools()).tools.map((tool) => tool.name);
assert.deepEqual(names, ["bash", "bash_output", "bash_input", "bash_kill", "bash_jobs", "read_artifact", "bash_changes"]);

// The SDK holds structured content against the tool's schema.
const bad = await run("echo oops >&2; exit 3");
assert.equal(bad.isError, true);
assert.equal(bad.content[0].text, "oops\n\nCommand exited with code 3");
assert.deepEqual(bad.structuredContent.status, { kind: "exited", code: 3 });

// It is the progress that lets the command go on: it must come while the command runs.
const seen: string[] = [];
const ticks = run("for i in 1 2 3; do echo tick $i; until test -e n$i; do sleep 0.01; done; done", {
  onprogress: ({ message }: any) => seen.push(message),
});
for (const i of [1, 2, 3]) {
  await until(() => seen.some((message) => message.includes(`tick ${i}`)));
  writeFileSync(`n${i}`, "");
}
assert.equal((await ticks).content[0].text, "tick 1\ntick 2\ntick 3\n");

const abort = new AbortController();
const called_off = assert.rejects(run("echo $$ > pid; misbehave ignore-term & sleep 600", { signal: abort.signal }));
await until(() => existsSync("pid") && readFileSync("pid", "utf8") !== "");
const pid = readFileSync("pid", "utf8").trim();
abort.abort();
await called_off;
await until(() => !existsSync(`/proc/${pid}`));

const cut = await run("seq 100000");
const uri = cut.structuredContent.artifacts[0].uri;
const uris = (await client.listResources()).resources.map((resource) => resource.uri);
assert.deepEqual(uris.filter((one) => one.startsWith("artifact:")), [uri]);
// The calls have written files, which can be listed, too.
assert.ok(uris.some((one) => one.startsWith("changes:")));
const read: any = await client.readResource({ uri });
assert.ok(read.contents[0].text.startsWith("1\n2\n3\n"));
const page: any = await client.callTool({ name: "read_artifact", arguments: { id: uri, offset: 50000, limit: 1 } });
assert.ok(page.content[0].text.startsWith("50000\n"));

const many = await Promise.all([...Array(10).keys()].map((i) => run(`echo ${i}`)));
assert.deepEqual(many.map((result) => result.content[0].text), [...Array(10).keys()].map((i) => `${i}\n`));

await client.close();
console.log("ok");
