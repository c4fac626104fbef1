// The shell runtime for coding agents.

export type { Delta } from "./deltas.js";
export { AbortError, NoJob, ShellError, ShellLost } from "./errors.js";
export { findProgram } from "./program.js";
export { Artifact, Job, Shell, Stream, Terminal } from "./shell.js";
export type { Abortable, CheckOptions, Ended, Prompt, ShellOptions } from "./shell.js";
export type * from "./types.js";
