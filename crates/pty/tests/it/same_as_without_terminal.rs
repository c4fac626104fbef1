//! Properties of calls without a terminal that also hold on one: survivors become a job, and shells
//! behave the same.

#![expect(
    clippy::unwrap_used,
    reason = "test code, also outside of the test functions"
)]

use crate::support::{Collect, options, run, spec};
use agent_bash_call::{Adoption, SurvivorRegistry};
use agent_bash_core::{Cancel, Executor, JobId, RunSpec, ScriptEnding, Shell};
use agent_bash_pty::{PtyExecutor, PtyOptions};
use async_trait::async_trait;
use std::fs;
use std::sync::{Arc, Mutex};

/// Records its arguments and reports a job for survivors.
#[derive(Debug, Default)]
struct Registry(Mutex<Vec<(String, usize, bool)>>);

#[async_trait]
impl SurvivorRegistry for Registry {
    async fn adopt(&self, adoption: Adoption<'_>) -> Option<JobId> {
        let Adoption {
            supervised, output, ..
        } = adoption;
        let seen = (
            adoption.spec.script.clone(),
            output.pipes().len(),
            adoption.one_shot,
        );
        self.0.lock().unwrap().push(seen);
        let files = output.files();
        let adopted = supervised.adopt(output.pipes(), &files, true, adoption.quota, None);
        adopted.await.unwrap();
        Some(JobId("j7".to_owned()))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn survivors_become_a_job() {
    let registry = Arc::new(Registry::default());
    let executor = PtyExecutor::new(PtyOptions {
        jobs: Some(Arc::clone(&registry) as _),
        ..options()
    });
    // The process ends with the directory.
    let directory = tempfile::tempdir().unwrap();
    let stays = format!("while [[ -e {} ]]; do :; done", directory.path().display());
    let leaving = format!("({stays}) & echo early");
    for (script, jobs) in [(leaving.as_str(), 1), ("echo no survivor", 0)] {
        registry.0.lock().unwrap().clear();
        let mut collect = Collect::default();
        let call = spec(script);
        let outcome = executor
            .run(&call, &mut collect, &Cancel::new())
            .await
            .unwrap();
        let wanted = vec![(script.to_owned(), 1, true); jobs];
        assert_eq!(*registry.0.lock().unwrap(), wanted, "{outcome:?}");
        assert_eq!(outcome.survivors.len(), jobs, "{outcome:?}");
        let job = Some(JobId("j7".to_owned()));
        assert!(outcome.survivors.iter().all(|one| one.job == job));
    }
}

fn login_bash(script: &str, home: &str) -> RunSpec {
    let mut call = spec(script);
    call.shell = Shell {
        path: "/bin/bash".into(),
        is_bash: false,
        args: vec!["-l".to_owned()],
    };
    let home = Some(home.into());
    call.env.changes.insert("HOME".into(), home);
    call
}

#[tokio::test(flavor = "multi_thread")]
async fn login_bash_runs_its_profile_and_behaves_as_bash() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join(".bash_profile"), "from=profile\n").unwrap();
    let home = home.path().to_str().unwrap();
    let script =
        "echo $from $BASH_EXECUTION_STRING; shopt -q login_shell; echo $?; tty -s; echo $?";
    let ran = run(&login_bash(script, home)).await.unwrap();
    let text = script.replace('$', "");
    assert!(ran.out.starts_with("profile echo $from"), "{text}: {ran:?}");
    assert!(ran.out.ends_with("0\r\n0\r\n"), "{ran:?}");
    let mut nowhere = login_bash("echo ran", home);
    nowhere.cwd = "/nonexistent".into();
    let refused = run(&nowhere).await.unwrap_err();
    assert_eq!(refused.to_string(), "`/nonexistent` could not be entered");
}

#[tokio::test(flavor = "multi_thread")]
async fn shell_that_ends_before_it_takes_its_script_runs_nothing() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join(".bash_profile"), "kill -9 $$\n").unwrap();
    let refused = run(&login_bash("echo ran", home.path().to_str().unwrap())).await;
    let refused = refused.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "PTY error: the script could not be handed to the shell: the shell ended before it read the script"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn other_shells_have_no_internal_variables_or_descriptors() {
    let sh = |script: &str| {
        let mut call = spec(script);
        call.shell = Shell {
            path: "/bin/sh".into(),
            is_bash: false,
            args: Vec::new(),
        };
        call
    };
    let ran = run(&sh(
        "echo $0; no_such_command; ls /proc/self/fd; set | grep __ab",
    ))
    .await
    .unwrap();
    assert_eq!(
        ran.outcome.ending,
        ScriptEnding::Exited { code: 1 },
        "{ran:?}"
    );
    assert!(!ran.out.contains("/dev/fd"), "{ran:?}");
    let lines: Vec<_> = ran.out.lines().collect();
    assert_eq!(lines[0], "sh", "{ran:?}");
    assert!(lines[1].contains("no_such_command"), "{ran:?}");
    // The last one is the directory that `ls` reads.
    let open = lines[2..].join(" ");
    let open: Vec<_> = open.split_whitespace().collect();
    assert_eq!(open, ["0", "1", "2", "3"], "{ran:?}");
    let mut nowhere = sh("echo ran");
    nowhere.cwd = "/nonexistent".into();
    let refused = run(&nowhere).await.unwrap_err();
    assert_eq!(refused.to_string(), "`/nonexistent` could not be entered");
    let ended = run(&sh("read x </dev/null || exit 3")).await.unwrap();
    assert_eq!(ended.outcome.ending, ScriptEnding::Exited { code: 3 });
}
