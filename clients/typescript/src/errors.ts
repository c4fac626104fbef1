// The errors of the shell itself. A failed command is not an error but a result.

import type { ToolResult } from "./types.js";

/**
 * The program refused a request, cannot be found, or was used in a way that cannot work. `code` is the kind of error,
 * where a program can do something about it: `not_found`, `protocol`, ….
 */
export class ShellError extends Error {
  override name = "ShellError";

  constructor(
    message: string,
    readonly code?: string,
  ) {
    super(message);
  }
}

/** The program has ended. Every call in flight fails with this error; none is retried. */
export class ShellLost extends ShellError {
  override name = "ShellLost";
}

/**
 * `start` returns no job: a check refused the command, it could not be started, or it has ended already. `result`
 * says which.
 */
export class NoJob extends ShellError {
  override name = "NoJob";

  constructor(readonly result: ToolResult) {
    super(result.text);
  }
}

/** The signal of a call was aborted. The command has ended, and `result` has what it printed so far. */
export class AbortError extends Error {
  override name = "AbortError";
  readonly code = "ABORT_ERR";

  constructor(
    readonly result: ToolResult | undefined,
    reason: unknown,
  ) {
    super("The call was aborted", { cause: reason });
  }
}
