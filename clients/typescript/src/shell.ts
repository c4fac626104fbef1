// `Shell`: one conversation's shell, in its own child process.

import { Connection, type Call, type Message } from "./connection.js";
import type { Delta } from "./deltas.js";
import { AbortError, NoJob, ShellError } from "./errors.js";
import { findProgram } from "./program.js";
import type {
  AdapterCallData,
  ArtifactData,
  CallOptions,
  ChangesDoneData,
  ChangesGroupData,
  ChangesSetData,
  CheckData,
  DataByCommand,
  ExplainData,
  FileDiffData,
  FoundData,
  HelloData,
  JobData,
  JobKillData,
  JobOutputData,
  JobWaitData,
  PageData,
  RpcRequest,
  TerminalData,
  ToolResult,
  Until,
} from "./types.js";

/** The protocol version of this client. A program with another one answers with an error. */
const PROTOCOL = 1;

/** Bytes of a file in one request. */
const PIECE_BYTES = 4 * 1024 * 1024;

/** The time that a cancelled command may take to end before it is killed, in milliseconds, by profile. */
const GRACE: { [profile: string]: number } = { modes: 15_000 };
const DEFAULT_GRACE = 2_000;

export interface ShellOptions {
  /** The directory of commands. */
  cwd?: string;
  /** The machine or container, for example `docker:box`. */
  on?: string;
  /** The profile: the behaviour of calls and the format of their texts. */
  profile?: string;
  /** The name under which jobs and outputs are stored. */
  state?: string;
  /** The model's other tools. */
  otherTools?: string[];
  /** The complete environment. */
  env?: { [name: string]: string | undefined };
  /** A program to use instead of the packaged one. */
  program?: string;
  /** Further options of `agent-bash rpc`. */
  options?: string[];
  /** Receives unsolicited messages of the program, such as the end of a job. */
  onEvent?: (message: { [name: string]: unknown }) => void;
  /**
   * Asks the user for the input that a program of a running call needs, usually a password. Returns what the user typed, or
   * undefined if the user declines. Needs the setting `prompts.ask_user`. The command that asks gets the answer.
   */
  onPrompt?: (prompt: Prompt) => Promise<string | undefined> | string | undefined;
}

/** The call that a command is checked for. */
export interface CheckOptions {
  /** The persistent shell that would run the command. */
  session?: string;
  /** The working directory. */
  cwd?: string;
}

/** A program of a running call asks the user. */
export interface Prompt {
  /** The prompt's number. */
  prompt: number;
  /** The text of the program. */
  text: string;
  /** The process that asks, and processes above it: command line, program and pid. */
  askers: string[];
  /** The script of the call. */
  command: string;
}

export interface Abortable {
  /** Aborting it cancels the command, waits until it has ended, and rejects with an `AbortError` that has its result. */
  signal?: AbortSignal;
}

/** One change set, by its number or link; all since a number or a time such as `10m`; or all of a turn (`last`). */
export type ChangesChoice = number | string | { since: number | string } | { turn: string };

/** The last event of a stream. */
export interface Ended {
  type: "result";
  result: ToolResult;
}

/** The fields of a request of the protocol, by its type. */
type FieldsOf<T extends RpcRequest["type"]> = Omit<Extract<RpcRequest, { type: T }>, "type" | "id">;

/** The data of its response. */
type DataOf<T> = T extends keyof DataByCommand ? DataByCommand[T] : undefined;

/**
 * One conversation's shell, in its own child process. Calls may run at the same time; calls that name the same
 * `session` run one after another, in the same bash.
 */
export class Shell {
  private adapter: string | undefined;
  /** The program's answer to the handshake: its version, and the profile. */
  readonly hello!: HelloData;
  /**
   * The name of the agent's turn, to which the calls of `run`, `stream`, `start` and `call("bash", …)` belong from now
   * on. Then `undo({ turn })` undoes them together.
   */
  turn: string | undefined;

  private constructor(private readonly connection: Connection) {}

  /** Starts the program and waits until it answers. */
  static async open(options: ShellOptions = {}): Promise<Shell> {
    const words = ["rpc"];
    const named = { "--on": options.on, "--profile": options.profile, "--state": options.state };
    for (const [name, value] of Object.entries(named)) if (value !== undefined) words.push(name, value);
    if (options.otherTools) words.push("--tools", options.otherTools.join(","));
    const connection = new Connection({
      program: options.program ?? findProgram(),
      words: [...words, ...(options.options ?? [])],
      cwd: options.cwd,
      env: options.env,
      onEvent: (message) => {
        if (message["type"] === "prompt" && options.onPrompt) void shell.answer(message as never, options.onPrompt);
        else options.onEvent?.(message);
      },
    });
    const shell = new Shell(connection);
    try {
      (shell as { hello: HelloData }).hello = await shell.request("hello", {
        protocol: PROTOCOL,
        ...(options.onPrompt ? { prompts: true } : {}),
      });
    } catch (error) {
      await connection.close();
      throw error;
    }
    return shell;
  }

  private async answer(prompt: Prompt, ask: NonNullable<ShellOptions["onPrompt"]>): Promise<void> {
    let answer: string | undefined;
    try {
      answer = await ask(prompt);
    } catch (error) {
      console.error(error);
    }
    // A rejection: the program that asked has ended.
    await this.request("prompt.answer", { prompt: prompt.prompt, answer: answer ?? null }).catch(() => undefined);
  }

  /** Ends the program: running commands are cancelled, background jobs continue. */
  async close(): Promise<void> {
    await this.connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The pid of the program. */
  get pid(): number | undefined {
    return this.connection.pid;
  }

  /** Runs a command and returns its result. A failed command has a result, too. */
  async run(command: string, { signal, ...options }: CallOptions & Abortable = {}): Promise<ToolResult> {
    return this.request("tool_call", { request: { ...options, command }, turn: this.turn }, { signal });
  }

  /** Runs a command; iterates over its live output, then its result. Leaving the loop early cancels the command. */
  stream(command: string, { signal, ...options }: CallOptions & Abortable = {}): Stream {
    const call = { request: { ...options, command }, turn: this.turn, stream: "delta" };
    return new Stream(this.connection, call, signal, this.cancelTimeout);
  }

  /** Starts a command in the background. */
  async start(command: string, options: CallOptions & Abortable = {}): Promise<Job> {
    const result = await this.run(command, { ...options, mode: "background" });
    if (result.status.kind !== "moved_to_background") throw new NoJob(result);
    return new Job(this, result.status.job, result);
  }

  /** Starts a command on a terminal of `size` (`80x24`). Resolves when its first screen is quiet. */
  async terminal(
    command: string,
    { signal, size, ...options }: CallOptions & { size?: string } & Abortable = {},
  ): Promise<Terminal> {
    const request = { ...options, command };
    return new Terminal(this, await this.request("terminal.start", { request, size }, { signal }));
  }

  /** The tool definitions of an adapter for a model. `call` refers to these tools from now on. */
  async tools(adapter?: string): Promise<{ [name: string]: any }[]> {
    const data = await this.request("schema", { adapter: adapter ?? null });
    this.adapter = adapter;
    return "tools" in data ? (data.tools as { [name: string]: any }[]) : [data];
  }

  /** Passes on a model's call of one of the adapter's tools, unchanged. */
  async call(
    tool: string,
    input: unknown,
    { adapter = this.adapter, signal }: { adapter?: string } & Abortable = {},
  ): Promise<AdapterCallData> {
    if (adapter !== undefined) return this.request("adapter_call", { adapter, tool, input }, { signal });
    if (tool !== "bash") {
      throw new ShellError(
        `no tool "${tool}": without an adapter there is \`bash\`; name one, as in tools("codex"), or pass adapter`,
      );
    }
    const result = await this.request("tool_call", { request: input, turn: this.turn }, { signal });
    return { content: result.text, is_error: result.is_error, structured: null, result };
  }

  /** A stored output, by its number, its link, or its path. */
  artifact(artifact: number | string): Artifact {
    return new Artifact(this, artifact);
  }

  async artifacts(): Promise<ArtifactData[]> {
    return (await this.request("artifact.list")).artifacts;
  }

  /** A background job, by its number. */
  job(job: number | string): Job {
    return new Job(this, String(job));
  }

  /** The background jobs; with `port`, those that listen on it. */
  async jobs({ port }: { port?: number } = {}): Promise<JobData[]> {
    return (await this.request("jobs.list", { port })).jobs;
  }

  /** The recorded change sets, oldest first. */
  async changes(): Promise<ChangesSetData[]> {
    return (await this.request("changes.list")).sets;
  }

  /** The differences of a change set's files; with `paths`, of those files. */
  async diff(changes: number | string, { paths }: { paths?: string[] } = {}): Promise<FileDiffData[]> {
    return (await this.request("changes.diff", { changes: String(changes), paths })).files;
  }

  /**
   * Puts the files of a change set, or of several, back. A `ShellError` with the code `conflict` names files that were
   * changed later; `partial` leaves those as they are. `paths` limits the undo of one change set to these files.
   */
  async undo(
    choice: ChangesChoice,
    { paths, partial }: { paths?: string[]; partial?: boolean } = {},
  ): Promise<ChangesDoneData | ChangesGroupData> {
    if (typeof choice !== "object") return this.request("changes.undo", { changes: String(choice), paths, partial });
    return this.request("changes.undo_all", { ...groupFields(choice), partial });
  }

  /** Makes undone changes again. */
  async redo(choice: ChangesChoice): Promise<ChangesDoneData | ChangesGroupData> {
    if (typeof choice !== "object") return this.request("changes.redo", { changes: String(choice) });
    return this.request("changes.redo_all", groupFields(choice));
  }

  /** Applies the changes that a trial has held. */
  async commit(changes: number | string): Promise<ChangesDoneData> {
    return this.request("changes.commit", { changes: String(changes) });
  }

  /** Drops the changes that a trial has held. */
  async discard(changes: number | string): Promise<ChangesDoneData> {
    return this.request("changes.discard", { changes: String(changes) });
  }

  /** Returns whether a command would be refused, and why. Does not run it. */
  async check(command: string, { session, cwd }: CheckOptions = {}): Promise<CheckData> {
    return this.request("check", { command, session, cwd });
  }

  /** Returns how a command is parsed, and the decision of each rule. Does not run it. */
  async explain(command: string, { session, cwd }: CheckOptions = {}): Promise<ExplainData> {
    return this.request("explain", { command, session, cwd });
  }

  /** The content of a file on the machine that runs the commands. */
  async readFile(path: string): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let offset = 0; ; ) {
      const piece = await this.request("file.read", { path, offset });
      pieces.push(Buffer.from(piece.data, "base64"));
      offset += pieces.at(-1)!.length;
      if (piece.at_end) return Buffer.concat(pieces);
    }
  }

  /** Replaces a file atomically. Its directory must exist. */
  async writeFile(path: string, content: Buffer | string, { mode }: { mode?: number } = {}): Promise<void> {
    const bytes = Buffer.from(content);
    let upload: number | null | undefined;
    for (let start = 0; start === 0 || start < bytes.length; start += PIECE_BYTES) {
      const data = bytes.subarray(start, start + PIECE_BYTES).toString("base64");
      const more = start + PIECE_BYTES < bytes.length;
      ({ upload } = await this.request("file.write", { path, data, mode, more, upload }));
    }
  }

  /** Sends any request of the protocol; returns its data. */
  async request<T extends RpcRequest["type"]>(
    type: T,
    ...[fields, { signal } = {}]: {} extends FieldsOf<T>
      ? [fields?: FieldsOf<T>, options?: Abortable]
      : [fields: FieldsOf<T>, options?: Abortable]
  ): Promise<DataOf<T>> {
    if (signal?.aborted) throw new AbortError(undefined, signal.reason);
    let call: Call;
    try {
      call = await this.connection.begin(type, fields ?? {}, signal);
    } catch (error) {
      throw signal?.aborted ? new AbortError(undefined, signal.reason) : error;
    }
    return dataOf(await abortable(this.connection, call, signal, this.cancelTimeout)) as DataOf<T>;
  }

  /** The time to wait for the answer of a cancelled call, in milliseconds. */
  private get cancelTimeout(): number {
    return (GRACE[this.hello?.profile] ?? DEFAULT_GRACE) + 2_000;
  }
}

/** The fields of a request for several change sets. */
function groupFields(choice: { since: number | string } | { turn: string }): { since?: string; turn?: string } {
  return "since" in choice ? { since: String(choice.since) } : choice;
}

/** The data of a response, or its error. */
function dataOf(message: Message): unknown {
  if (!message["success"]) throw new ShellError(message["error"], message["code"]);
  return message["data"];
}

/** The result in a response to a call; undefined for other requests. */
function partial(message: Message | undefined): ToolResult | undefined {
  if (!message?.["success"]) return undefined;
  if (message["command"] === "adapter_call") return message["data"].result ?? undefined;
  return message["command"] === "tool_call" ? message["data"] : undefined;
}

/** The answer of a call, or, once the signal is aborted and the command has ended, an `AbortError` with its result. */
async function abortable(
  connection: Connection,
  call: Call,
  signal: AbortSignal | undefined,
  cancelTimeout: number,
): Promise<Message> {
  if (!signal) return call.answer;
  let abort!: () => void;
  const aborted = new Promise<void>((resolve) => (abort = () => resolve()));
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  try {
    const message = await Promise.race([call.answer, aborted]);
    if (message) return message;
  } finally {
    signal.removeEventListener("abort", abort);
  }
  throw new AbortError(partial(await connection.settle(call, cancelTimeout)), signal.reason);
}

/**
 * The output of a running command: live deltas, then the result. A slow consumer gets fewer and
 * longer ones. Leaving the loop early cancels the command and waits until it has ended; then `result` has the partial result.
 */
export class Stream implements AsyncIterableIterator<Delta | Ended> {
  /** The result, once the command has ended. */
  result: ToolResult | undefined;
  private call: Call | undefined;
  private over = false;

  /** @internal */
  constructor(
    private readonly connection: Connection,
    private readonly fields: object,
    private readonly signal: AbortSignal | undefined,
    private readonly cancelTimeout: number,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Delta | Ended, undefined>> {
    if (this.over) return { done: true, value: undefined };
    try {
      return { done: false, value: await this.event() };
    } catch (error) {
      if (!this.signal?.aborted) {
        this.over = true;
        throw error;
      }
      await this.return();
      throw new AbortError(this.result, this.signal.reason);
    }
  }

  /** Cancels the command, if it still runs, and waits until it has ended. */
  async return(): Promise<IteratorResult<Delta | Ended, undefined>> {
    if (!this.over) {
      this.over = true;
      if (this.call) this.result = partial(await this.connection.settle(this.call, this.cancelTimeout));
    }
    return { done: true, value: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  private async event(): Promise<Delta | Ended> {
    this.signal?.throwIfAborted();
    this.call ??= await this.connection.begin("tool_call", this.fields, this.signal);
    const delta = await this.untilAborted(this.call.delta());
    if (delta) return delta;
    this.result = dataOf(await this.call.answer) as ToolResult;
    this.over = true;
    return { type: "result", result: this.result };
  }

  private async untilAborted<T>(promise: Promise<T>): Promise<T> {
    const signal = this.signal;
    if (!signal) return promise;
    let abort!: () => void;
    const aborted = new Promise<never>((_, reject) => (abort = () => reject(signal.reason)));
    signal.addEventListener("abort", abort);
    try {
      return await Promise.race([promise, aborted]);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }
}

/** A background job. It outlives the shell that started it. */
export class Job {
  /** @internal */
  constructor(
    private readonly shell: Shell,
    readonly id: string,
    /** The answer to `start`, if this object started the job. */
    readonly result?: ToolResult,
  ) {}

  /** The state of the job: running, or how it ended. */
  show(): Promise<JobData> {
    return this.shell.request("jobs.show", { job: this.id });
  }

  /** The job's output: from a byte on, or the last lines. */
  output(part: { offset?: number; tail?: number } = {}): Promise<JobOutputData> {
    return this.shell.request("jobs.output", { ...part, job: this.id });
  }

  /**
   * Waits until the job has ended, or until one of the conditions `line` (a regular expression, from byte `offset` of
   * the output on), `port` and `file` is met. Aborting the wait does not end the job.
   */
  wait({
    signal,
    ...wait
  }: { timeout?: number | string; until?: Until; offset?: number } & Abortable = {}): Promise<JobWaitData> {
    return this.shell.request("jobs.wait", { ...wait, job: this.id }, { signal });
  }

  /** Ends the job with all its processes. */
  kill(grace?: number | string): Promise<JobKillData> {
    return this.shell.request("jobs.kill", { job: this.id, grace });
  }

  /** Writes to the job's stdin, if it was started with `stdin: "pipe"`. */
  input(text: string, { close = false } = {}): Promise<JobData> {
    return this.shell.request("jobs.input", { job: this.id, text, close });
  }
}

/**
 * A command on a terminal. It ends with the shell that started it. Each method returns a `TerminalData`: `screen`,
 * with the lines as `text`, and after the command's end its `result`.
 */
export class Terminal {
  /** @internal */
  constructor(
    private readonly shell: Shell,
    /** The last answer. */
    public data: TerminalData,
    /** The terminal's name; undefined if the command ended at once. */
    readonly id: string | undefined = data.terminal ?? undefined,
  ) {}

  /** The lines of the last answer's screen. */
  get text(): string {
    return this.data.screen?.text ?? "";
  }

  /** Types a text, and then presses keys. Resolves when the screen is quiet. */
  send(text: string, ...keys: string[]): Promise<TerminalData> {
    return this.input({ text, keys });
  }

  /** Presses keys by name, such as `Enter`, `C-c`, `Up`, `F1`. Resolves when the screen is quiet. */
  keys(...names: string[]): Promise<TerminalData> {
    return this.input({ keys: names });
  }

  /** Sets columns and rows, such as `120x40`. */
  resize(size: string): Promise<TerminalData> {
    return this.input({ size });
  }

  /** The screen now, or when one of the conditions of `Job.wait` is met. Aborting does not end the command. */
  async screen({
    signal,
    ...wait
  }: { until?: Until; timeout?: number | string } & Abortable = {}): Promise<TerminalData> {
    return (this.data = await this.shell.request("terminal.screen", { ...wait, terminal: this.name }, { signal }));
  }

  /** Waits until nothing was drawn for so many milliseconds. */
  waitUntilQuiet(ms = 500, wait: { timeout?: number | string } & Abortable = {}): Promise<TerminalData> {
    return this.screen({ ...wait, until: { quiet_ms: ms } });
  }

  /** Ends the command with all its processes, if it still runs. */
  async end(): Promise<TerminalData> {
    if (this.id === undefined || this.data.result) return this.data;
    return (this.data = await this.shell.request("terminal.end", { terminal: this.id }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }

  private async input(input: { text?: string; keys?: string[]; size?: string }): Promise<TerminalData> {
    return (this.data = await this.shell.request("terminal.input", { ...input, terminal: this.name }));
  }

  private get name(): string {
    if (this.id === undefined) throw new ShellError("the command has ended: `data` has its result");
    return this.id;
  }
}

/** A stored output. */
export class Artifact {
  /** @internal */
  constructor(
    private readonly shell: Shell,
    readonly artifact: number | string,
  ) {}

  /** A page of the output, by lines. */
  show(part: { offset?: number; limit?: number; tail?: number; byte?: number } = {}): Promise<PageData> {
    return this.shell.request("artifact.show", { ...part, artifact: this.artifact });
  }

  /** The lines that match a regular expression, numbered. */
  grep(
    pattern: string,
    part: { context?: number; offset?: number; limit?: number } = {},
  ): Promise<FoundData> {
    return this.shell.request("artifact.grep", { ...part, artifact: this.artifact, pattern });
  }
}
