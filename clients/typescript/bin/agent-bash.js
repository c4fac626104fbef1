#!/usr/bin/env node
// The program itself, for `npx agent-bash`.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { findProgram } from "../dist/program.js";

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
// A terminal sends these to the program as well, which decides what they mean; others are passed on.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("error", (error) => {
  console.error(`agent-bash cannot be started: ${error.message}`);
  process.exit(126);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));

function program() {
  try {
    return findProgram();
  } catch (error) {
    console.error(`agent-bash cannot be started: ${error.message}`);
    process.exit(127);
  }
}
