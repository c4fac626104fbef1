//! Many calls through each server, sequentially and two hundred at once, then a comparison of the
//! server's resources with those before. A thousand calls here; `cargo xtask soak` makes more.

use agent_bash_tests::conformance::shake_hands;
use agent_bash_tests::procfs;
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use agent_bash_tests::{poll, product};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// Time limit on a slow machine.
const SOON: Duration = Duration::from_secs(120);

/// Environment variable with the number of calls for the long run.
const CALLS: &str = "AGENT_BASH_SOAK_CALLS";

/// Default number of calls.
const SHORT: u64 = 1000;

/// Warm-up calls: afterwards all caches are filled.
const WARM: u64 = 200;

/// Number of measurements before the run.
const LOOKS: u64 = 50;

/// A server is idle after so many equal measurements in a row.
const UNCHANGED: u64 = 100;

/// Calls in flight at once.
const AT_ONCE: u64 = 200;

/// The directory of change sets in the state directory.
const CHANGES: &str = "changes";

/// The largest number of change sets that a server keeps for later calls. On a slow machine, fewer
/// calls of the first wave may run at the same time.
const REUSABLE_SETS: usize = 16;

/// Allowed growth in memory, in KiB, regardless of the number of calls: what an allocator retains
/// after two hundred concurrent calls. A leak of a hundred bytes per call would show in the long
/// run.
const MORE_MEMORY: u64 = 8 * 1024;

/// The messages of a protocol.
#[derive(Clone, Copy)]
struct Protocol {
    name: &'static str,
    /// Builds a request for a call, with live output if the last argument says so.
    request: fn(u64, Value, bool) -> Value,
    /// Builds the request that cancels one.
    call_off: fn(u64) -> Value,
    /// Finds the result in a response.
    result: fn(&Value) -> &Value,
    /// True if a cancelled call gets a response.
    answers_what_is_off: bool,
}

const RPC: Protocol = Protocol {
    name: "rpc",
    request: |id, call, live| json!({"id": id, "type": "tool_call", "request": call, "stream": live}),
    call_off: |id| json!({"type": "cancel", "target": id}),
    result: |answer| &answer["data"],
    answers_what_is_off: true,
};

const MCP: Protocol = Protocol {
    name: "mcp",
    request: |id, call, live| {
        let mut params = json!({"name": "bash", "arguments": call});
        if live {
            params["_meta"] = json!({"progressToken": id});
        }
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    },
    call_off: |id| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}),
    result: |answer| &answer["result"]["structuredContent"],
    answers_what_is_off: false,
};

/// The resources a server holds.
#[derive(Debug)]
struct ResourceCounts {
    memory_kib: u64,
    threads: u64,
    descriptors: usize,
    /// The processes, threads, descriptors or memory of the server and its descendants.
    processes: usize,
    /// In its state directory and the temporary directory, without those of change sets.
    files: usize,
    /// Change sets in the state directory.
    change_sets: usize,
}

impl ResourceCounts {
    fn by(server: u32, world: &World) -> Result<Self> {
        let mark = world.mark();
        let processes = procfs::processes();
        let are_here = processes.iter().filter(|one| one.environment_has(&mark));
        Ok(Self {
            memory_kib: procfs::resident(server)?,
            threads: procfs::threads(server)?,
            descriptors: procfs::descriptors(server).len(),
            processes: are_here.count(),
            files: files(&world.state()) + files(&world.temp()),
            change_sets: change_sets(&world.state()),
        })
    }

    /// Returns the maximum of each count.
    fn at_most(self, other: &Self) -> Self {
        Self {
            memory_kib: self.memory_kib.max(other.memory_kib),
            threads: self.threads.max(other.threads),
            descriptors: self.descriptors.max(other.descriptors),
            processes: self.processes.max(other.processes),
            files: self.files.max(other.files),
            change_sets: self.change_sets.max(other.change_sets),
        }
    }

    fn is_no_more_than(&self, before: &Self, memory_kib: u64) -> bool {
        self.memory_kib <= before.memory_kib.saturating_add(memory_kib)
            && self.threads <= before.threads
            && self.descriptors <= before.descriptors
            && self.processes <= before.processes
            && self.files <= before.files
            && self.change_sets <= before.change_sets.max(REUSABLE_SETS)
    }
}

impl fmt::Display for ResourceCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:6} KiB, {} threads, {} descriptors, {} processes, {} files, {} change sets",
            self.memory_kib,
            self.threads,
            self.descriptors,
            self.processes,
            self.files,
            self.change_sets
        )
    }
}

fn entries(directory: &Path) -> impl Iterator<Item = std::fs::DirEntry> + use<> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    entries.flatten()
}

/// Number of files below a directory at this moment, without those of change sets: a set that waits
/// for its next call has more or fewer files, as its last call left them.
fn files(directory: &Path) -> usize {
    entries(directory)
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() && entry.file_name() != CHANGES => 1 + files(&entry.path()),
            _ => 1,
        })
        .sum()
}

/// Number of change sets in a state directory at this moment.
fn change_sets(state: &Path) -> usize {
    let sessions = entries(&state.join(CHANGES));
    let sets = sessions.flat_map(|session| entries(&session.path()));
    let is_number = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    sets.filter(|set| set.file_name().to_str().is_some_and(is_number))
        .count()
}

struct Soak {
    protocol: Protocol,
    server: ServerClient,
    world: World,
}

impl Soak {
    fn start(protocol: Protocol) -> Result<Self> {
        let world = World::new()?;
        let mut command = world.command(product::agent_bash()?);
        command
            .arg(protocol.name)
            .env("AGENT_BASH_MCP_STRUCTURED", "on");
        let mut server = ServerClient::start(command)?;
        if protocol.name == "mcp" {
            shake_hands(&mut server)?;
        }
        Ok(Self {
            protocol,
            server,
            world,
        })
    }

    fn begin(&mut self, call: Value, live: bool) -> Result<u64> {
        let id = self.server.new_id();
        self.server.send(&(self.protocol.request)(id, call, live))?;
        Ok(id)
    }

    /// The next response: its id and the result.
    fn answer(&self) -> Result<(u64, Value)> {
        let is_answer = |line: &Value| {
            line["id"].is_u64() && line["type"] != "update" && line.get("method").is_none()
        };
        let answer = self.server.next_where(SOON, is_answer)?;
        let result = (self.protocol.result)(&answer);
        ensure!(result.is_object(), "{answer}");
        Ok((answer["id"].as_u64().context("an id")?, result.clone()))
    }

    /// Makes one call, of a kind determined by its number.
    fn call(&mut self, number: u64) -> Result<()> {
        let (call, live, want) = match number % 8 {
            1 => (json!({"command": "echo said; exit 3"}), false, "exited"),
            2 => (
                json!({"command": "export A=1; echo $A", "session": "s"}),
                false,
                "exited",
            ),
            3 => (
                json!({"command": "echo a; echo b >&2; printf 'c\\r'"}),
                true,
                "exited",
            ),
            4 => (json!({"command": "git add -A"}), false, "blocked"),
            5 => (json!({"command": "kill -9 $$"}), false, "signaled"),
            6 if number % 16 == 6 => {
                let id = self.begin(json!({"command": "touch on; sleep 60"}), true)?;
                poll::exists(&self.world.cwd().join("on"), SOON)?;
                std::fs::remove_file(self.world.cwd().join("on"))?;
                self.server.send(&(self.protocol.call_off)(id))?;
                if self.protocol.answers_what_is_off {
                    let (answered, result) = self.answer()?;
                    ensure!(
                        answered == id && result["status"]["kind"] == "cancelled",
                        "{result}"
                    );
                }
                return Ok(());
            }
            _ => (json!({"command": "true"}), false, "exited"),
        };
        let id = self.begin(call, live)?;
        let (answered, result) = self.answer()?;
        ensure!(
            answered == id && result["status"]["kind"] == want,
            "call {number}: {result}"
        );
        Ok(())
    }

    /// Makes `count` calls that run concurrently.
    fn at_once(&mut self, count: u64) -> Result<()> {
        let go = self.world.cwd().join("go");
        let script = "until test -e go; do sleep 0.2; done; echo went";
        let mut waiting = BTreeSet::new();
        for _ in 0..count {
            waiting.insert(self.begin(json!({"command": script}), false)?);
        }
        std::fs::write(&go, "")?;
        while !waiting.is_empty() {
            let (id, result) = self.answer()?;
            ensure!(
                result["text"] == "went\n" && waiting.remove(&id),
                "{result}"
            );
        }
        Ok(std::fs::remove_file(go)?)
    }

    fn measure(&self) -> Result<ResourceCounts> {
        ResourceCounts::by(self.server.pid(), &self.world)
    }

    /// Returns the counts once they have not changed for a while. On a busy machine, the shells for
    /// later calls may start long after a call, so an immediate measurement is too low.
    fn measure_idle(&self) -> Result<ResourceCounts> {
        let counts =
            |measure: &ResourceCounts| (measure.processes, measure.files, measure.descriptors);
        let mut last = self.measure()?;
        let mut unchanged = 0;
        let measure_idle = poll::until(SOON, || {
            let now = self.measure().ok()?;
            let is_unchanged = counts(&now) == counts(&last);
            unchanged = if is_unchanged { unchanged + 1 } else { 0 };
            last = now;
            (unchanged >= UNCHANGED).then_some(())
        });
        ensure!(measure_idle.is_some(), "it does not come to rest: {last}");
        Ok(last)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test program is a user of its own environment"
)]
fn calls() -> Result<u64> {
    match std::env::var(CALLS) {
        Ok(calls) => Ok(calls.parse()?),
        Err(_) => Ok(SHORT),
    }
}

#[expect(clippy::print_stderr, reason = "prints to the log of the tests")]
fn assert_nothing_left_after_calls(protocol: Protocol) -> Result<()> {
    let calls = calls()?;
    let mut soak = Soak::start(protocol)?;
    for number in 0..WARM {
        soak.call(number)?;
    }
    soak.at_once(AT_ONCE)?;
    // The maximum over several measurements, as transient resources (such as the shell for the next
    // call) show up in only one of them.
    let mut before = soak.measure()?;
    for number in 0..LOOKS {
        soak.call(number)?;
        before = before.at_most(&soak.measure()?);
    }
    before = before.at_most(&soak.measure_idle()?);
    for number in WARM..calls {
        soak.call(number)?;
    }
    let in_a_row = soak.measure()?;
    // As many calls in concurrent waves as a tenth of the sequential ones.
    for _ in 0..(calls / 10).div_ceil(AT_ONCE) {
        soak.at_once(AT_ONCE)?;
    }
    // Idle threads and shells end after a while.
    let rest = poll::until(SOON, || {
        let now = soak.measure().ok()?;
        now.is_no_more_than(&before, MORE_MEMORY).then_some(now)
    });
    let after = soak.measure()?;
    eprintln!(
        "{}: {calls} calls\n  warm     {before}\n  in a row {in_a_row}\n  at rest  {after}",
        protocol.name
    );
    ensure!(rest.is_some(), "it holds more than before");
    let ended = soak.server.end()?;
    ensure!(ended.status.success() && ended.rest.is_empty(), "{ended:?}");
    soak.world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn many_calls_through_rpc_leave_nothing_behind() -> Result<()> {
    assert_nothing_left_after_calls(RPC)
}

#[test]
fn many_calls_through_mcp_leave_nothing_behind() -> Result<()> {
    assert_nothing_left_after_calls(MCP)
}

/// Negative control: the comparison detects additional resources.
#[test]
fn comparison_detects_additional_resources() -> Result<()> {
    let mut soak = Soak::start(RPC)?;
    soak.call(0)?;
    let before = soak.measure_idle()?;
    // A job holds a process and its files.
    let job = json!({"command": "sleep 1000", "mode": "background"});
    soak.begin(job, false)?;
    let (_, started) = soak.answer()?;
    // A job may take the shell that waits for the next call, which is then replaced.
    let after = poll::until(SOON, || {
        let now = soak.measure().ok()?;
        (now.processes > before.processes && now.files > before.files).then_some(now)
    });
    let after = after.context("the job is not counted")?;
    ensure!(!after.is_no_more_than(&before, u64::MAX), "{after}");
    let kill = json!({"id": 0, "type": "jobs.kill", "job": started["status"]["job"]});
    soak.server.send(&kill)?;
    soak.answer()?;
    soak.server.end()?;
    soak.world.assert_nothing_left(SOON);
    Ok(())
}
