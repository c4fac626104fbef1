// For the Vercel AI SDK, and for agents of Mastra: the shell as a tool.

import { jsonSchema, tool, type Tool } from "ai";
import type { Shell } from "./shell.js";
import type { CallOptions } from "./types.js";

/**
 * The tool as this program describes it to a model. Aborting the generation ends the command.
 *
 *     const { text } = await generateText({ model, tools: { bash: await bashTool(shell) }, prompt });
 */
export async function bashTool(shell: Shell): Promise<Tool<CallOptions & { command: string }, string>> {
  const [bash] = await shell.tools();
  return tool({
    description: bash!["description"],
    inputSchema: jsonSchema<CallOptions & { command: string }>(bash!["input_schema"]),
    execute: async (input, { abortSignal }) => (await shell.call("bash", input, { signal: abortSignal })).content,
  });
}
