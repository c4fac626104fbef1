//! Measures the cost of a sandbox, and of recording changes, for a call over RPC with a warm shell.
//! The variants alternate: plain, recorded, in a sandbox of the base tier, and of the full tier.
//!
//! A plain program without criterion, because it must call the supervisor's `init` at the top of
//! `main`.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures")]
#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails may stop")]

use agent_bash::core::changes::ChangesLevel;
use agent_bash::core::sandbox::{Report, SandboxLevel, Tier};
use agent_bash::core::{Cancel, Clock, Executor, NotStarted, Outcome, OutputConsumer, RunSpec};
use agent_bash::exec::{ShellCache, ShellCacheOptions};
use agent_bash::process::SystemClock;
use agent_bash::process::supervisor::{self, Supervisor, Token};
use agent_bash::session::SessionParts;
use agent_bash::{BashTool, Conversation, HostContext, SandboxSettings, profiles};
use agent_bash_server::rpc;
use async_trait::async_trait;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

/// Pause between two calls, long enough for the pool to refill.
const PAUSE: Duration = Duration::from_millis(25);

const ROUNDS: usize = 400;

/// An executor that reports a fixed sandbox tier, regardless of the system.
struct FixedTierExecutor {
    shells: ShellCache,
    tier: Tier,
}

#[async_trait]
impl Executor for FixedTierExecutor {
    async fn sandbox_report(&self) -> Result<Report, NotStarted> {
        let report = self.shells.sandbox_report().await?;
        Ok(Report {
            tier: self.tier,
            ..report
        })
    }

    async fn run(
        &self,
        spec: &RunSpec,
        out: &mut dyn OutputConsumer,
        cancel: &Cancel,
    ) -> Result<Outcome, NotStarted> {
        self.shells.run(spec, out, cancel).await
    }
}

/// The measured variants of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    Plain,
    Recorded,
    Sandboxed(Tier),
}

impl Variant {
    fn tier(self) -> Option<Tier> {
        match self {
            Self::Sandboxed(tier) => Some(tier),
            Self::Plain | Self::Recorded => None,
        }
    }
}

/// A client with its own server.
struct Client {
    requests: tokio::io::WriteHalf<DuplexStream>,
    answers: tokio::io::Lines<BufReader<tokio::io::ReadHalf<DuplexStream>>>,
}

impl Client {
    fn new(token: &Token, workspace: &Path, state: &Path, variant: Variant) -> Self {
        let tier = variant.tier();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let shells = ShellCache::new(ShellCacheOptions::long_lived(
            Supervisor::this_program(token),
            Arc::clone(&clock),
            std::env::temp_dir(),
        ));
        let executor = Arc::new(FixedTierExecutor {
            shells,
            tier: tier.unwrap_or(Tier::Base),
        });
        let host = HostContext::capture(workspace.to_owned());
        let tool = BashTool::builder(profiles::STANDARD, host, executor, clock);
        let tool = tool.sandbox(SandboxSettings {
            level: tier.map_or(SandboxLevel::Off, |_| SandboxLevel::WorkspaceWrite),
            ..SandboxSettings::default()
        });
        let tool = match variant {
            Variant::Recorded => tool
                .default_changes_level(ChangesLevel::Undo)
                .changes_in(state.to_owned(), "bench"),
            Variant::Plain | Variant::Sandboxed(_) => tool,
        };
        let session = Arc::new(Conversation::new(tool.build(), SessionParts::default()));
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        tokio::spawn(async move {
            let (input, output) = tokio::io::split(theirs);
            rpc::serve(input, output, session, &Cancel::new()).await
        });
        let (answers, requests) = tokio::io::split(ours);
        Self {
            requests,
            answers: BufReader::new(answers).lines(),
        }
    }

    /// Makes a call and returns its duration in microseconds.
    async fn call(&mut self, variant: Variant) -> f64 {
        let begun = Instant::now();
        let line = "{\"id\":\"1\",\"type\":\"tool_call\",\"request\":{\"command\":\"true\"}}\n";
        self.requests.write_all(line.as_bytes()).await.unwrap();
        let answer = loop {
            let line = self.answers.next_line().await.unwrap().unwrap();
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["type"] != "update" {
                break answer;
            }
        };
        let duration = begun.elapsed().as_secs_f64() * 1e6;
        let text = answer.to_string();
        assert!(text.contains(r#""kind":"exited""#), "{text}");
        assert_eq!(
            text.contains(r#""enforced""#),
            variant.tier().is_some(),
            "{text}"
        );
        assert_eq!(
            text.contains(r#""by":"trace""#),
            variant == Variant::Recorded,
            "{text}"
        );
        duration
    }
}

fn main() {
    let token = supervisor::init();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    // In a task, like a server's calls.
    let all = runtime.spawn(async move {
        let (workspace, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let sandboxed = [Variant::Sandboxed(Tier::Base), Variant::Sandboxed(Tier::Full)];
        let variants = [Variant::Plain, Variant::Recorded, sandboxed[0], sandboxed[1]];
        let client = |variant| Client::new(&token, workspace.path(), state.path(), variant);
        let mut clients = variants.map(client);
        let mut times = [const { Vec::new() }; 4];
        for round in 0..ROUNDS {
            for ((client, variant), times) in clients.iter_mut().zip(variants).zip(&mut times) {
                tokio::time::sleep(PAUSE).await;
                let duration = client.call(variant).await;
                // The first calls start the shells that later calls use.
                if round >= 5 {
                    times.push(duration);
                }
            }
        }
        let [plain, recorded, base, full] = times.map(|mut times| median(&mut times));
        println!(
            "warm `true` by RPC: {plain:.1} µs; recorded {:.2} × (goal 1.3); base {:.2} × (goal 1.05), full {:.2} × (goal 1.3)",
            recorded / plain,
            base / plain,
            full / plain
        );
    });
    runtime.block_on(all).unwrap();
}

/// Returns the median.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
