// Which program is found.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { findProgram, ShellError } from "../src/index.js";

test("a script on the PATH, such as the launcher of this package, is not the program", () => {
  const root = mkdtempSync(join(tmpdir(), "agent-bash-client-"));
  const { AGENT_BASH_PROGRAM, PATH } = process.env;
  try {
    const [scripts, programs] = [join(root, "scripts"), join(root, "programs")];
    mkdirSync(scripts);
    mkdirSync(programs);
    writeFileSync(join(scripts, "agent-bash"), "#!/usr/bin/env node\n", { mode: 0o755 });
    delete process.env["AGENT_BASH_PROGRAM"];
    process.env["PATH"] = scripts;
    assert.throws(findProgram, ShellError);
    symlinkSync(process.execPath, join(programs, "agent-bash"));
    process.env["PATH"] = [scripts, programs].join(delimiter);
    assert.equal(findProgram(), join(programs, "agent-bash"));
  } finally {
    process.env["PATH"] = PATH;
    if (AGENT_BASH_PROGRAM !== undefined) process.env["AGENT_BASH_PROGRAM"] = AGENT_BASH_PROGRAM;
    rmSync(root, { recursive: true, force: true });
  }
});
