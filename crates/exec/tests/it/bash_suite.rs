//! Bash's own tests as a corpus: each script must print the same, end the same and leave the same
//! files under bash and here, both in a shell of its own and in a session. `cargo xtask corpora`
//! gets them from bash's sources and runs this in isolation. Known differences, with reasons, are
//! in `data/bash_suite.jsonl`. A script whose result varies under bash itself is not compared.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::bash_equality::observed::{End, Observed};
use crate::support::{Collect, command, environment, options, spec};
use agent_bash_core::{Cancel, Environment, Executor, SessionName, Streams, SurvivorPolicy};
use agent_bash_exec::ShellCache;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::Semaphore;

/// Bash's sources.
const SOURCES: &str = "AGENT_BASH_SUITE_SOURCES";

/// The compiled helper programs of its tests.
const HELPERS: &str = "AGENT_BASH_SUITE_HELPERS";

/// The time limit of a script, on both sides.
const LIMIT: Duration = Duration::from_secs(60);

/// Exit code of `timeout` if the limit has passed.
const TIMED_OUT: i32 = 124;

/// Concurrent scripts.
const PARALLEL: usize = 4;

/// A script known to differ, and why.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    script: String,
    way: String,
    #[serde(rename = "why")]
    _why: String,
}

/// The result for one script in one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Equal,
    Differs,
    /// Under bash its result varies, or it exceeds the limit.
    Varies,
}

#[derive(Debug, Clone, Copy)]
enum CallShell {
    Isolated,
    Session,
}

impl CallShell {
    const ALL: [Self; 2] = [Self::Isolated, Self::Session];

    fn name(self) -> &'static str {
        match self {
            Self::Isolated => "isolated",
            Self::Session => "session",
        }
    }
}

/// The suite, and what is needed to run it.
struct Suite {
    sources: PathBuf,
    helpers: PathBuf,
    cache: ShellCache,
}

/// The directories in which one script runs: a copy of all tests, and a directory for temporary
/// files.
struct Room {
    directory: TempDir,
}

impl Room {
    fn new(suite: &Suite) -> Self {
        let directory = tempfile::tempdir().unwrap();
        copy(
            &suite.sources.join("tests"),
            &directory.path().join("tests"),
        );
        fs::create_dir(directory.path().join("tmp")).unwrap();
        Self { directory }
    }

    fn tests(&self) -> PathBuf {
        self.directory.path().join("tests")
    }

    /// Removes everything from the copy that the script has not changed, which need not be
    /// compared.
    fn take_out_unchanged(&self, suite: &Suite) {
        for entry in fs::read_dir(suite.sources.join("tests")).unwrap().flatten() {
            let (original, copy) = (entry.path(), self.tests().join(entry.file_name()));
            if original.is_dir() {
                continue;
            }
            match fs::read(&copy) {
                Ok(now) if now == fs::read(original).unwrap() => fs::remove_file(copy).unwrap(),
                Ok(_) => {}
                // A removed file is represented by a file with a unique name.
                Err(_) => fs::write(copy.with_extension("was-removed"), "").unwrap(),
            }
        }
    }

    /// The variables that bash's Makefile sets.
    fn environment(&self, suite: &Suite) -> BTreeMap<OsString, OsString> {
        let mut all = environment();
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", suite.helpers.display());
        let here = self.directory.path();
        all.extend([
            ("PATH".into(), path.into()),
            ("THIS_SH".into(), "/bin/bash".into()),
            ("TMPDIR".into(), here.join("tmp").into()),
            ("BASH_TSTOUT".into(), here.join("tmp/tstout").into()),
            ("BUILD_DIR".into(), suite.sources.clone().into()),
        ]);
        all
    }
}

impl Suite {
    /// Runs the script in bash, in its own process session.
    fn by_bash(&self, script: &str) -> Observed {
        let room = Room::new(self);
        let limit = LIMIT.as_secs().to_string();
        let output = command("timeout")
            .args(["--kill-after=2", &limit, "env", "--default-signal"])
            .args(["setsid", "--wait"])
            .args(["bash", "--norc", "--noprofile", "-c", "--", script])
            .current_dir(room.tests())
            .env_clear()
            .envs(room.environment(self))
            .output()
            .unwrap();
        room.take_out_unchanged(self);
        let directory = room.directory.path();
        without_place(Observed::of_process(
            output.status, &output.stdout, &output.stderr, directory,
        ))
    }

    async fn by_us(&self, name: &str, script: &str, way: CallShell) -> Observed {
        let room = Room::new(self);
        let session = match way {
            CallShell::Isolated => None,
            CallShell::Session => Some(SessionName(name.to_owned())),
        };
        let spec = spec(script)
            .cwd(room.tests())
            .env(Environment {
                base: Arc::new(room.environment(self)),
                changes: BTreeMap::new(),
            })
            .streams(Streams::Split)
            .survivors(SurvivorPolicy::Wait)
            .timeout(LIMIT)
            .enter_cwd(session.is_some())
            .session(session.clone());
        let mut printed = Collect::default();
        let outcome = self.cache.run(&spec, &mut printed, &Cancel::new()).await;
        if let Some(session) = session {
            self.cache.reset_named_shell(&session);
        }
        room.take_out_unchanged(self);
        let directory = room.directory.path();
        without_place(match outcome {
            Ok(outcome) => Observed::of_call(&outcome, &printed.out, &printed.err, directory),
            Err(error) => Observed::new(End::Other(error.to_string()), b"", b"", directory),
        })
    }

    /// All observations of one script, in each way.
    async fn compare(self: Arc<Self>, name: String) -> Vec<(&'static str, String, Verdict)> {
        let script = fs::read(self.sources.join("tests").join(&name)).unwrap();
        // A script must be text here; bash accepts any bytes in a file, but neither `-c` nor a
        // request does.
        let Ok(script) = String::from_utf8(script) else {
            return Vec::new();
        };
        let bash = || {
            let (suite, script) = (Arc::clone(&self), script.clone());
            tokio::task::spawn_blocking(move || suite.by_bash(&script))
        };
        let (once, again) = (bash().await.unwrap(), bash().await.unwrap());
        let mut verdicts = Vec::new();
        for way in CallShell::ALL {
            let in_time = once.end != End::Exited(TIMED_OUT);
            let verdict = if once == again && in_time {
                let ours = self.by_us(&name, &script, way).await;
                if ours == once {
                    Verdict::Equal
                } else {
                    show(&name, way, &ours, &once);
                    Verdict::Differs
                }
            } else {
                Verdict::Varies
            };
            verdicts.push((way.name(), name.clone(), verdict));
        }
        verdicts
    }
}

/// Syntax errors say `eval:` where bash says `-c:` (`data/allowed_differences.jsonl`).
fn without_place(mut seen: Observed) -> Observed {
    for text in [&mut seen.out, &mut seen.err] {
        *text = text.replace("bash: eval: line ", "bash: -c: line ");
    }
    seen
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs bash's sources, which `cargo xtask corpora` fetches"]
async fn bash_runs_its_own_tests_here_as_it_does() {
    close_fds::set_fds_cloexec(3, &[]);
    let suite = Arc::new(Suite {
        sources: named(SOURCES),
        helpers: named(HELPERS),
        cache: ShellCache::new(options()),
    });
    let room = Arc::new(Semaphore::new(PARALLEL));
    let mut tasks = tokio::task::JoinSet::new();
    for name in scripts(&suite.sources) {
        let (suite, room) = (Arc::clone(&suite), Arc::clone(&room));
        tasks.spawn(async move {
            let _room = room.acquire().await.unwrap();
            suite.compare(name).await
        });
    }
    let verdicts = tasks.join_all().await.concat();
    assert!(verdicts.len() > 100, "these are not bash's tests");
    let faults: Vec<String> = CallShell::ALL
        .iter()
        .flat_map(|way| sum_up(way.name(), &verdicts))
        .collect();
    assert!(
        faults.is_empty(),
        "differ, and are not listed:\n{}",
        faults.join("\n")
    );
}

/// Prints the counts for a way. Returns unlisted differences.
fn sum_up(way: &str, verdicts: &[(&str, String, Verdict)]) -> Vec<String> {
    let of = |wanted: Verdict| -> BTreeSet<&str> {
        verdicts
            .iter()
            .filter(|(of, _, verdict)| *of == way && *verdict == wanted)
            .map(|(_, name, _)| name.as_str())
            .collect()
    };
    let known: BTreeSet<String> = include_str!("../data/bash_suite.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Known>(line).unwrap())
        .filter(|known| known.way == way)
        .map(|known| known.script)
        .collect();
    let (equal, differs) = (of(Verdict::Equal), of(Verdict::Differs));
    let (new, old): (Vec<_>, Vec<_>) = differs.iter().partition(|name| !known.contains(**name));
    let gone: Vec<_> = equal.iter().filter(|name| known.contains(**name)).collect();
    report(&format!(
        "{way}: {} of {} scripts equal; {} do not run the same twice by bash itself\n  known to differ: {}\n  listed, and equal this time: {}",
        equal.len(),
        equal.len() + differs.len(),
        of(Verdict::Varies).len(),
        joined(&old),
        joined(&gone),
    ));
    new.iter().map(|name| format!("{way}: {name}")).collect()
}

fn joined(names: &[&&str]) -> String {
    let names: Vec<&str> = names.iter().map(|name| **name).collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(" ")
    }
}

/// Prints the first differing lines of each part that differs.
fn show(name: &str, way: CallShell, ours: &Observed, bash: &Observed) {
    // Writing to a String cannot fail.
    let mut text = format!("{}: {name} differs", way.name());
    if ours.end != bash.end {
        let _ = write!(text, "\n  ends: ours {:?}, bash's {:?}", ours.end, bash.end);
    }
    for (part, ours, bash) in [
        ("stdout", &ours.out, &bash.out),
        ("stderr", &ours.err, &bash.err),
    ] {
        let pairs = ours
            .lines()
            .map(Some)
            .chain(std::iter::repeat(None))
            .zip(bash.lines().map(Some).chain(std::iter::repeat(None)));
        let first = pairs
            .take_while(|(ours, bash)| ours.is_some() || bash.is_some())
            .find(|(ours, bash)| ours != bash);
        if let Some((ours, bash)) = first {
            let _ = write!(text, "\n  {part}: ours {ours:?}, bash's {bash:?}");
        }
    }
    let files: Vec<&String> = ours
        .files
        .keys()
        .chain(bash.files.keys())
        .filter(|path| ours.files.get(*path) != bash.files.get(*path))
        .collect();
    if !files.is_empty() {
        let _ = write!(text, "\n  files: {files:?}");
    }
    report(&text);
}

#[expect(
    clippy::print_stdout,
    reason = "the output is the report of the corpus"
)]
fn report(text: &str) {
    println!("{text}");
}

#[expect(clippy::disallowed_methods, reason = "how the corpus is named")]
fn named(variable: &str) -> PathBuf {
    let path = PathBuf::from(std::env::var_os(variable).unwrap_or_default());
    assert!(
        path.is_dir(),
        "{variable} names no directory; `cargo xtask corpora` sets it"
    );
    path
}

/// The scripts of the suite: its tests, and the scripts they call.
fn scripts(sources: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(sources.join("tests"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| {
            let end = Path::new(name).extension();
            end.is_some_and(|end| end == "tests" || end == "sub")
        })
        .collect();
    names.sort();
    names
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            fs::copy(path, to.join(name)).unwrap();
        }
    }
}

/// An unlisted difference is a failure, even if the script is listed for another way.
#[test]
fn unlisted_options_are_found() {
    let seen = |way, script: &str, verdict| (way, script.to_owned(), verdict);
    let listed: Known = serde_json::from_str(
        include_str!("../data/bash_suite.jsonl")
            .lines()
            .find(|line| line.contains("\"session\""))
            .unwrap(),
    )
    .unwrap();
    let verdicts = [
        seen("session", &listed.script, Verdict::Differs),
        seen("session", "new.sub", Verdict::Differs),
        seen("session", "other.sub", Verdict::Varies),
        seen("isolated", "new.sub", Verdict::Equal),
    ];
    assert_eq!(sum_up("session", &verdicts), ["session: new.sub"]);
    assert_eq!(sum_up("isolated", &verdicts), [""; 0]);
}
