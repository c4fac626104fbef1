//! `agent-bash sandbox`: what a sandbox holds on this system, tried: each attempt is made without
//! one, where it must succeed to show anything, and then within one.

use crate::commands::sandbox_probe::start_in_directory;
use crate::commands::session;
use crate::output;
use crate::runtime;
use crate::start::{ChosenSettings, StartContext};
use crate::table::table;
use agent_bash::core::sandbox::{Enforced, Lack, SandboxLevel, Sandboxed};
use agent_bash::core::{Cancel, ToolResult};
use agent_bash::process::make_temporary;
use agent_bash::process::supervisor::Supervisor;
use agent_bash::settings::Settings;
use agent_bash::sink::Lifetime;
use agent_bash::{HostContext, SandboxSettings};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::path::Path;

/// The session of the attempts.
const SESSION_NAME: &str = "sandbox";

/// A promise, and a command that breaks it where nothing holds it. `$1` is a directory that is not
/// to be written, `$2` the port of a server on this machine, `$3` our process.
struct Attempt {
    promise: &'static str,
    tried: &'static str,
    script: &'static str,
}

const FORBIDDEN_ATTEMPTS: [Attempt; 10] = [
    Attempt {
        promise: "files outside are not written",
        tried: "create one",
        script: "echo x >\"$1/beside/new\"",
    },
    Attempt {
        promise: "files outside are not written",
        tried: "shorten one",
        script: ": >\"$1/beside/old\"",
    },
    Attempt {
        promise: "metadata outside stays",
        tried: "change a file's mode",
        script: "chmod 600 \"$1/beside/old\"",
    },
    Attempt {
        promise: "secrets are not read",
        tried: "read one",
        script: "read -r line <\"$1/secret\"",
    },
    Attempt {
        promise: "secrets cannot be looked at",
        tried: "see that one is not empty",
        script: "test -s \"$1/secret\"",
    },
    Attempt {
        promise: "hooks of the repository stay",
        tried: "add one",
        script: "echo x >\"$1/workspace/.git/hooks/post-commit\"",
    },
    Attempt {
        promise: "there is no network",
        tried: "reach a server on this machine",
        script: "exec 3<>\"/dev/tcp/127.0.0.1/$2\"",
    },
    Attempt {
        promise: "other processes are not signalled",
        tried: "ask whether this one could be",
        script: "kill -0 \"$3\"",
    },
    Attempt {
        promise: "other processes are not looked into",
        tried: "read the environment of this one",
        script: "test -n \"$(tr -d '\\0' <\"/proc/$3/environ\")\"",
    },
    Attempt {
        promise: "no namespaces are made",
        tried: "unshare",
        script: "unshare --user true",
    },
];

/// Operations that must work.
const ALLOWED_OPERATIONS: [(&str, &str); 2] = [
    ("write in the workspace", "echo x >\"$1/workspace/new\""),
    (
        "write in $TMPDIR",
        "new=$(mktemp) && echo x >\"$new\" && test -s \"$new\" && unlink \"$new\"",
    ),
];

/// Prints what is enforced, and a line per attempt. Exit code 1 if something of it is not held, or
/// there is no sandbox.
pub(crate) fn sandbox(start: &StartContext) -> anyhow::Result<u8> {
    let runtime = runtime::start(Some(2))?;
    runtime.block_on(tried(start))
}

async fn tried(start: &StartContext) -> anyhow::Result<u8> {
    let place = make_temporary(&start.host.temp_dir(), |parent| {
        tempfile::tempdir_in(parent)
    })?;
    let place = place.path();
    for directory in ["beside", "workspace/.git/hooks"] {
        fs::create_dir_all(place.join(directory))?;
    }
    fs::write(place.join("secret"), "secret\n")?;
    let server = TcpListener::bind("127.0.0.1:0")?;
    let words = [
        shlex::try_quote(&place.to_string_lossy())?.into_owned(),
        server.local_addr()?.port().to_string(),
        std::process::id().to_string(),
    ];
    let script = script(&words);

    let supervisor = Supervisor::this_program(&start.token);
    let (free, _) = run(start, &supervisor, place, &script, SandboxLevel::Off).await?;
    let (boxed, result) = run(
        start,
        &supervisor,
        place,
        &script,
        SandboxLevel::WorkspaceWrite,
    )
    .await?;
    let Some(said) = result
        .sandbox
        .filter(|said| said.enforced != Enforced::Nothing)
    else {
        output::print(&format!("no sandbox: {}\n", result.text))?;
        return Ok(1);
    };
    let mut text = enforced(&said);
    let (mut rows, mut all_held) = rows(&free, &boxed);
    let settings = start.settings(&ChosenSettings::default())?.settings;
    let level = SandboxLevel::WorkspaceWrite;
    let started = start_in_directory(start, &settings, SESSION_NAME, level).await?;
    all_held &= started.is_ok();
    rows.push(row_of_directory(start, level, started));
    text.push_str(&table(["PROMISE", "TRIED", "HELD"], &rows));
    output::print(&text)?;
    Ok(u8::from(!all_held))
}

/// Says by its number which attempt succeeds.
fn script(words: &[String; 3]) -> String {
    let mut script = format!("set -- {}\n", words.join(" "));
    let attempts = FORBIDDEN_ATTEMPTS.iter().map(|attempt| attempt.script);
    let work = ALLOWED_OPERATIONS.iter().map(|(_, script)| *script);
    for (number, one) in attempts.chain(work).enumerate() {
        // Writing to a String cannot fail.
        let _ = writeln!(script, "({one}) >/dev/null 2>&1 && echo \"{number}\"");
    }
    script.push_str("true\n");
    script
}

/// The numbers of what succeeded.
async fn run(
    start: &StartContext,
    supervisor: &Supervisor,
    place: &Path,
    script: &str,
    level: SandboxLevel,
) -> anyhow::Result<(BTreeSet<usize>, ToolResult)> {
    let _ = fs::remove_file(place.join("beside/new"));
    let _ = fs::remove_file(place.join("workspace/.git/hooks/post-commit"));
    fs::write(place.join("beside/old"), "old\n")?;
    let settings = Settings {
        // The attempts are ours: no rule is asked about them.
        safety_groups: BTreeSet::new(),
        sandbox: SandboxSettings {
            level,
            hidden: vec![place.join("secret")],
            ..SandboxSettings::default()
        },
        ..Settings::default()
    };
    let start = StartContext {
        host: HostContext {
            cwd: place.join("workspace"),
            ..start.host.clone()
        },
        token: start.token.clone(),
    };
    let (lifetime, as_it_is) = (Lifetime::Session, |builder| builder);
    let session = session::open_with(
        &settings,
        &start,
        supervisor,
        SESSION_NAME,
        lifetime,
        as_it_is,
    )?;
    let call = serde_json::Value::from(script);
    let result = session.tool().execute(call, &Cancel::new()).await;
    let numbers = result.text.lines().filter_map(|line| line.parse().ok());
    Ok((numbers.collect(), result))
}

/// The row of the directory that the user is in.
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

fn enforced(said: &Sandboxed) -> String {
    match &said.missing[..] {
        [] => "A sandbox is enforced here in full.\n\n".to_owned(),
        missing => format!(
            "A sandbox is only partly enforced here. What does not hold: {}.\n\n",
            Lack::consequences(missing)
        ),
    }
}

/// A row per attempt, and whether everything that can be tried was held.
fn rows(free: &BTreeSet<usize>, boxed: &BTreeSet<usize>) -> (Vec<[String; 3]>, bool) {
    let mut all_held = true;
    let mut rows = Vec::new();
    for (number, attempt) in FORBIDDEN_ATTEMPTS.iter().enumerate() {
        let held = match (free.contains(&number), boxed.contains(&number)) {
            (_, true) => "NO",
            (true, false) => "yes",
            (false, false) => "cannot be tried: it does not work without a sandbox either",
        };
        all_held &= held != "NO";
        rows.push([attempt.promise, attempt.tried, held].map(str::to_owned));
    }
    for (number, (what, _)) in (FORBIDDEN_ATTEMPTS.len()..).zip(ALLOWED_OPERATIONS) {
        let works = boxed.contains(&number);
        all_held &= works;
        let works = if works { "yes" } else { "NO" };
        rows.push(["what is needed still works", what, works].map(str::to_owned));
    }
    (rows, all_held)
}
