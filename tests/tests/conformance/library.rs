//! The library as an interface: a tool with real shells in this process, as in an agent written in
//! Rust.

use agent_bash::core::{Cancel, Clock, JobId, Until, async_trait};
use agent_bash::process::SystemClock;
use agent_bash::process::supervisor::{Supervisor, Token};
use agent_bash::session::{Conversation, ConversationOptions};
use agent_bash::sink::Lifetime;
use agent_bash::tools::clean;
use agent_bash::{
    Approval, Approver, BashToolBuilder, ChangesRefused, HostContext, PasswordPrompt, Proposal,
    mask_condition, mask_job_output, settings,
};
use agent_bash_running::terminal::{self, TerminalInput};
use agent_bash_running::until::{LAST_OUTPUT, wait_until};
use agent_bash_running::{RunningCall, RunningCalls, StartOptions};
use agent_bash_tests::conformance::{
    Action, Call, ChangesChoice, JobWait, Reply, SCREEN_SECONDS, Surface, TerminalUse,
};
use agent_bash_tests::poll;
use agent_bash_tests::server_client::ServerClient;
use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Runtime;

/// The library.
#[derive(Debug)]
pub(crate) struct Library {
    runtime: Runtime,
    token: Token,
}

impl Library {
    /// A token that proves that this program's `main` starts as a host's must.
    pub(crate) fn new(token: Token) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        Ok(Self { runtime, token })
    }

    /// Uses warm shells, unlike the command line, so that the case also finds their leftovers.
    fn session(&self, call: &Call<'_>) -> Result<Conversation> {
        let mut environment = call.world.environment();
        environment.extend(call.environment.clone());
        let host = HostContext {
            cwd: call.world.cwd(),
            home: Some(call.world.home()),
            env: Arc::new(
                environment
                    .into_iter()
                    .map(|(name, value)| (name.into(), value.into()))
                    .collect(),
            ),
            tools: call.tools.map(<[String]>::to_vec),
            processes: Arc::default(),
        };
        let mut loaded = settings::load(&host)?;
        loaded.set("profile", call.profile, "the case")?;
        let options = ConversationOptions {
            // As on the command line: cases read artifacts after the call.
            lifetime: Lifetime::Day,
            ..ConversationOptions::long_lived("library", Supervisor::this_program(&self.token))
        };
        let add = |builder: BashToolBuilder| match call.answers {
            [] => builder,
            answers => builder.approver(Arc::new(User(Mutex::new(answers.to_vec().into())))),
        };
        Ok(Conversation::open_with(
            &loaded.settings, host, options, add,
        )?)
    }
}

/// The user of a case, with the answers to password prompts. Allows every command.
struct User(Mutex<VecDeque<String>>);

#[async_trait]
impl Approver for User {
    async fn approve(&self, _: &Proposal<'_>) -> Approval {
        Approval::Allow
    }

    fn answers_prompts(&self) -> bool {
        true
    }

    async fn answer_prompt(&self, _: &PasswordPrompt<'_>) -> Option<String> {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.pop_front()
    }
}

impl Surface for Library {
    fn name(&self) -> &'static str {
        "library"
    }

    fn act(&self, call: &Call<'_>, action: &Action, _: &mut Option<ServerClient>) -> Result<Reply> {
        let _on_runtime = self.runtime.enter();
        let session = self.session(call)?;
        self.runtime.block_on(act(&session, action))
    }

    fn call(&self, call: &Call<'_>, _: &mut Option<ServerClient>) -> Result<Reply> {
        let request: Value = serde_json::from_str(call.request)?;
        let cancel = Cancel::new();
        // Shells are started and ended on the runtime, so the tool must be created and dropped
        // there.
        let _on_runtime = self.runtime.enter();
        let session = self.session(call)?;
        if let Some(turn) = call.turn_name {
            let begun = session.begin_changes_turn(turn.to_owned());
            self.runtime.block_on(begun)?;
        }
        let tool = session.tool();
        let running = {
            let (tool, cancel) = (tool.clone(), cancel.clone());
            self.runtime
                .spawn(async move { tool.execute(request, &cancel).await })
        };
        if let Some(file) = &call.cancel_when {
            poll::until(Duration::from_secs(30), || {
                (file.exists() || running.is_finished()).then_some(())
            });
            if running.is_finished() {
                bail!("the call ended before {} was there", file.display());
            }
            cancel.cancel();
        }
        let result = self.runtime.block_on(running)?;
        Ok(Reply {
            text: result.text.clone(),
            exit_code: Some(result.status.exit_code().into()),
            result: Some(serde_json::to_value(result)?),
            ..Reply::default()
        })
    }
}

/// Performs an action.
async fn act(session: &Conversation, action: &Action) -> Result<Reply> {
    let jobs = session.jobs().context("the session has no jobs")?;
    match action {
        Action::Undo(choice) => invert(session, choice, false),
        Action::Redo(choice) => invert(session, choice, true),
        Action::Wait(wait) => wait_for(session, wait).await,
        Action::Jobs(port) => {
            let listed = jobs.list_with_ports(Some(port.port.parse()?)).await?;
            Ok(Reply {
                data: Some(json!({ "jobs": listed })),
                ..Reply::default()
            })
        }
        Action::Kill(job) => {
            let id = JobId(job.job.clone());
            jobs.kill(&id, Duration::from_secs(2)).await?;
            Ok(Reply::default())
        }
        Action::Terminal(used) => drive(session, used).await,
    }
}

/// Undoes or redoes change sets. A refusal is an error for the model.
fn invert(session: &Conversation, choice: &ChangesChoice, is_redo: bool) -> Result<Reply> {
    let sets = session.changes();
    let done = if let Some(id) = &choice.changes {
        let id = id.parse()?;
        let done = if is_redo {
            sets.redo(id)
        } else {
            sets.undo(id, &[], choice.partial)
        };
        done.map(|done| (done.text, Value::Null))
    } else {
        let scope = session.changes_scope(choice.since.as_deref(), choice.turn_name.as_deref());
        let scope = scope.map_err(|error| anyhow!(error))?;
        let done = if is_redo {
            sets.redo_group(&scope)
        } else {
            sets.undo_group(&scope, choice.partial)
        };
        done.map(|done| {
            (
                done.text,
                json!({ "sets": done.sets, "turn": done.turn_name }),
            )
        })
    };
    Ok(reply_of(done))
}

fn reply_of(done: Result<(String, Value), ChangesRefused>) -> Reply {
    let is_error = Some(done.is_err());
    let (text, data) = done.unwrap_or_else(|refused| (refused.to_string(), Value::Null));
    Reply {
        text,
        data: is_error.filter(|is_error| !is_error).map(|_| data),
        is_error,
        ..Reply::default()
    }
}

/// Waits for a job.
async fn wait_for(session: &Conversation, wait: &JobWait) -> Result<Reply> {
    let jobs = session.jobs().context("the session has no jobs")?;
    let id = JobId(wait.job.clone());
    let until: Until = serde_json::from_value(wait.until())?;
    let limit = Some(Duration::from_secs_f64(wait.seconds));
    let mut waited = wait_until(jobs, &id, (&until, 0), limit, &Cancel::new()).await?;
    let mut output = jobs.output(&id, LAST_OUTPUT)?;
    let mask = session.tool().output_mask().map(|mask| &**mask);
    mask_condition(mask, &mut waited.met);
    mask_job_output(mask, &mut output);
    Ok(Reply {
        text: clean(&output.bytes),
        data: Some(json!({ "met": waited.met })),
        ..Reply::default()
    })
}

/// Drives a terminal; returns its last screen.
async fn drive(session: &Conversation, used: &TerminalUse) -> Result<Reply> {
    let to_error = |error: String| anyhow!(error);
    let (stop, clock) = (Cancel::new(), SystemClock::new());
    let calls = RunningCalls::new(stop.clone());
    let options = StartOptions {
        terminal: Some(terminal::options(session, Some(&used.size)).map_err(to_error)?),
        ..StartOptions::default()
    };
    let request = json!({"command": used.command, "pty": true});
    let input = terminal::call_input(session, request);
    let running = calls.start(session.tool(), input, options)?;
    for input in &used.input {
        await_line(session, &clock, &running, &input.until).await?;
        let keys = TerminalInput {
            size: None,
            text: &input.text,
            keys: &input.keys,
        };
        let until = Until::default();
        terminal::type_and_wait(session, &clock, &running, &keys, &until, None, &stop)
            .await
            .map_err(to_error)?;
    }
    await_line(session, &clock, &running, &used.until).await?;
    let screen = terminal::screen(session, &running).context("the call has no screen")?;
    stop.cancel();
    running.ended().await;
    Ok(Reply {
        text: screen.text,
        data: Some(json!({"screen": {"cols": screen.cols, "rows": screen.rows}})),
        ..Reply::default()
    })
}

/// Waits until a line of the screen matches.
async fn await_line(
    session: &Conversation,
    clock: &dyn Clock,
    running: &RunningCall,
    line: &str,
) -> Result<()> {
    let until = Until {
        line: Some(line.to_owned()),
        ..Until::default()
    };
    let limit = Some(Duration::from_secs(SCREEN_SECONDS));
    let cancel = Cancel::new();
    let met = terminal::wait_for(session, clock, running, (&until, 0), limit, &cancel).await;
    match met.map_err(|error| anyhow!(error))? {
        Some(_) => Ok(()),
        None => bail!("no line is {line}"),
    }
}
