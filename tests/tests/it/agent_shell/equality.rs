//! The table of invocations: `cases.toml`.

use super::callers::{compiled_caller, terminal_caller};
use super::{Shell, link, world};
use agent_bash_tests::world::World;
use anyhow::{Context as _, Result, ensure};
use regex::bytes::Regex;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

const CASES: &str = include_str!("cases.toml");

/// The minimum number of invocations.
const ENOUGH: usize = 600;

/// Invocations that run at the same time. They mostly wait.
const THREADS: usize = 4;

#[derive(Debug, Deserialize)]
struct Table {
    group: Vec<Group>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    topic: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    after: Vec<String>,
    #[serde(default)]
    scripts: Vec<String>,
    #[serde(default)]
    calls: Vec<Vec<String>>,
    #[serde(default = "pipes")]
    kinds: Vec<String>,
    stdin: Option<String>,
    stdin_size: Option<usize>,
    setup: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default = "bash")]
    name: String,
    /// Numbers of characters that replace `@` in the scripts.
    #[serde(default)]
    fill: Vec<usize>,
    /// True if the script is the file `long`.
    #[serde(default)]
    by_file: bool,
    /// The number of further arguments.
    #[serde(default)]
    many: usize,
    #[serde(default)]
    differs: Vec<String>,
    reason: Option<String>,
}

fn pipes() -> Vec<String> {
    vec!["pipes".to_owned()]
}

fn bash() -> String {
    "bash".to_owned()
}

impl Group {
    fn all_calls(&self) -> Vec<Vec<String>> {
        let mut calls = self.calls.clone();
        for script in &self.scripts {
            let scripts = match &self.fill[..] {
                [] => vec![script.clone()],
                sizes => sizes
                    .iter()
                    .map(|size| script.replace('@', &"x".repeat(*size)))
                    .collect(),
            };
            for script in scripts {
                let mut call = self.args.clone();
                call.push(script);
                call.extend(self.after.iter().cloned());
                call.extend((0..self.many).map(|number| number.to_string()));
                calls.push(call);
            }
        }
        calls
    }
}

struct Case<'t> {
    group: &'t Group,
    kind: &'t str,
    call: Vec<String>,
}

/// The result of an invocation, as its caller sees it.
#[derive(Debug, PartialEq, Eq)]
struct ObservedRun {
    /// The wait status.
    status: i32,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// Mode and content of the files, by their paths.
    files: BTreeMap<String, (u32, Vec<u8>)>,
}

#[test]
fn shell_equals_bash() -> Result<()> {
    let table: Table = toml::from_str(CASES)?;
    let mut cases = Vec::new();
    for group in &table.group {
        ensure!(
            group.differs.is_empty() == group.reason.is_none(),
            "{}: a difference has a reason",
            group.topic
        );
        for kind in &group.kinds {
            let calls = group.all_calls().into_iter();
            cases.extend(calls.map(|call| Case { group, kind, call }));
        }
    }
    ensure!(cases.len() >= ENOUGH, "{} cases", cases.len());
    let next = AtomicUsize::new(0);
    let differences = Mutex::new(String::new());
    thread::scope(|scope| {
        let run = || -> Result<()> {
            let world = world()?;
            while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                let found = difference(&world, case)
                    .with_context(|| format!("{}: {:?}", case.group.topic, case.call))?;
                if let Ok(mut all) = differences.lock() {
                    all.push_str(&found);
                }
            }
            empty(&world)?;
            world.assert_nothing_left(Duration::from_secs(20));
            Ok(())
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(run)).collect();
        threads.into_iter().try_for_each(|it| {
            it.join()
                .unwrap_or_else(|_| anyhow::bail!("a thread has panicked"))
        })
    })?;
    let differences = differences.into_inner()?;
    ensure!(differences.is_empty(), "{differences}");
    Ok(())
}

/// Describes the differences; an empty text if there are none.
fn difference(world: &World, case: &Case<'_>) -> Result<String> {
    let bash = run(world, case, Shell::Bash)?;
    let product = run(world, case, Shell::Product)?;
    let mut text = String::new();
    let mut compare = |what: &str, is_equal: bool, bash: String, product: String| {
        if !is_equal && !case.group.differs.iter().any(|it| it == what) {
            let Group { topic, .. } = case.group;
            let mut call = format!("{:?}", case.call);
            call.truncate(200);
            let _ = writeln!(
                text,
                "{topic}, {}: {call}: {what}\n  bash:    {bash:.600}\n  product: {product:.600}",
                case.kind
            );
        }
    };
    let plain = |bytes: &[u8]| format!("{:?}", String::from_utf8_lossy(bytes));
    compare(
        "status",
        bash.status == product.status,
        bash.status.to_string(),
        product.status.to_string(),
    );
    compare(
        "stdout",
        bash.stdout == product.stdout,
        plain(&bash.stdout),
        plain(&product.stdout),
    );
    compare(
        "stderr",
        bash.stderr == product.stderr,
        plain(&bash.stderr),
        plain(&product.stderr),
    );
    compare(
        "files",
        bash.files == product.files,
        format!("{:?}", bash.files),
        format!("{:?}", product.files),
    );
    Ok(text)
}

/// Empties the directories of a world.
fn empty(world: &World) -> Result<()> {
    for directory in [world.home(), world.cwd(), world.temp(), world.state()] {
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        if directory != world.state() {
            fs::create_dir(directory)?;
        }
    }
    Ok(())
}

fn run(world: &World, case: &Case<'_>, shell: Shell) -> Result<ObservedRun> {
    let Case { group, kind, call } = case;
    empty(world)?;
    if let Some(setup) = &group.setup {
        let status = world.command("/bin/bash").args(["-ec", setup]).status()?;
        ensure!(status.success(), "the setup fails");
    }
    let program = shell.program(world, &group.name);
    let arg0 = link(world, &group.name);
    let mut command = if let Some(state) = kind.strip_prefix("c:") {
        let mut command = world.command(compiled_caller()?);
        command.arg(state).arg(&program).arg(&arg0);
        command
    } else if *kind == "terminal" {
        let mut command = world.command("python3");
        let stdin = if group.stdin.is_some() {
            "terminal"
        } else {
            "null"
        };
        command.args(["-c", terminal_caller(), stdin]);
        command.arg(&program).arg(&arg0);
        command
    } else {
        let mut command = world.command(&program);
        command.arg0(&arg0);
        command
    };
    if group.by_file {
        fs::write(
            world.cwd().join("long"),
            call.last().context("it has a script")?,
        )?;
        command.arg("long");
    } else {
        command.args(call);
    }
    command.envs(&group.env);
    let stdin = match group.stdin_size {
        Some(size) => Some("x".repeat(size)),
        None => group.stdin.clone().filter(|_| *kind != "terminal"),
    };
    let (status, stdout, stderr) = captured(world, command, kind, stdin)?;
    // bash names the pid of a child that a signal has ended.
    let pid = Regex::new(r"(line \d+): +\d+ ")?;
    let without_pid = |text: Vec<u8>| pid.replace_all(&text, &b"$1: PID "[..]).into_owned();
    let mut files = BTreeMap::new();
    for directory in [world.home(), world.cwd(), world.temp()] {
        collect_files(&directory, &mut files)?;
    }
    Ok(ObservedRun {
        status,
        stdout: without_pid(stdout),
        stderr: without_pid(stderr),
        files,
    })
}

/// Runs the command with stdout and stderr of that kind. Returns its status and what was written.
fn captured(
    world: &World,
    mut command: Command,
    kind: &str,
    stdin: Option<String>,
) -> Result<(i32, Vec<u8>, Vec<u8>)> {
    type Source = Box<dyn Read + Send>;
    let mut sources: Vec<Source> = Vec::new();
    let pipe = |sources: &mut Vec<Source>| -> Result<OwnedFd> {
        let (read, write) = std::io::pipe()?;
        sources.push(Box::new(read));
        Ok(write.into())
    };
    let root = world.home();
    let file = |name: &str| -> Result<File> {
        let path = root.with_file_name(name);
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(true);
        Ok(options.open(path)?)
    };
    match kind {
        "merged" => {
            let stdout = pipe(&mut sources)?;
            command.stderr(stdout.try_clone()?).stdout(stdout);
        }
        "files" => {
            command.stdout(file("stdout")?).stderr(file("stderr")?);
        }
        "file" => {
            let stdout = file("stdout")?;
            command.stderr(stdout.try_clone()?).stdout(stdout);
        }
        "sockets" => {
            let (mine, stdout) = UnixStream::pair()?;
            sources.push(Box::new(mine));
            let (mine, stderr) = UnixStream::pair()?;
            sources.push(Box::new(mine));
            command
                .stdout(OwnedFd::from(stdout))
                .stderr(OwnedFd::from(stderr));
        }
        "null" => {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        _ => {
            command.stdout(pipe(&mut sources)?);
            command.stderr(pipe(&mut sources)?);
        }
    }
    if stdin.is_some() {
        command.stdin(Stdio::piped());
    }
    let mut child = command.spawn()?;
    // The command has the write ends of the pipes.
    drop(command);
    if let (Some(mut pipe), Some(text)) = (child.stdin.take(), stdin) {
        // Not every command reads its stdin.
        thread::spawn(move || drop(pipe.write_all(text.as_bytes())));
    }
    let readers: Vec<_> = sources
        .into_iter()
        .map(|mut source| {
            thread::spawn(move || {
                let mut bytes = Vec::new();
                // A socket is reset if its other end was closed with unread bytes.
                let _ = source.read_to_end(&mut bytes);
                bytes
            })
        })
        .collect();
    let status = child.wait()?.into_raw();
    let mut outputs = readers
        .into_iter()
        .map(|it| it.join().unwrap_or_default())
        .collect::<Vec<_>>()
        .into_iter();
    if kind.starts_with("file") {
        let written = |name: &str| fs::read(root.with_file_name(name)).unwrap_or_default();
        let stderr = if kind == "files" {
            written("stderr")
        } else {
            Vec::new()
        };
        return Ok((status, written("stdout"), stderr));
    }
    let mut next = || outputs.next().unwrap_or_default();
    Ok((status, next(), next()))
}

fn collect_files(directory: &Path, files: &mut BTreeMap<String, (u32, Vec<u8>)>) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let about = path.symlink_metadata()?;
        let name = path.display().to_string();
        // git writes times into its own files.
        if about.is_dir() && !path.ends_with(".git") {
            collect_files(&path, files)?;
        }
        let is_read = about.is_file() && about.mode() & 0o400 != 0;
        let content = if is_read {
            fs::read(&path)?
        } else {
            Vec::new()
        };
        files.insert(name, (about.mode(), content));
    }
    Ok(())
}
