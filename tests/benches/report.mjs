// How long a browser takes to show and to filter the report of 2,000 calls:
//
//     node --experimental-websocket tests/benches/report.mjs target/release/agent-bash
//
// Real calls, recorded in a home of their own; Chromium, without a window, driven by its DevTools protocol.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const CALLS = 2000;
const ROUNDS = 20;
const COMMANDS = [
  "echo $RANDOM > a; seq 40",
  "printf '\\033[31merror\\033[0m: it failed\\n%.0s' 1 2 3 4 5; exit 101",
  "git add -A && git commit -m all",
  "ls -la / /usr /etc | head -60",
];

const program = resolve(process.argv[2] ?? "target/release/agent-bash");
const home = mkdtempSync(join(tmpdir(), "report-"));
const env = { PATH: process.env.PATH, HOME: home, AGENT_BASH_JOURNAL_LEVEL: "full", AGENT_BASH_STATE_DIR: join(home, "state") };
const options = { cwd: home, env };

async function record() {
  const server = spawn(program, ["rpc"], { ...options, stdio: ["pipe", "pipe", "inherit"] });
  let left = CALLS;
  let next = 0;
  const begin = () => {
    if (next === CALLS) return;
    const command = `: ${next}; ${COMMANDS[next % COMMANDS.length]}`;
    server.stdin.write(`${JSON.stringify({ id: (next += 1), type: "tool_call", request: { command, session: "one" } })}\n`);
  };
  let rest = "";
  server.stdout.on("data", (data) => {
    const lines = (rest + data).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (JSON.parse(line).type !== "response") continue;
      begin();
      if ((left -= 1) === 0) server.stdin.end();
    }
  });
  for (let at = 0; at < 8; at += 1) begin();
  await once(server, "exit");
  const page = join(home, "report.html");
  const made = spawnSync(program, ["report", "-o", page], { ...options, encoding: "utf8" });
  console.log(made.stdout.trim() || made.stderr.trim());
  return page;
}

async function browser() {
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", `--user-data-dir=${home}/profile`];
  const chromium = spawn("chromium", [...flags, "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  for await (const data of chromium.stderr) {
    said += data;
    const found = /ws:\/\/127\.0\.0\.1:(\d+)\//.exec(said);
    if (found) return { chromium, port: found[1] };
  }
  throw new Error(`chromium did not start: ${said}`);
}

async function tab(port) {
  const pages = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
  const socket = new WebSocket(pages.find((page) => page.type === "page").webSocketDebuggerUrl);
  await once(socket, "open");
  const waiting = new Map();
  const loaded = [];
  let id = 0;
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.method === "Page.loadEventFired") loaded.splice(0).forEach((tell) => tell());
    waiting.get(message.id)?.(message.result);
  };
  const ask = (method, params = {}) =>
    new Promise((tell) => {
      waiting.set((id += 1), tell);
      socket.send(JSON.stringify({ id, method, params }));
    });
  const run = async (expression) => {
    const { result, exceptionDetails } = await ask("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
    return result.value;
  };
  const open = async (url) => {
    const done = new Promise((tell) => loaded.push(tell));
    await ask("Page.navigate", { url });
    await done;
  };
  await ask("Page.enable");
  return { run, open };
}

const painted = `new Promise((tell) => {
  const look = () => { const [paint] = performance.getEntriesByName("first-contentful-paint"); paint ? tell(paint.startTime) : setTimeout(look, 5); };
  look(); })`;
const frame = "new Promise((tell) => requestAnimationFrame(() => setTimeout(tell)))";
const filter = (kind) => `(async () => { const from = performance.now();
  document.querySelector('button[data-kind="${kind}"]').click(); document.body.offsetHeight; await ${frame};
  return performance.now() - from; })()`;
const search = (text) => `(async () => { const from = performance.now(); const field = document.getElementById("search");
  const done = new Promise((tell) => { const seen = new MutationObserver(() => { seen.disconnect(); tell(); });
    seen.observe(document.getElementById("calls"), { subtree: true, attributeFilter: ["hidden"] }); });
  field.value = ${JSON.stringify(text)}; field.dispatchEvent(new Event("input")); await done;
  document.body.offsetHeight; await ${frame}; return performance.now() - from; })()`;

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
const say = (what, times) =>
  console.log(`${what}: median ${median(times).toFixed(0)} ms of ${times.length}, worst ${Math.max(...times).toFixed(0)} ms`);

try {
  const page = `file://${await record()}`;
  const { chromium, port } = await browser();
  try {
    const { run, open } = await tab(port);
    const [paints, filters, searches] = [[], [], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      await open("about:blank");
      await open(page);
      paints.push(await run(painted));
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const kind of ["failed", "refused", ""]) filters.push(await run(filter(kind)));
      for (const text of ["1999", ""]) searches.push(await run(search(text)));
    }
    say("first paint", paints);
    say("filter", filters);
    say("search, with a pause of 80 ms for the next key", searches);
  } finally {
    chromium.kill();
    await once(chromium, "exit");
  }
} finally {
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
