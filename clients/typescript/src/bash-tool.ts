// For `bash-tool`, and other packages that take its interface of a sandbox.

import { dirname } from "node:path/posix";
import { ShellError } from "./errors.js";
import type { Shell } from "./shell.js";

/** The interface `Sandbox` of `bash-tool` 1. */
export interface Sandbox {
  executeCommand(command: string): Promise<{ stdout: string; stderr: string; exitCode: number }>;
  readFile(path: string): Promise<string>;
  writeFiles(files: { path: string; content: string | Buffer }[]): Promise<void>;
}

/** The answer of the adapter `openai-shell` for one command. */
interface Separate {
  output: [{ stdout: string; stderr: string; outcome: { type: string; exit_code?: number } }];
}

/**
 * Runs commands and moves files on the shell's machine.
 *
 *     const { tools } = await createBashTool({ sandbox: sandbox(shell), destination: process.cwd() });
 */
export function sandbox(shell: Shell): Sandbox {
  return {
    async executeCommand(command) {
      const answer = await shell.call("shell", { commands: [command] }, { adapter: "openai-shell" });
      if (answer.structured === null) throw new ShellError(answer.content);
      const [{ stdout, stderr, outcome }] = (answer.structured as Separate).output;
      // As shells report it: 124 if the time limit ended the command.
      return { stdout, stderr, exitCode: outcome.exit_code ?? 124 };
    },
    async readFile(path) {
      return (await shell.readFile(path)).toString();
    },
    async writeFiles(files) {
      for (const { path, content } of files) {
        await shell.writeFile(path, content).catch(async (error: unknown) => {
          if (!(error instanceof ShellError) || error.code !== "not_found") throw error;
          await shell.run(`mkdir -p -- '${dirname(path).replaceAll("'", `'\\''`)}'`);
          await shell.writeFile(path, content);
        });
      }
    },
  };
}
