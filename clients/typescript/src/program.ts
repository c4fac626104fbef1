// Finds the program and builds its command line.

import { accessSync, closeSync, constants, openSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { ShellError } from "./errors.js";

/** The variable that names a program to use instead of the packaged one. */
const VARIABLE = "AGENT_BASH_PROGRAM";

/** The packaged program; without one (a checkout), the first program on the `PATH` that is not a script. */
export function findProgram(): string {
  const named = process.env[VARIABLE];
  if (named) return named;
  const carrier = `@agent-bash/${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${carrier}/bin/agent-bash`);
  } catch {
    // Not installed, or not made for this platform.
  }
  for (const directory of (process.env["PATH"] ?? "").split(delimiter)) {
    const program = join(directory, "agent-bash");
    if (directory && isProgram(program)) return program;
  }
  throw new ShellError(
    `the program agent-bash is neither in the package ${carrier} nor on the PATH, where scripts are ignored; install ` +
      "this package with its optional dependencies, which exist for Linux on x64 and arm64, or name the program in " +
      VARIABLE,
  );
}

/** True for an executable file that is not a script. The launcher of this package is one, and would start itself. */
function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    const start = Buffer.alloc(2);
    const file = openSync(path, "r");
    try {
      readSync(file, start);
    } finally {
      closeSync(file);
    }
    return start.toString("latin1") !== "#!";
  } catch {
    return false;
  }
}
