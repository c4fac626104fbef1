//! A session in this process: the user's own commands along with the model's calls, with real
//! shells, jobs and artifacts.

use agent_bash::HostContext;
use agent_bash::core::changes::{Changes, ChangesLevel, Undoable};
use agent_bash::core::{Cancel, ConsumerFlow, OutputConsumer, SessionName, Status, StreamId};
use agent_bash::process::supervisor::Supervisor;
use agent_bash::session::{
    BangError, BangMessage, BangOptions, Conversation, ConversationOptions, USER_SHELL,
};
use agent_bash::settings::Settings;
use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::{Context as _, Result};
use serde_json::json;
use std::future::Future;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

const PATIENCE: Duration = Duration::from_secs(30);

fn open(world: &World) -> Result<Conversation> {
    open_with(world, &Settings::default())
}

fn open_with(world: &World, settings: &Settings) -> Result<Conversation> {
    open_in(world, settings, world.cwd())
}

fn open_in(world: &World, settings: &Settings, cwd: PathBuf) -> Result<Conversation> {
    // `main` belongs to the test harness here, so the supervisor is the product's binary.
    let supervisor = Supervisor::at(product::agent_bash()?);
    let environment = world.environment().into_iter();
    let host = HostContext {
        cwd,
        home: Some(world.home()),
        env: Arc::new(environment.map(|(k, v)| (k.into(), v.into())).collect()),
        tools: None,
        processes: Arc::default(),
    };
    let options = ConversationOptions::long_lived("conversation", supervisor);
    Ok(Conversation::open(settings, host, options)?)
}

/// Runs `test` on a session and checks for leftovers.
fn with_session<F: Future<Output = Result<()>>>(
    test: impl FnOnce(Arc<Conversation>) -> F,
) -> Result<()> {
    let world = World::new()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let session = Arc::new(open(&world)?);
        test(session).await
    })?;
    drop(runtime);
    let left = world.end(PATIENCE);
    anyhow::ensure!(left.is_empty(), "left behind:\n{left}");
    Ok(())
}

async fn bang(session: &Conversation, command: &str) -> Result<BangMessage> {
    let options = BangOptions::default();
    Ok(session
        .execute_bash(command, options, &Cancel::new())
        .await?)
}

/// Signals the first output.
struct Began(Arc<Notify>);

impl OutputConsumer for Began {
    fn chunk(&mut self, _: StreamId, _: &[u8]) -> ConsumerFlow {
        self.0.notify_one();
        ConsumerFlow::Continue
    }
}

#[test]
fn user_commands_run_in_a_persistent_shell() -> Result<()> {
    with_session(|session| async move {
        let first = bang(&session, "cd /usr && x=5; seq 3 | tail -1").await?;
        assert_eq!((first.output.as_str(), first.exit_code), ("3\n", Some(0)));
        assert_eq!(first.notices, [], "nothing is lifted out of it");
        assert_eq!(first.cwd, "/usr");
        let second = bang(&session, "echo $x $PWD; exit 3").await?;
        assert_eq!(
            (second.output.as_str(), second.exit_code),
            ("5 /usr\n", Some(3))
        );
        let shells = session.shells();
        assert_eq!(shells[0].name.0, USER_SHELL);
        // The rules for the model do not apply: `exit` has ended that shell, and git itself rejects
        // the forced push.
        let third = bang(&session, "git push --force; echo $PWD").await?;
        assert_eq!(third.status, Status::Exited { code: 0 });
        assert!(third.output.ends_with("/usr\n"), "{third:?}");
        assert_eq!(session.user_cwd().to_str(), Some("/usr"));
        assert!(session.reset_shell(&SessionName(USER_SHELL.into())));
        assert_eq!(session.user_cwd(), session.cwd());
        let fresh = bang(&session, "echo ${x-unset}").await?;
        assert_eq!(fresh.output, "unset\n");
        assert_eq!(session.messages(), [first, second, third, fresh]);
        Ok(())
    })
}

/// The user's commands and the model's run in separate persistent shells and have separate records;
/// both are undone.
#[test]
fn changes_of_persistent_shells_are_recorded() -> Result<()> {
    let world = World::new()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let project = world.cwd().join("project");
    std::fs::create_dir_all(project.join(".git"))?;
    std::fs::write(project.join("kept"), "kept\n")?;
    let mut settings = Settings::default();
    settings.changes.level = Some(ChangesLevel::Undo);
    runtime.block_on(async {
        let session = open_in(&world, &settings, project.clone())?;
        let printed = |changes: &Option<Changes>| {
            let changes = changes.as_ref().context("no changes")?;
            let files = changes.files.iter().map(|file| file.name.path.clone());
            anyhow::Ok((changes.exact, changes.undo, files.collect::<Vec<_>>()))
        };
        let ran = bang(&session, "f() { echo x >>$1; }; f kept").await?;
        assert_eq!(
            printed(&ran.changes)?,
            (true, Undoable::Whole, vec!["kept".to_owned()])
        );
        let gone = bang(&session, "rm kept").await?;
        let deleted = "Files: 1 deleted: kept (deleted)";
        assert!(
            gone.notices.iter().any(|it| it.text.contains(deleted)),
            "{gone:?}"
        );
        let call = json!({"command": "g() { echo x >$1; }; g new", "session": "a"});
        let made = session.tool().execute(call, &Cancel::new()).await;
        assert_eq!(printed(&made.changes)?.2, ["new"]);
        // Negative control: a command that changes nothing has no change set.
        let call = json!({"command": "type g", "session": "a"});
        let nothing = session.tool().execute(call, &Cancel::new()).await;
        assert_eq!(printed(&nothing.changes)?.2, [""; 0]);
        anyhow::Ok(())
    })?;
    drop(runtime);
    let left = world.end(PATIENCE);
    anyhow::ensure!(left.is_empty(), "left behind:\n{left}");
    Ok(())
}

#[test]
fn model_calls_share_no_state_with_user_shell() -> Result<()> {
    with_session(|session| async move {
        bang(&session, "cd /usr; x=5").await?;
        let tool = session.tool();
        let result = tool
            .execute(json!({"command": "echo ${x-unset} $PWD"}), &Cancel::new())
            .await;
        assert_eq!(result.text, format!("unset {}\n", session.cwd().display()));
        let call = json!({"command": "y=7", "session": "a"});
        tool.execute(call, &Cancel::new()).await;
        let call = json!({"command": "echo $y", "session": "a"});
        assert_eq!(tool.execute(call, &Cancel::new()).await.text, "7\n");
        Ok(())
    })
}

#[test]
fn pipeline_into_head_keeps_the_shell_state() -> Result<()> {
    with_session(|session| async move {
        let tool = session.tool();
        let run = async |command: &str| {
            let call = json!({"command": command, "session": "a"});
            tool.execute(call, &Cancel::new()).await
        };
        run("x=1").await;
        // The stages run in subshells, whether or not the pipeline is rewritten.
        for command in [
            "{ x=2; cd /usr; echo in; } | head -1",
            "{ echo in; exit 0; } | tail -1",
            "{ x=3; echo in; } | cat | head -1",
        ] {
            assert_eq!(run(command).await.text, "in\n", "{command}");
            let after = run("echo $x $PWD").await;
            let unmoved = format!("1 {}\n", session.cwd().display());
            assert_eq!(after.text, unmoved, "{command}");
        }
        // A command outside of a pipeline changes the shell's state.
        run("x=4; echo in").await;
        assert_eq!(run("echo $x").await.text, "4\n");
        Ok(())
    })
}

/// Scripts whose first and last characters change their meaning next to other characters.
#[test]
#[expect(clippy::disallowed_methods, reason = "bash itself is asked")]
fn pipeline_into_head_prints_what_bash_prints() -> Result<()> {
    with_session(|session| async move {
        for producer in [
            "(seq 9; exit 3)",
            "((1)); echo x",
            "((1))",
            "((x = 5, x > 2)) && echo yes",
            "( (echo nested) )",
            "((echo a; echo b) | cat; echo c)",
            "(echo a) 2>&1",
            "! (echo a)",
            "case a in (a) echo a;; esac",
            "case a in a) echo b;; esac",
            "[[ -n x ]] && echo x",
            "for ((i = 0; i < 3; i++)); do echo $i; done",
            "echo $((1 + 2)) $( (echo c) )",
            "echo 'a)' \\",
            "cat <<< '('",
            "f() (echo in f); f",
        ] {
            let command = format!("{producer} | tail -n 2");
            let call = json!({"command": command, "session": "a"});
            let got = session.tool().execute(call, &Cancel::new()).await;
            let script = format!("set -o pipefail; {command}");
            let bash = Command::new("bash").args(["-c", &script]).output()?;
            let want = String::from_utf8(bash.stdout)?;
            let text = got.text.trim_start_matches("(no output)");
            assert!(text.starts_with(want.trim_end()), "{command}: {text}");
            let code = bash.status.code().unwrap_or_default();
            assert_eq!(got.status, Status::Exited { code }, "{command}: {text}");
        }
        Ok(())
    })
}

#[test]
fn user_commands_run_one_at_a_time_and_are_cancelled() -> Result<()> {
    with_session(|session| async move {
        let began = Arc::new(Notify::new());
        let running = tokio::spawn({
            let (session, began) = (Arc::clone(&session), Arc::clone(&began));
            async move {
                let mut live = Began(began);
                let options = BangOptions {
                    live: Some(&mut live),
                    ..BangOptions::default()
                };
                session
                    .execute_bash("echo begun; sleep 300", options, &Cancel::new())
                    .await
            }
        });
        began.notified().await;
        let refused = bang(&session, "echo second").await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "A bash command is already running. Press Esc to cancel it first."
        );
        // The model's calls are not delayed by it.
        let tool = session.tool();
        let result = tool
            .execute(json!({"command": "echo free"}), &Cancel::new())
            .await;
        assert_eq!(result.text, "free\n");
        assert!(session.abort_bash());
        let message = running.await??;
        assert_eq!(message.status, Status::Cancelled);
        assert_eq!((message.cancelled, message.exit_code), (true, None));
        assert_eq!(message.output, "begun\n");
        assert_eq!(message.annotated_output(), "[Command cancelled]\nbegun\n");
        assert_eq!(
            message.for_model().context("not excluded")?,
            "Ran `echo begun; sleep 300`\n```\nbegun\n```\n\n[Command cancelled]"
        );
        assert!(!session.abort_bash(), "nothing runs any more");
        assert_eq!(session.messages(), [message]);
        assert_eq!(bang(&session, "echo next").await?.output, "next\n");
        Ok(())
    })
}

#[test]
fn user_command_waits_for_the_end_of_the_turn() -> Result<()> {
    with_session(|session| async move {
        session.begin_turn();
        let held = bang(&session, "echo held").await?;
        assert_eq!(session.messages(), []);
        let only = vec![held.clone()];
        assert_eq!(session.end_turn(), only);
        assert_eq!(session.messages(), only);
        assert_eq!(session.end_turn(), [], "only once");
        let after = bang(&session, "echo after").await?;
        assert_eq!(session.messages(), [held, after]);
        Ok(())
    })
}

#[test]
fn model_reads_user_command_unless_excluded() -> Result<()> {
    with_session(|session| async move {
        let fenced = bang(&session, r"printf '```\nx\n```\n'; false").await?;
        assert_eq!(
            fenced.for_model().context("not excluded")?,
            "Ran `printf '```\\nx\\n```\\n'; false`\n````\n```\nx\n```\n````\n\nCommand exited with code 1"
        );
        let silent = bang(&session, "true").await?;
        assert_eq!(
            silent.for_model().context("not excluded")?,
            "Ran `true`\n(no output)"
        );
        let options = BangOptions {
            excluded_from_context: true,
            ..BangOptions::default()
        };
        let hidden = session
            .execute_bash("echo x", options, &Cancel::new())
            .await?;
        assert_eq!(
            (hidden.for_model(), hidden.excluded_from_context),
            (None, true)
        );
        Ok(())
    })
}

#[test]
fn long_output_of_user_command_becomes_an_artifact() -> Result<()> {
    with_session(|session| async move {
        let message = bang(&session, "seq 20000").await?;
        assert!(message.truncated);
        let artifact = message.artifact.clone().context("an artifact")?;
        assert_eq!((artifact.lines, artifact.bytes), (20_000, 108_894));
        assert_eq!(message.summary.total_lines, 20_000);
        let lines = message.output.lines().count() as u64;
        assert_eq!(message.summary.shown_lines, lines);
        assert_eq!(message.summary.shown_bytes, message.output.len() as u64);
        let text = message.for_model().context("not excluded")?;
        let first = 20_000 - lines + 1;
        let notice = format!(
            "```\n\n[Showing lines {first}-20000 of 20000 (50.0KB limit). Full: {}]",
            artifact.uri
        );
        assert!(text.ends_with(&notice), "{}", &text[text.len() - 200..]);
        let path = PathBuf::from(&artifact.path);
        assert!(path.exists());
        let kept = session.artifacts().context("a place")?.list();
        assert_eq!(kept.len(), 1);
        session.close();
        assert!(!path.exists(), "artifacts go with their session");
        Ok(())
    })
}

#[test]
fn user_command_accepts_variables_and_limit() -> Result<()> {
    with_session(|session| async move {
        let options = BangOptions {
            env: [("GREETING".to_owned(), Some("hello".to_owned()))].into(),
            timeout: Some(Duration::from_secs(2)),
            ..BangOptions::default()
        };
        let message = session
            .execute_bash("echo $GREETING; sleep 300", options, &Cancel::new())
            .await?;
        assert_eq!(message.status, Status::TimedOut { after_ms: 2000 });
        assert_eq!(
            (message.output.as_str(), message.cancelled),
            ("hello\n", true)
        );
        let error = session
            .execute_bash(" ", BangOptions::default(), &Cancel::new())
            .await;
        assert!(matches!(error, Err(BangError::Command(_))), "{error:?}");
        assert_eq!(session.messages().len(), 1);
        Ok(())
    })
}

#[test]
fn jobs_outlive_their_session() -> Result<()> {
    with_session(|session| async move {
        let call = json!({"command": "sleep 300", "mode": "background"});
        let result = session.tool().execute(call, &Cancel::new()).await;
        let Status::MovedToBackground { job, .. } = result.status else {
            anyhow::bail!("{result:?}");
        };
        let jobs = Arc::clone(session.jobs().context("a place")?);
        session.close();
        assert_eq!(
            session
                .tool()
                .execute(json!("echo on"), &Cancel::new())
                .await
                .text,
            "on\n"
        );
        drop(session);
        let running = jobs.show(&job)?;
        assert_eq!(json!(running.state)["kind"], "running");
        jobs.kill(&job, Duration::from_secs(2)).await?;
        Ok(())
    })
}

#[test]
fn shells_load_the_user_configuration() -> Result<()> {
    let world = World::new()?;
    std::fs::write(
        world.home().join(".bashrc"),
        "hello() { echo \"hello $1\"; }\n",
    )?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let session = open(&world)?;
        assert_eq!(bang(&session, "hello you").await?.output, "hello you\n");
        let tool = session.tool();
        let result = tool.execute(json!("hello model"), &Cancel::new()).await;
        assert_eq!(result.text, "hello model\n");
        anyhow::Ok(())
    })?;
    drop(runtime);
    assert!(world.end(PATIENCE).is_empty());
    Ok(())
}

#[test]
fn audit_log_marks_user_commands() -> Result<()> {
    let world = World::new()?;
    let log = world.home().join("audit.jsonl");
    let settings = Settings {
        audit_file: Some(log.clone()),
        ..Settings::default()
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let session = open_with(&world, &settings)?;
        bang(&session, "git add . 2>/dev/null; true").await?;
        let tool = session.tool();
        tool.execute(json!("git add ."), &Cancel::new()).await;
        anyhow::Ok(())
    })?;
    let text = std::fs::read_to_string(log)?;
    let answer: Vec<[serde_json::Value; 2]> = text
        .lines()
        .map(serde_json::from_str::<serde_json::Value>)
        .map(|line| line.map(|line| [line["by"].clone(), line["verdict"].clone()]))
        .collect::<Result<_, _>>()?;
    assert_eq!(
        json!(answer),
        json!([["user", "not_asked"], ["model", "blocked"]])
    );
    Ok(())
}
