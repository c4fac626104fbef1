// An isolated world for every test, with a check for leftovers.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Shell, type ShellOptions } from "../src/index.js";

const MARK = "AGENT_BASH_CLIENT_TEST";

export class World {
  readonly root = mkdtempSync(join(tmpdir(), "agent-bash-client-"));
  readonly work = join(this.root, "work");
  readonly mark = randomUUID();
  readonly options: ShellOptions = {
    cwd: this.work,
    env: {
      HOME: this.root,
      LANG: "C.UTF-8",
      PATH: "/usr/local/bin:/usr/bin:/bin",
      TMPDIR: this.root,
      XDG_STATE_HOME: join(this.root, "state"),
      XDG_RUNTIME_DIR: this.root,
      [MARK]: this.mark,
    },
  };

  constructor() {
    mkdirSync(this.work);
  }

  /** The living processes with the mark. */
  processes(): string[] {
    const wanted = `${MARK}=${this.mark}`;
    return readdirSync("/proc").filter((entry) => {
      if (!/^\d+$/.test(entry)) return false;
      try {
        return readFileSync(`/proc/${entry}/environ`, "utf8").split("\0").includes(wanted);
      } catch {
        return false;
      }
    });
  }

  read(name: string): string | undefined {
    try {
      return readFileSync(join(this.work, name), "utf8");
    } catch {
      return undefined;
    }
  }

  /** Waits until the command under test reports that it runs. */
  begun(): Promise<void> {
    return until(() => this.read("begun") !== undefined);
  }
}

export async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries += 1) {
    assert.ok(tries < 1000, "still not so after 20 s");
    await sleep(20);
  }
}

/** A test in its own world, with a census at the end. */
export function inWorld(name: string, body: (world: World) => Promise<void>): void {
  test(name, { timeout: 60_000 }, async () => {
    const world = new World();
    try {
      await body(world);
      await until(() => world.processes().length === 0);
    } finally {
      rmSync(world.root, { recursive: true, force: true });
    }
  });
}

/** As `inWorld`, with a shell. */
export function inShell(name: string, body: (sh: Shell, world: World) => Promise<void>): void {
  inWorld(name, async (world) => {
    await using sh = await Shell.open(world.options);
    await body(sh, world);
  });
}
