//! What a box adds to a call over RPC whose shell waits: the same call without one, in one of the base tier, and in one
//! of the full tier, alternating.
//!
//! A plain program without criterion, because it must call the supervisor's `init` at the top of `main`.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures")]
#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails may stop")]

use agent_bash::core::sandbox::{Report, SandboxLevel, Tier};
use agent_bash::core::{Cancel, Clock, Executor, NotStarted, Outcome, OutputConsumer, RunSpec};
use agent_bash::exec::{ShellCache, ShellCacheOptions};
use agent_bash::process::SystemClock;
use agent_bash::process::supervisor::{self, Supervisor, Token};
use agent_bash::session::SessionParts;
use agent_bash::{BashTool, HostContext, SandboxSettings, Session, profiles};
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

/// Has boxes of one tier, whatever this system could enforce.
struct OfTier {
    shells: ShellCache,
    tier: Tier,
}

#[async_trait]
impl Executor for OfTier {
    async fn confines(&self) -> Result<Report, NotStarted> {
        let report = self.shells.confines().await?;
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

/// A client of a server of its own.
struct Client {
    requests: tokio::io::WriteHalf<DuplexStream>,
    answers: tokio::io::Lines<BufReader<tokio::io::ReadHalf<DuplexStream>>>,
}

impl Client {
    fn new(token: &Token, workspace: &Path, tier: Option<Tier>) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let shells = ShellCache::new(ShellCacheOptions::many_calls(
            Supervisor::this_program(token),
            Arc::clone(&clock),
            std::env::temp_dir(),
        ));
        let executor = Arc::new(OfTier {
            shells,
            tier: tier.unwrap_or(Tier::Base),
        });
        let host = HostContext::capture(workspace.to_owned());
        let tool = BashTool::builder(profiles::STANDARD, host, executor, clock);
        let tool = tool.sandbox(SandboxSettings {
            level: tier.map_or(SandboxLevel::Off, |_| SandboxLevel::WorkspaceWrite),
            ..SandboxSettings::default()
        });
        let session = Arc::new(Session::new(tool.build(), SessionParts::default()));
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

    /// Microseconds of a call.
    async fn call(&mut self, box_of: Option<Tier>) -> f64 {
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
        let took = begun.elapsed().as_secs_f64() * 1e6;
        let text = answer.to_string();
        assert!(text.contains(r#""kind":"exited""#), "{text}");
        assert_eq!(text.contains(r#""enforced""#), box_of.is_some(), "{text}");
        took
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
        let place = tempfile::tempdir().unwrap();
        let sides = [None, Some(Tier::Base), Some(Tier::Full)];
        let mut clients = sides.map(|tier| Client::new(&token, place.path(), tier));
        let mut times = [const { Vec::new() }; 3];
        for round in 0..ROUNDS {
            for ((client, tier), times) in clients.iter_mut().zip(sides).zip(&mut times) {
                tokio::time::sleep(PAUSE).await;
                let took = client.call(tier).await;
                // The first calls start the shells that later ones find waiting.
                if round >= 5 {
                    times.push(took);
                }
            }
        }
        let [none, base, full] = times.map(|mut times| median(&mut times));
        println!(
            "warm `true` by RPC: {none:.1} µs; base {:.2} × (goal 1.05), full {:.2} × (goal 1.3)",
            base / none,
            full / none
        );
    });
    runtime.block_on(all).unwrap();
}

/// The median.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
