// The program as a child process, and the requests in flight.

import { spawn, type ChildProcess } from "node:child_process";
import { ShellError, ShellLost } from "./errors.js";
import { PendingDelta, type Delta } from "./deltas.js";

/** Requests that may be in flight; others are queued. The program accepts 256; the rest is for requests that end others. */
const MAX_IN_FLIGHT = 240;

/** The time that a child may take to exit after its stdin is closed: before SIGTERM, and before SIGKILL. */
const EXIT_TIMEOUT = 20_000;
const SIGTERM_TIMEOUT = 2_000;

const STDERR_TAIL_LENGTH = 4096;

export type Message = { [name: string]: any };

/** A request in flight. Unread updates are merged into one delta. */
export class Call {
  readonly answer: Promise<Message>;
  private pending = new PendingDelta();
  private changed: (() => void) | undefined;
  private over = false;
  resolve!: (message: Message) => void;
  reject!: (error: ShellError) => void;

  constructor(readonly id: number) {
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    const end = () => {
      this.over = true;
      this.changed?.();
    };
    this.answer.then(end, end);
  }

  update(message: Message): void {
    this.pending.add(message as Parameters<PendingDelta["add"]>[0]);
    this.changed?.();
  }

  /** The next delta; undefined after the response. */
  async delta(): Promise<Delta | undefined> {
    for (;;) {
      const delta = this.pending.take();
      if (delta !== undefined || this.over) return delta;
      await new Promise<void>((resolve) => (this.changed = resolve));
    }
  }
}

export interface Start {
  program: string;
  words: string[];
  cwd: string | undefined;
  env: { [name: string]: string | undefined } | undefined;
  onEvent: ((message: Message) => void) | undefined;
}

export class Connection {
  private readonly child: ChildProcess;
  private readonly calls = new Map<number, Call>();
  private readonly ended: Promise<void>;
  private lastId = 0;
  private permits = MAX_IN_FLIGHT;
  private queue: (() => void)[] = [];
  private unread: string[] = [];
  private stderrTail = "";
  private closing = false;
  private lost: ShellLost | undefined;

  constructor(private readonly start: Start) {
    const logs = "AGENT_BASH_LOG" in (start.env ?? process.env);
    this.child = spawn(start.program, start.words, {
      cwd: start.cwd,
      env: start.env ?? process.env,
      stdio: ["pipe", "pipe", logs ? "inherit" : "pipe"],
      // Ctrl-C at the terminal is for this process, which sends the child the requests to cancel.
      detached: true,
    });
    // The event `close` reports the exit.
    this.child.stdin!.on("error", () => {});
    this.child.stdout!.setEncoding("utf8").on("data", (chunk: string) => this.read(chunk));
    this.child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      this.stderrTail = (this.stderrTail + chunk).slice(-STDERR_TAIL_LENGTH);
    });
    this.ended = new Promise((resolve) => {
      this.child.on("error", (error) => {
        this.end(`cannot start ${start.program}: ${error.message}`);
        resolve();
      });
      this.child.on("close", (code, signal) => {
        const exitText = signal ? `was killed by ${signal}` : `ended with exit code ${code}`;
        const stderrTail = this.stderrTail.trim();
        this.end(`agent-bash ${exitText}${stderrTail ? `: ${stderrTail}` : ""}`);
        resolve();
      });
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** Sends a request once the queue allows it. A request that is aborted in the queue is not sent. */
  async begin(type: string, fields: object, signal?: AbortSignal): Promise<Call> {
    this.usable();
    if (this.permits > 0) this.permits -= 1;
    else await new Promise<void>((resolve) => this.queue.push(resolve));
    try {
      signal?.throwIfAborted();
      this.usable();
      const call = new Call(++this.lastId);
      const line = JSON.stringify({ ...fields, id: call.id, type });
      this.calls.set(call.id, call);
      call.answer.then(this.release, this.release);
      this.child.stdin!.write(line + "\n");
      return call;
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Cancels a request; its own response follows. */
  cancel(call: Call): void {
    if (this.calls.has(call.id) && !this.closing) {
      this.child.stdin!.write(JSON.stringify({ type: "cancel", target: call.id }) + "\n");
    }
  }

  /** Cancels a call and waits for its answer, with a timeout. */
  async settle(call: Call, cancelTimeout: number): Promise<Message | undefined> {
    this.cancel(call);
    const answered = await within(call.answer, cancelTimeout);
    if (this.calls.delete(call.id)) call.reject(new ShellError("the call was given up: its command does not end"));
    return answered;
  }

  /** Ends the child and waits for its exit: commands are cancelled, calls in flight answered. */
  async close(): Promise<void> {
    if (!this.closing) {
      this.closing = true;
      this.child.stdin!.end();
    }
    const timers = [
      setTimeout(() => this.child.kill("SIGTERM"), EXIT_TIMEOUT),
      setTimeout(() => this.child.kill("SIGKILL"), EXIT_TIMEOUT + SIGTERM_TIMEOUT),
    ];
    await this.ended;
    for (const timer of timers) clearTimeout(timer);
  }

  private usable(): void {
    if (this.lost) throw new ShellLost(this.lost.message);
    if (this.closing) throw new ShellError("this shell has been closed; open another");
  }

  private release = (): void => {
    const next = this.queue.shift();
    if (next) next();
    else this.permits += 1;
  };

  private read(chunk: string): void {
    const end = chunk.lastIndexOf("\n");
    if (end < 0) {
      this.unread.push(chunk);
      return;
    }
    const lines = this.unread.join("") + chunk.slice(0, end);
    this.unread = [chunk.slice(end + 1)];
    for (const line of lines.split("\n")) {
      let message: Message;
      try {
        message = JSON.parse(line);
      } catch {
        this.stderrTail = `it wrote an invalid message: ${line.slice(0, 200)}`;
        this.child.kill("SIGKILL");
        return;
      }
      this.handle(message);
    }
  }

  private handle(message: Message): void {
    const call = this.calls.get(message["id"]);
    if (message["type"] === "update") call?.update(message);
    else if (message["type"] === "response") {
      this.calls.delete(message["id"]);
      call?.resolve(message);
    } else this.start.onEvent?.(message);
  }

  private end(reason: string): void {
    this.lost ??= new ShellLost(reason);
    const unanswered = [...this.calls.values()];
    this.calls.clear();
    for (const call of unanswered) call.reject(new ShellLost(this.lost.message));
    while (this.queue.length > 0) this.release();
  }
}

/** The value of a promise within a time; undefined after that, or if the promise is rejected. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const passed = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)));
  try {
    return await Promise.race([promise.catch(() => undefined), passed]);
  } finally {
    clearTimeout(timer);
  }
}
