// Performs the steps of a conformance case with the TypeScript client. Reads one step per line, and answers each.

import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const [client, profile, tools] = process.argv.slice(2);
const { AbortError, Shell, ShellError } = await import(client);

/** A call of the tool, or of an adapter's tool. */
async function call(shell, step) {
  const { adapter, tool, request } = step;
  if (adapter) {
    const { content, is_error, structured, result } = await shell.call(tool, request, { adapter });
    return { text: content, is_error, structured, result };
  }
  shell.turn = step.turn ?? undefined;
  if (!step.may_reword) return { result: (await shell.call("bash", request)).result };
  const { command, ...options } = request;
  const controller = new AbortController();
  let over = false;
  const running = shell.run(command, { ...options, signal: controller.signal }).finally(() => (over = true));
  running.catch(() => {});
  while (step.cancel_when && !over) {
    if (existsSync(step.cancel_when)) {
      controller.abort();
      break;
    }
    await sleep(20);
  }
  try {
    return { result: await running };
  } catch (error) {
    if (error instanceof AbortError) return { result: error.result };
    throw error;
  }
}

async function act(shell, action) {
  const [[name, words]] = Object.entries(action);
  if (name === "undo" || name === "redo") {
    const { partial, changes, ...several } = words;
    return shell[name](changes ?? several, { partial });
  }
  if (name === "wait") {
    const data = await shell.job(words.job).wait({ timeout: words.seconds, until: words.until });
    return { text: data.output, ...data };
  }
  if (name === "jobs") return { jobs: await shell.jobs({ port: Number(words.port) }) };
  if (name === "kill") return shell.job(words.job).kill();
  const terminal = await shell.terminal(words.command, { size: words.size });
  for (const { until, text, keys } of words.input) {
    await line(terminal, until);
    await terminal.send(text, ...keys);
  }
  const { screen } = await line(terminal, words.until);
  await terminal.end();
  return { text: screen.text, screen };
}

/** Waits for a line of the screen. */
async function line(terminal, pattern) {
  const data = await terminal.screen({ until: { line: pattern }, timeout: 50 });
  if (!data.met) throw new Error(`no line is ${pattern}: ${JSON.stringify(data)}`);
  return data;
}

let answers = [];
const shell = await Shell.open({
  profile,
  otherTools: JSON.parse(tools) ?? undefined,
  // Without an answer, the user declines.
  onPrompt: async () => answers.shift(),
});
for await (const text of createInterface({ input: process.stdin })) {
  const step = JSON.parse(text);
  answers = step.answers ?? [];
  let answer;
  try {
    if (step.action) {
      const data = await act(shell, step.action);
      answer = { text: data.text ?? "", data, is_error: false };
    } else {
      answer = await call(shell, step);
    }
  } catch (error) {
    if (!(error instanceof ShellError)) throw error;
    answer = { text: error.message, is_error: true };
  }
  console.log(JSON.stringify(answer));
}
await shell.close();
