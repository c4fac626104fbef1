// The ends of calls, including cancelled ones.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AbortError, NoJob, Shell, ShellError, ShellLost, type Delta, type Ended, type Prompt } from "../src/index.js";
import { Connection } from "../src/connection.js";
import { inShell, inWorld, until } from "./world.js";

inShell("success, failure, timeout and refusal are results", async (sh, world) => {
  let r = await sh.run("printf 'one\\ntwo\\n'; pwd");
  assert.deepEqual([r.text, r.is_error, r.status], [`one\ntwo\n${world.work}\n`, false, { kind: "exited", code: 0 }]);
  r = await sh.run("echo out; exit 3");
  assert.deepEqual([r.status, r.is_error], [{ kind: "exited", code: 3 }, true]);
  r = await sh.run("echo before; sleep 60", { timeout: "1s" });
  assert.ok(r.status.kind === "timed_out" && r.text.includes("before"));
  r = await sh.run("git add -A && git commit -m wip");
  assert.ok(r.status.kind === "blocked" && r.rule);
  r = await sh.run("pwd; echo $A", { cwd: "/", env: { A: "b" } });
  assert.equal(r.text, "/\nb\n");
});

inShell("a terminal is typed into and read", async (sh) => {
  const term = await sh.terminal("read -p 'Name: ' n; echo \"Hello $n\"; sleep 600", { size: "60x12" });
  await term.screen({ until: { line: "^Name:" }, timeout: 50 });
  assert.equal(term.text, "Name:");
  await term.send("Ann", "Enter");
  await term.screen({ until: { line: "^Hello" }, timeout: 50 });
  assert.equal(term.text, "Name: Ann\nHello Ann");
  assert.deepEqual((await term.waitUntilQuiet(100)).met, { kind: "quiet", ms: 100 });
  await assert.rejects(term.keys("Entr"), /names no key/);
  assert.equal((await term.end()).result?.status.kind, "cancelled");
  const ended = await sh.terminal("exit 3");
  assert.deepEqual([ended.id, ended.data.result?.status], [undefined, { kind: "exited", code: 3 }]);
  await assert.rejects(ended.keys("Enter"), ShellError);
});

inShell("an aborted call ends and leaves its output", async (sh, world) => {
  const controller = new AbortController();
  const call = sh.run("echo part; touch begun; sleep 600", { signal: controller.signal });
  await world.begun();
  controller.abort("enough");
  await assert.rejects(call, (error: AbortError) => {
    assert.equal(error.name, "AbortError");
    assert.equal(error.cause, "enough");
    assert.equal(error.result?.status.kind, "cancelled");
    return error.result?.text.includes("part") ?? false;
  });
  await assert.rejects(sh.run("touch never", { signal: controller.signal }), AbortError);
  assert.equal(world.read("never"), undefined);
});

inShell("without the wait the partial output is missing", async (sh, world) => {
  const settle = Connection.prototype.settle;
  Connection.prototype.settle = async function (call) {
    this.cancel(call);
    return undefined;
  };
  try {
    const controller = new AbortController();
    const call = sh.run("echo part; touch begun; sleep 600", { signal: controller.signal });
    await world.begun();
    controller.abort();
    await assert.rejects(call, (error: AbortError) => error.result === undefined);
  } finally {
    Connection.prototype.settle = settle;
  }
});

inShell("a stream has deltas and at last the result", async (sh) => {
  const events: (Delta | Ended)[] = [];
  for await (const event of sh.stream("for i in 1 2 3; do echo $i; sleep 0.2; done; exit 4")) events.push(event);
  const last = events.pop();
  assert.ok(last?.type === "result");
  assert.deepEqual(last.result.status, { kind: "exited", code: 4 });
  const texts = events.map((event) => (event.type === "delta" ? event.text : "?"));
  assert.equal(texts.join(""), "1\n2\n3\n");
  assert.ok(texts.length >= 2);
});

inShell("a stream left early is cancelled", async (sh, world) => {
  const stream = sh.stream("echo $$ > pid; echo part; sleep 600");
  for await (const _ of stream) break;
  assert.ok(stream.result?.status.kind === "cancelled" && stream.result.text.includes("part"));
});

inShell("a stream whose signal is aborted leaves its output", async (sh, world) => {
  const controller = new AbortController();
  const read = async () => {
    for await (const _ of sh.stream("echo part; touch begun; sleep 600", { signal: controller.signal }));
  };
  const reading = read();
  await world.begun();
  controller.abort();
  await assert.rejects(reading, (error: AbortError) => error.result?.text.includes("part") ?? false);
});

inShell("a slow consumer gets fewer and longer deltas", async (sh) => {
  const texts: string[] = [];
  for await (const event of sh.stream("for i in $(seq 40); do echo line $i; sleep 0.05; done")) {
    if (event.type === "delta") {
      texts.push(event.text);
      await sleep(500);
    }
  }
  const lines = Array.from({ length: 40 }, (_, i) => `line ${i + 1}\n`);
  assert.equal(texts.join(""), lines.join(""));
  assert.ok(texts.length <= 8, "there was one for each update");
});

inWorld("a lost child fails every call and nothing is retried", async (world) => {
  const sh = await Shell.open(world.options);
  const calls = [sh.run("echo >> ran; touch begun; sleep 600"), sh.run("sleep 600")];
  const stream = sh.stream("echo part; sleep 600");
  await stream.next();
  await world.begun();
  process.kill(sh.pid!, "SIGKILL");
  for (const call of calls) await assert.rejects(call, (e) => e instanceof ShellLost && /SIGKILL/.test(e.message));
  await assert.rejects(stream.next(), ShellLost);
  await assert.rejects(sh.run("echo again"), ShellLost);
  assert.equal(world.read("ran"), "\n");
  await sh.close();
});

inWorld("a program that does not start is an error with the reason", async (world) => {
  await assert.rejects(Shell.open({ ...world.options, profile: "no-such-profile" }), /no-such-profile/);
  await assert.rejects(Shell.open({ ...world.options, program: "/no/such/program" }), /cannot start \/no\/such/);
});

inShell("jobs, tools, artifacts", async (sh) => {
  let job = await sh.start("cat; echo over", { stdin: "pipe" });
  await job.input("typed\n", { close: true });
  assert.ok((await job.wait({ timeout: 10 })).over);
  assert.equal((await job.output()).text, "typed\nover\n");
  job = await sh.start("echo ready; sleep 600");
  const waited = await job.wait({ timeout: 10, until: { line: "^ready" } });
  assert.deepEqual(waited.met, { kind: "line", line: "ready" });
  assert.equal(waited.output, "ready\n");
  assert.deepEqual(await sh.jobs({ port: 1 }), []);
  assert.equal((await job.kill()).job.state.kind, "ended");
  await assert.rejects(sh.start("git add -A"), NoJob);

  assert.deepEqual((await sh.tools()).map((tool) => tool["name"]), ["bash"]);
  assert.ok((await sh.call("bash", { command: "exit 3" })).is_error);
  await assert.rejects(sh.call("exec_command", {}), ShellError);
  await sh.tools("codex");
  assert.match((await sh.call("exec_command", { cmd: "echo said" })).content, /said/);

  const r = await sh.run("seq 30000");
  const artifact = sh.artifact(r.artifacts[0]!.id);
  assert.equal((await artifact.grep("^2999[89]$")).text, "29998:29998\n29999:29999\n");
  assert.equal((await artifact.show({ tail: 1 })).text, "30000\n");
  assert.equal((await sh.check("git add -A")).verdict, "block");
  const explained = await sh.explain("cd src && git add -A", { cwd: "/tmp" });
  assert.ok(explained.verdict.rule && explained.text.includes("in /tmp/src"));
});

inWorld("closing ends running commands", async (world) => {
  const sh = await Shell.open(world.options);
  const call = sh.run("echo part; touch begun; sleep 600");
  await world.begun();
  await sh.close();
  assert.equal((await call).status.kind, "cancelled");
  await assert.rejects(sh.run("true"), ShellError);
});

inShell("more calls than the program takes wait for their turn", async (sh) => {
  const answers = await Promise.all(Array.from({ length: 2000 }, () => sh.request("jobs.list")));
  assert.equal(answers.length, 2000);
});

inWorld("unsolicited messages are passed on", async (world) => {
  const program = join(world.root, "newer.mjs");
  writeFileSync(
    program,
    `#!${process.execPath}
    import { createInterface } from "node:readline";
    createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, type: command } = JSON.parse(line);
      const data = { version: "9", profile: "new", tools: null, field: "new" };
      for (const message of [{ type: "news", of: 1 }, { type: "response", id, command, success: true, data, more: 1 }])
        console.log(JSON.stringify(message));
    });`,
    { mode: 0o755 },
  );
  const events: unknown[] = [];
  const sh = await Shell.open({ ...world.options, program, onEvent: (message) => events.push(message) });
  assert.equal((sh.hello as { field?: string }).field, "new");
  await sh.close();
  assert.deepEqual(events, [{ type: "news", of: 1 }]);
});

inShell("a child that stops reading does not stop the caller", async (sh) => {
  process.kill(sh.pid!, "SIGSTOP");
  const calls = [sh.run("true # " + "x".repeat(1_000_000)), sh.run("echo here")];
  await sleep(200);
  process.kill(sh.pid!, "SIGCONT");
  assert.equal((await Promise.all(calls))[1]!.text, "here\n");
});

inShell("files are moved as they are", async (sh, world) => {
  const content = randomBytes(5_000_000);
  await sh.writeFile("a.bin", content, { mode: 0o600 });
  assert.deepEqual(await sh.readFile("a.bin"), content);
  await sh.writeFile("empty", "");
  assert.equal(world.read("empty"), "");
  await assert.rejects(sh.readFile("missing"), { code: "not_found" });
});

inWorld("the end of a job is reported", async (world) => {
  const events: { [name: string]: any }[] = [];
  const sh = await Shell.open({ ...world.options, onEvent: (message) => events.push(message) });
  const job = await sh.start("sleep 0.5");
  await until(() => events.length > 0);
  assert.deepEqual([events[0]!["type"], events[0]!["job"].id], ["job_ended", job.id]);
  await sh.close();
});

inWorld("the prompt of a command is answered or declined", async (world) => {
  const env = { ...world.options.env, AGENT_BASH_PROMPTS_ASK_USER: "on" };
  const prompts: Prompt[] = [];
  const onPrompt = async (prompt: Prompt) => {
    prompts.push(prompt);
    return prompt.text === "Password: " ? "typed" : undefined;
  };
  const sh = await Shell.open({ ...world.options, env, onPrompt });
  const command = `"$GIT_ASKPASS" 'Password: '`;
  assert.equal((await sh.run(command)).text, "typed\n");
  assert.equal(prompts[0]!.command, command);
  assert.ok((await sh.run(`"$GIT_ASKPASS" 'Other: '`)).is_error);
  await sh.close();
});

inShell("changes are undone singly, since one, and by turn", async (sh, world) => {
  writeFileSync(join(world.work, "a"), "1\n");
  sh.turn = "first";
  const one = (await sh.run("echo 2 > a")).changes!;
  await sh.run("echo new > b");
  sh.turn = "second";
  await sh.run("echo 3 > a; echo later > c");
  assert.deepEqual((await sh.changes()).map((set) => set.turn), ["first", "first", "second"]);
  assert.match((await sh.diff(one.id!, { paths: ["a"] }))[0]!.diff!, /-1/);

  await assert.rejects(sh.undo(one.id!), (error: ShellError) => error.code === "conflict");
  assert.equal(world.read("a"), "3\n");
  await sh.undo({ turn: "last" });
  assert.deepEqual([world.read("a"), world.read("c")], ["2\n", undefined]);
  await sh.redo({ turn: "second" });
  assert.equal(world.read("c"), "later\n");
  await sh.undo({ since: one.id! });
  assert.deepEqual([world.read("a"), world.read("b"), world.read("c")], ["1\n", undefined, undefined]);

  await sh.discard((await sh.run("echo held > d", { trial: true })).changes!.id!);
  const held = (await sh.run("echo held > e", { trial: true })).changes!.id!;
  assert.equal(world.read("e"), undefined);
  await sh.commit(held);
  assert.deepEqual([world.read("d"), world.read("e")], [undefined, "held\n"]);
});
