// `on`: the same calls on a target reached by a command.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AbortError, Shell } from "../src/index.js";
import { inWorld, type World } from "./world.js";

/** Configures a target `there`, which is another home on this machine. */
function target(world: World, command: string[]): void {
  const home = join(world.root, "there");
  mkdirSync(home);
  mkdirSync(join(world.root, ".config/agent-bash"), { recursive: true });
  writeFileSync(
    join(world.root, ".config/agent-bash/config.toml"),
    `[targets.there]
    transport = "command"
    command = ${JSON.stringify(command)}
    cwd = "${home}"
    directory = "${home}/program"
    env = { WHERE = "there" }`,
  );
}

inWorld("calls on a target end like local ones", async (world) => {
  target(world, ["/bin/sh", "-c", "{script}"]);
  await using sh = await Shell.open({ ...world.options, on: "there" });
  let r = await sh.run("echo $WHERE; pwd");
  assert.deepEqual([r.text, r.target], [`there\n${world.root}/there\n`, "there"]);
  r = await sh.run("echo out; exit 3");
  assert.deepEqual(r.status, { kind: "exited", code: 3 });
  const cancelled = sh.run("echo part; sleep 600", { signal: AbortSignal.timeout(2000) });
  await assert.rejects(cancelled, (error: AbortError) => error.result?.text.includes("part") ?? false);
});

inWorld("an unreachable target is an error", async (world) => {
  target(world, ["/bin/sh", "-c", "echo no way >&2; exit 9", "{script}"]);
  await using sh = await Shell.open({ ...world.options, on: "there" });
  const r = await sh.run("touch ran");
  assert.ok(r.status.kind === "not_started" && r.is_error && r.text.includes("no way"), r.text);
  await assert.rejects(Shell.open({ ...world.options, on: "nowhere" }), /nowhere/);
});
