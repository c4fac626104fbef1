//! Signals to the shell, to its group and to its supervisor. The caller observes the same as with
//! bash, and no process is left.

#![expect(
    clippy::disallowed_methods,
    reason = "signals are sent to processes in the middle of their work, which takes its time"
)]

use super::{Shell, link, world};
use agent_bash_tests::world::World;
use agent_bash_tests::{poll, procfs};
use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The scripts, each of which says when it is ready.
const SCRIPTS: &[(&str, &str)] = &[
    ("plain", "echo ready; sleep 2; echo after"),
    ("exec", "echo ready; exec sleep 2"),
    (
        "trap that leaves",
        "trap 'echo caught; exit 7' TERM INT HUP QUIT USR1; echo ready; sleep 2 & wait $!; echo after",
    ),
    (
        "trap that stays",
        "trap 'echo caught; trap \"\" TERM INT HUP QUIT USR1' TERM INT HUP QUIT USR1; echo ready; sleep 2; echo end",
    ),
    (
        "ignored",
        "trap '' TERM INT HUP QUIT USR1; echo ready; sleep 2; echo after",
    ),
    ("background child", "sleep 2 & echo ready; wait; echo after"),
    ("pipeline", "echo ready; sleep 2 | cat; echo after"),
];

const SIGNALS: [Signal; 6] = [
    Signal::TERM,
    Signal::INT,
    Signal::HUP,
    Signal::QUIT,
    Signal::USR1,
    Signal::KILL,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    ToShell(Signal),
    ToGroup(Signal),
    TwiceToShell(Signal),
    TwiceToGroup(Signal),
    /// Stops and continues the group.
    Stop,
    /// The supervisor gets the signal; bash has no equivalent.
    ToSupervisor(Signal),
    ReaderCloses,
}

/// The result of an invocation, as its caller sees it.
#[derive(Debug, PartialEq, Eq)]
struct ObservedRun {
    /// The wait status.
    status: i32,
    stdout: String,
    stderr: String,
}

fn events() -> Vec<Event> {
    let mut events = Vec::new();
    for signal in SIGNALS {
        events.extend([Event::ToShell(signal), Event::ToGroup(signal)]);
    }
    events.extend([
        Event::TwiceToShell(Signal::TERM),
        Event::TwiceToGroup(Signal::INT),
        Event::Stop,
        Event::ToSupervisor(Signal::TERM),
        Event::ToSupervisor(Signal::KILL),
    ]);
    events
}

#[test]
fn signals_end_a_shell_as_they_end_bash() -> Result<()> {
    let mut cases = Vec::new();
    for (name, script) in SCRIPTS {
        cases.extend(events().into_iter().map(|event| (*name, *script, event)));
    }
    for script in [
        "echo ready; while echo x; do sleep 0.02; done; echo $? >&2",
        "echo ready; yes",
        "echo ready; exec yes",
        "trap '' PIPE; echo ready; while echo x 2>/dev/null; do sleep 0.02; done; echo $? >&2",
    ] {
        cases.push(("writer", script, Event::ReaderCloses));
    }
    let next = AtomicUsize::new(0);
    let differences = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let run = || -> Result<()> {
            while let Some((name, script, event)) = cases.get(next.fetch_add(1, Ordering::Relaxed))
            {
                let what = format!("{name}, {event:?}");
                if let Some(text) = difference(script, *event).with_context(|| what.clone())?
                    && let Ok(mut all) = differences.lock()
                {
                    all.push(format!("{what}: {text}"));
                }
            }
            Ok(())
        };
        let threads: Vec<_> = (0..12).map(|_| scope.spawn(run)).collect();
        threads.into_iter().try_for_each(|it| {
            it.join()
                .unwrap_or_else(|_| anyhow::bail!("a thread has panicked"))
        })
    })?;
    let differences = differences.into_inner()?;
    ensure!(differences.is_empty(), "{}", differences.join("\n"));
    Ok(())
}

/// Describes the differences and leftovers; `None` if there are none.
fn difference(script: &str, event: Event) -> Result<Option<String>> {
    let bash = world()?;
    let (of_bash, duration) = run(&bash, script, event, Shell::Bash)?;
    bash.sweep();
    let product = world()?;
    let (of_product, took_product) = run(&product, script, event, Shell::Product)?;
    let left = product.end(Duration::from_secs(30));
    if !left.is_empty() {
        return Ok(Some(format!("left behind:\n{left}")));
    }
    if !matches!(event, Event::ToSupervisor(_)) && of_bash != of_product {
        return Ok(Some(format!(
            "\n  bash:    {of_bash:?}\n  product: {of_product:?}"
        )));
    }
    // The margin is for a loaded machine.
    let is_late = took_product > duration.max(Duration::from_secs(2)) + Duration::from_secs(20);
    Ok(is_late.then(|| format!("{duration:?} with bash, {took_product:?} with the product")))
}

fn run(world: &World, script: &str, event: Event, shell: Shell) -> Result<(ObservedRun, Duration)> {
    let mut command = world.command(shell.program(world, "bash"));
    command.arg0(link(world, "bash")).args(["-c", script]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0);
    let mut child = command.spawn()?;
    let mut stdout = BufReader::new(child.stdout.take().context("stdout is piped")?);
    let mut first = String::new();
    stdout.read_line(&mut first)?;
    ensure!(first == "ready\n", "{first}");
    if event != Event::ReaderCloses {
        // The shell starts what comes after the line, and then waits for it. A writer's programs
        // end too soon to be found.
        let is_started = poll::until(Duration::from_secs(60), || has_program(child.id()));
        is_started.context("the shell starts nothing after the line")?;
    }
    thread::sleep(Duration::from_millis(100));
    let started = Instant::now();
    let mut stdout = Some(stdout);
    if event == Event::ReaderCloses {
        drop(stdout.take());
    } else {
        apply(&child, event, shell)?;
    }
    let mut stderr = child.stderr.take().context("stderr is piped")?;
    let errors = thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).map(|_| text)
    });
    let mut text = String::new();
    if let Some(mut stdout) = stdout {
        stdout.read_to_string(&mut text)?;
    }
    let status = child.wait()?.into_raw();
    let duration = started.elapsed();
    let errors = errors.join().unwrap_or_else(|_| Ok(String::new()))?;
    // bash names the pid of a child that a signal has ended.
    let pid = regex::Regex::new(r"(line \d+): +\d+ ")?;
    let stderr = pid.replace_all(&errors, "$1: PID ").into_owned();
    let stderr = regex::Regex::new(r"\d+( +\| cat)")?
        .replace_all(&stderr, "PID$1")
        .into_owned();
    let root = world.home().with_file_name("");
    let stderr = stderr.replace(&*root.to_string_lossy(), "");
    let observed = ObservedRun {
        status,
        stdout: text,
        stderr,
    };
    Ok((observed, duration))
}

/// Returns once a program of the scripts runs in a process group.
fn has_program(group: u32) -> Option<()> {
    std::fs::read_dir("/proc")
        .ok()?
        .flatten()
        .find_map(|entry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            // After the name in parentheses: the state, the parent, the group.
            let (name, rest) = stat.rsplit_once(") ")?;
            let name = name.split_once('(')?.1;
            let is_member = rest.split(' ').nth(2)?.parse::<u32>() == Ok(group);
            (is_member && ["sleep", "yes"].contains(&name)).then_some(())
        })
}

fn apply(child: &Child, event: Event, shell: Shell) -> Result<()> {
    let own = Pid::from_child(child);
    let pause = || thread::sleep(Duration::from_millis(50));
    match event {
        Event::ToShell(signal) => kill_process(own, signal)?,
        Event::ToGroup(signal) => kill_process_group(own, signal)?,
        Event::TwiceToShell(signal) => {
            kill_process(own, signal)?;
            pause();
            // The shell may have ended.
            let _ = kill_process(own, signal);
        }
        Event::TwiceToGroup(signal) => {
            kill_process_group(own, signal)?;
            pause();
            let _ = kill_process_group(own, signal);
        }
        Event::Stop => {
            kill_process_group(own, Signal::STOP)?;
            thread::sleep(Duration::from_millis(300));
            kill_process_group(own, Signal::CONT)?;
        }
        Event::ToSupervisor(signal) if shell == Shell::Product => {
            let all = procfs::processes_since(0);
            let supervisor = all
                .iter()
                .find(|process| process.parent == child.id())
                .context("the shell has a supervisor")?;
            let supervisor = i32::try_from(supervisor.pid)?;
            kill_process(Pid::from_raw(supervisor).context("a pid")?, signal)?;
        }
        Event::ToSupervisor(_) | Event::ReaderCloses => {}
    }
    Ok(())
}
