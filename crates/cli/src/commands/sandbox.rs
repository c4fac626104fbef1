//! `agent-bash sandbox`: tries what a sandbox enforces on this system. Each attempt runs first
//! without a sandbox, where it must succeed to prove anything, and then within one.

use crate::args::ChosenSettings;
use crate::commands::sandbox_probe::start_in_directory;
use crate::commands::session;
use crate::output;
use crate::process_start::StartContext;
use crate::runtime;
use crate::table::table;
use agent_bash::core::sandbox::{Enforced, MissingPromise, SandboxLevel, Sandboxed};
use agent_bash::core::{Cancel, ToolResult};
use agent_bash::process::make_temporary;
use agent_bash::process::supervisor::Supervisor;
use agent_bash::settings::Settings;
use agent_bash::{HostContext, SandboxSettings};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::path::Path;

/// The session of the attempts.
const SESSION_NAME: &str = "sandbox";

/// Promises of the sandbox, the attempted action in words, and a script that breaks the promise if
/// nothing enforces it. `$1` is the directory of the attempts, `$2` the port of a local server,
/// `$3` our pid.
const FORBIDDEN_ATTEMPTS: [(&str, &str, &str); 10] = [
    (
        "files outside are not written",
        "create one",
        "echo x >\"$1/beside/new\"",
    ),
    (
        "files outside are not written",
        "shorten one",
        ": >\"$1/beside/old\"",
    ),
    (
        "metadata outside stays", "change a file's mode", "chmod 600 \"$1/beside/old\"",
    ),
    (
        "secrets are not read", "read one", "read -r line <\"$1/secret\"",
    ),
    (
        "secrets cannot be looked at", "see that one is not empty", "test -s \"$1/secret\"",
    ),
    (
        "hooks of the repository stay",
        "add one",
        "echo x >\"$1/workspace/.git/hooks/post-commit\"",
    ),
    (
        "there is no network",
        "reach a server on this machine",
        "exec 3<>\"/dev/tcp/127.0.0.1/$2\"",
    ),
    (
        "other processes are not signalled",
        "ask whether this one could be",
        "kill -0 \"$3\"",
    ),
    (
        "other processes cannot be read",
        "read the environment of this one",
        "test -n \"$(tr -d '\\0' <\"/proc/$3/environ\")\"",
    ),
    ("no namespaces are made", "unshare", "unshare --user true"),
];

/// Operations that must work.
const ALLOWED_OPERATIONS: [(&str, &str); 2] = [
    ("write in the workspace", "echo x >\"$1/workspace/new\""),
    (
        "write in $TMPDIR",
        "new=$(mktemp) && echo x >\"$new\" && test -s \"$new\" && unlink \"$new\"",
    ),
];

/// Prints what is enforced, and a line per attempt. Exit code 1 if a promise is broken or no
/// sandbox is possible.
pub(crate) fn sandbox(start: &StartContext) -> anyhow::Result<u8> {
    let runtime = runtime::start(Some(2))?;
    runtime.block_on(try_sandbox(start))
}

async fn try_sandbox(start: &StartContext) -> anyhow::Result<u8> {
    let scratch = make_temporary(&start.host.temp_dir(), |parent| {
        tempfile::tempdir_in(parent)
    })?;
    let scratch = scratch.path();
    for directory in ["beside", "workspace/.git/hooks"] {
        fs::create_dir_all(scratch.join(directory))?;
    }
    fs::write(scratch.join("secret"), "secret\n")?;
    let server = TcpListener::bind("127.0.0.1:0")?;
    let words = [
        shlex::try_quote(&scratch.to_string_lossy())?.into_owned(),
        server.local_addr()?.port().to_string(),
        std::process::id().to_string(),
    ];
    let script = script(&words);

    let supervisor = Supervisor::this_program(&start.token);
    let (without_sandbox, _) = run(start, &supervisor, scratch, &script, SandboxLevel::Off).await?;
    let (within_sandbox, result) = run(
        start,
        &supervisor,
        scratch,
        &script,
        SandboxLevel::WorkspaceWrite,
    )
    .await?;
    let Some(sandboxed) = result
        .sandbox
        .filter(|sandboxed| sandboxed.enforced != Enforced::Nothing)
    else {
        output::print(&format!("no sandbox: {}\n", result.text))?;
        return Ok(1);
    };
    let mut text = enforced(&sandboxed);
    let (mut rows, mut all_held) = rows(&without_sandbox, &within_sandbox);
    let settings = start.settings(&ChosenSettings::default())?.settings;
    let level = SandboxLevel::WorkspaceWrite;
    let started = start_in_directory(start, &settings, SESSION_NAME, level).await?;
    all_held &= started.is_ok();
    rows.push(row_of_directory(start, level, started));
    text.push_str(&table(["PROMISE", "TRIED", "HELD"], &rows));
    output::print(&text)?;
    Ok(u8::from(!all_held))
}

/// Returns a script that prints the number of each attempt that succeeds.
fn script(words: &[String; 3]) -> String {
    let mut script = format!("set -- {}\n", words.join(" "));
    let attempts = FORBIDDEN_ATTEMPTS.iter().map(|(_, _, script)| *script);
    let work = ALLOWED_OPERATIONS.iter().map(|(_, script)| *script);
    for (number, one) in attempts.chain(work).enumerate() {
        // Writing to a String cannot fail.
        let _ = writeln!(script, "({one}) >/dev/null 2>&1 && echo \"{number}\"");
    }
    script.push_str("true\n");
    script
}

/// Runs the attempts at this sandbox level. Returns the numbers of those that succeeded.
async fn run(
    start: &StartContext,
    supervisor: &Supervisor,
    scratch: &Path,
    script: &str,
    level: SandboxLevel,
) -> anyhow::Result<(BTreeSet<usize>, ToolResult)> {
    let _ = fs::remove_file(scratch.join("beside/new"));
    let _ = fs::remove_file(scratch.join("workspace/.git/hooks/post-commit"));
    fs::write(scratch.join("beside/old"), "old\n")?;
    let settings = Settings {
        // The safety rules are off: the attempts are our own commands.
        safety_groups: BTreeSet::new(),
        sandbox: SandboxSettings {
            level,
            hidden: vec![scratch.join("secret")],
            ..SandboxSettings::default()
        },
        ..Settings::default()
    };
    let start = StartContext {
        host: HostContext {
            cwd: scratch.join("workspace"),
            ..start.host.clone()
        },
        token: start.token.clone(),
    };
    let session = session::open_for_checks(&settings, &start, supervisor, SESSION_NAME)?;
    let call = serde_json::Value::from(script);
    let result = session.tool().execute(call, &Cancel::new()).await;
    let numbers = result.text.lines().filter_map(|line| line.parse().ok());
    Ok((numbers.collect(), result))
}

/// Returns the row about a command that was started in the current directory.
fn row_of_directory(
    start: &StartContext,
    level: SandboxLevel,
    started: Result<Sandboxed, String>,
) -> [String; 3] {
    let directory = start.host.cwd.display();
    [
        format!("commands start in {directory}"),
        format!("start one at `{level}`"),
        started.map_or_else(|reason| format!("NO: {reason}"), |_| "yes".to_owned()),
    ]
}

/// Returns the line about what this system enforces.
fn enforced(sandboxed: &Sandboxed) -> String {
    match &sandboxed.missing[..] {
        [] => "A sandbox is enforced here in full.\n\n".to_owned(),
        missing => format!(
            "A sandbox is only partly enforced here. Not enforced: {}.\n\n",
            MissingPromise::consequences(missing)
        ),
    }
}

/// Returns a row per attempt, and true if all promises that can be tried were kept.
fn rows(
    without_sandbox: &BTreeSet<usize>,
    within_sandbox: &BTreeSet<usize>,
) -> (Vec<[String; 3]>, bool) {
    let mut all_held = true;
    let mut rows = Vec::new();
    for (number, (promise, attempted, _)) in FORBIDDEN_ATTEMPTS.into_iter().enumerate() {
        let held = match (
            without_sandbox.contains(&number),
            within_sandbox.contains(&number),
        ) {
            (_, true) => "NO",
            (true, false) => "yes",
            (false, false) => "cannot be tried: it does not work without a sandbox either",
        };
        all_held &= held != "NO";
        rows.push([promise, attempted, held].map(str::to_owned));
    }
    for (number, (what, _)) in (FORBIDDEN_ATTEMPTS.len()..).zip(ALLOWED_OPERATIONS) {
        let works = within_sandbox.contains(&number);
        all_held &= works;
        let works = if works { "yes" } else { "NO" };
        rows.push(["what is needed still works", what, works].map(str::to_owned));
    }
    (rows, all_held)
}
