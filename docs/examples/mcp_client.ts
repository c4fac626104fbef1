// A client of `agent-bash mcp` (docs/mcp.md) with the official SDK
// (`npm install @modelcontextprotocol/sdk`).
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const client = new Client({ name: "example", version: "1.0.0" });
const env = { AGENT_BASH_MCP_STRUCTURED: "on" };
await client.connect(new StdioClientTransport({ command: "agent-bash", args: ["mcp"], env }));
console.log((await client.listTools()).tools.map((tool) => tool.name));
const result: any = await client.callTool(
  { name: "bash", arguments: { command: "echo one; sleep 0.2; echo two; sleep 0.5; exit 3" } },
  undefined,
  { onprogress: (progress) => console.log("live:", progress.message?.trim()) },
);
console.log(JSON.stringify(result.structuredContent.status), result.content[0].text);
await client.close();
