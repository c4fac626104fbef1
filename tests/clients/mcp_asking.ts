// `agent-bash mcp` asks the user of the official MCP client for TypeScript whether a trial may be committed. The user
// accepts, declines, dismisses, or the client does not ask users at all: by requests of the server (legacy), by answers
// that ask (2026-07-28), and as the client chooses by itself (auto). Started by tests/tests/clients, in a world of its
// own. Ends with 0 if all is as it should be.

import assert from "node:assert/strict";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const env = Object.fromEntries(Object.entries(process.env).filter((entry) => entry[1] !== undefined)) as Record<string, string>;
const MODES = { legacy: "legacy", auto: "auto", modern: { pin: "2026-07-28" } } as const;
const USERS = {
  accept: undefined,
  decline: "the user was asked, and declined committing it",
  cancel: "the user was asked about committing it, and gave no answer",
  none: "no approver is available here",
} as const;

for (const [name, mode] of Object.entries(MODES)) {
  for (const [action, why] of Object.entries(USERS)) {
    writeFileSync("old", "old\n");
    const questions: string[] = [];
    const capabilities = action === "none" ? {} : { elicitation: { form: {} } };
    const client = new Client({ name: "test", version: "1" }, { capabilities, versionNegotiation: { mode } });
    if (action !== "none") {
      client.setRequestHandler("elicitation/create", async ({ params }: any) => {
        // Nothing is done before there is an answer.
        assert.ok(existsSync("old") && !existsSync("new"));
        questions.push(params.message);
        return { action, content: action === "accept" ? {} : undefined } as never;
      });
    }
    await client.connect(new StdioClientTransport({ command: "agent-bash", args: ["mcp"], env }));
    assert.equal(client.getNegotiatedProtocolVersion() === "2026-07-28", name !== "legacy");
    const call = (tool: string, given: object): Promise<any> => client.callTool({ name: tool, arguments: { ...given } });

    const held = await call("bash", { command: "echo new > new; rm old", trial: true });
    assert.match(held.content[0].text, /nothing applied yet/);
    const id = held.structuredContent.changes.id;
    const answer = await call("bash_changes", { action: "commit", id });
    assert.equal(existsSync("new") && !existsSync("old"), why === undefined);
    assert.ok(answer.content[0].text.includes(why ?? `[Trial ${id} applied: 1 created, 1 deleted.]`), answer.content[0].text);
    assert.equal(questions.length, action === "none" ? 0 : 1);
    assert.ok(questions.every((question) => question.startsWith(`Apply what trial ${id} held back`)), questions[0]);
    if (why !== undefined) await call("bash_changes", { action: "discard", id });
    await client.close();
    for (const path of ["old", "new"]) rmSync(path, { force: true });
    console.log(name, action, "ok");
  }
}
