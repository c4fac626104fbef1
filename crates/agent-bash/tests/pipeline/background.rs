//! Calls in background mode.

use crate::sandbox::Case;
use crate::scripted::{Scripted, builder};
use agent_bash::JobStarter;
use agent_bash::core::sandbox::{JobSandbox, MissingPromise, Report, SandboxLevel};
use agent_bash::core::{
    Cancel, JobId, NotStarted, Profile, RunSpec, Status, Timestamp, ToolResult,
};
use agent_bash::exec::{Job, JobError, JobKind, JobState, JobStdin};
use agent_bash::process::supervisor::JobEnd;
use agent_bash::profiles;
use async_trait::async_trait;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Pretends to start jobs.
struct Starter {
    state: JobState,
    output: PathBuf,
    room: bool,
    requests: Mutex<Vec<(RunSpec, JobStdin)>>,
}

#[async_trait]
impl JobStarter for Starter {
    async fn start_job(
        &self,
        spec: &RunSpec,
        stdin: JobStdin,
        _: &Cancel,
    ) -> Result<Job, JobError> {
        if !self.room {
            return Err(JobError::TooMany {
                running: 16,
                limit: 16,
            });
        }
        self.requests.lock().unwrap().push((spec.clone(), stdin));
        Ok(Job {
            id: JobId("3".into()),
            kind: JobKind::Started,
            command: spec.script.clone(),
            cwd: "/".into(),
            pid: 41,
            pgid: 42,
            output: Some(self.output.clone()),
            stdin: false,
            state: self.state.clone(),
            started_at: Timestamp(1000),
            adopted_at: None,
            is_asked_to_end: false,
            sandbox: spec.sandbox.as_deref().map(|plan| {
                let report = Report {
                    tier: plan.tier,
                    missing: vec![MissingPromise::Stat],
                };
                JobSandbox::new(plan, &report)
            }),
            remaining: Vec::new(),
            listens_on: Vec::new(),
            unrecorded: None,
        })
    }
}

fn starter(state: JobState, output: &Path) -> Arc<Starter> {
    Arc::new(Starter {
        state,
        output: output.into(),
        room: true,
        requests: Mutex::default(),
    })
}

/// The result, and whether anything ran in the foreground.
async fn call(profile: &Profile, starter: &Arc<Starter>, input: Value) -> (ToolResult, bool) {
    let executor = Scripted::exits(0, b"");
    let jobs: Arc<dyn JobStarter> = starter.clone();
    let tool = builder(profile, &executor, Path::new("/"))
        .jobs(jobs)
        .build();
    let result = tool.execute(input, &Cancel::new()).await;
    (result, executor.runs() > 0)
}

#[tokio::test]
async fn job_has_the_text_of_its_profile() {
    let input = json!({"command": "serve | tail -5", "mode": "background"});
    for (profile, want) in [
        (
            &profiles::STANDARD,
            "Started in the background as job 3 (pid 41). Output: /out",
        ),
        (
            &profiles::MODES,
            "<pid>41</pid>\n<output_file>/out</output_file>\n<reminder>To stop: kill -9 -42</reminder>",
        ),
        (
            &profiles::PAGED,
            "Started in the background as job 3 (pid 41). Output: /out",
        ),
        (
            &profiles::WORKSPACE,
            "Started in the background as job 3 (pid 41). Output: /out",
        ),
    ] {
        let starter = starter(JobState::Running, Path::new("/out"));
        let (result, foreground) = call(profile, &starter, input.clone()).await;
        assert!(!foreground);
        assert_eq!(result.text, want);
        assert!(!result.is_error);
        assert_eq!(
            serde_json::to_value(&result.status).unwrap(),
            json!({"kind": "moved_to_background", "job": "3", "pid": 41, "pgid": 42, "output": "/out"})
        );
        let requests = starter.requests.lock().unwrap();
        let (spec, stdin) = &requests[0];
        assert_eq!(spec.timeout, Some(Duration::from_secs(24 * 60 * 60)));
        assert_eq!(
            spec.script, "serve | tail -5",
            "a job's filters are its own"
        );
        assert_eq!(*stdin, JobStdin::Null);
    }
}

#[tokio::test]
async fn job_that_ends_at_once_is_a_finished_call() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "no such port\n").unwrap();
    let end: JobEnd = serde_json::from_value(json!({
        "ending": { "kind": "exited", "code": 3 },
        "ended_at": Timestamp(1010),
        "dropped_bytes": 0,
        "has_remaining": false,
        "length": 13,
    }))
    .unwrap();
    let ended = JobState::Ended(end);
    let input = json!({"command": "serve", "run_in_background": true, "stdin": "pipe"});
    let starter = starter(ended, file.path());
    let (result, _) = call(&profiles::STANDARD, &starter, input).await;
    assert_eq!(result.status, Status::Exited { code: 3 });
    assert_eq!(result.text, "no such port\n\nCommand exited with code 3");
    assert!((result.duration_ms - 10.0).abs() < 1e-9);
    assert_eq!(starter.requests.lock().unwrap()[0].1, JobStdin::Pipe);
}

#[tokio::test]
async fn job_that_was_not_started_has_the_reason() {
    let starter = Arc::new(Starter {
        state: JobState::Running,
        output: PathBuf::new(),
        room: false,
        requests: Mutex::default(),
    });
    let input = json!({"command": "serve", "mode": "background"});
    let (result, _) = call(&profiles::STANDARD, &starter, input).await;
    let reason = "16 background jobs are running, which is the limit (16); end one with `kill` or wait for one";
    assert_eq!(
        result.status,
        Status::NotStarted {
            reason: NotStarted::new(reason).to_string()
        }
    );
    assert_eq!(result.text, reason);
}

#[tokio::test]
async fn result_of_a_job_has_its_sandbox() {
    let end = json!({"ending": {"kind": "exited", "code": 0}, "ended_at": Timestamp(1010), "dropped_bytes": 0, "has_remaining": false,
                     "length": 0});
    let ended = JobState::Ended(serde_json::from_value(end).unwrap());
    for state in [JobState::Running, ended] {
        let mut case = Case::of(SandboxLevel::ReadOnly);
        let jobs = starter(state.clone(), Path::new("/dev/null"));
        let tool = case.tool(|builder| builder.jobs(jobs));
        let request = json!({"command": "serve", "mode": "background"});
        let result = tool.execute(request, &Cancel::new()).await;
        let json = serde_json::to_value(&result).unwrap();
        assert_eq!(
            json["sandbox"],
            json!({"level": "read_only", "network": "off", "enforced": "partial", "missing": ["stat"],
                   "escalated": false, "denied": []}),
            "{state:?}"
        );
        assert!(
            result
                .text
                .contains("Not enforced: names and sizes of secrets can be seen (stat)."),
            "{}",
            result.text
        );
    }
}
