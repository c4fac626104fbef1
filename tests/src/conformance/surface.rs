//! The interfaces through which calls reach the product.

use super::action::Action;
use super::case::Case;
use crate::poll;
use crate::product::{self, CommandResult};
use crate::refusals::{self, Engine};
use crate::server_client::ServerClient;
use crate::world::World;
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A call to be made.
#[derive(Debug)]
pub struct Call<'a> {
    /// The world of the call.
    pub world: &'a World,
    /// The profile of the call.
    pub profile: &'a str,
    /// The request as JSON text, possibly invalid on purpose.
    pub request: &'a str,
    /// The adapter and its tool that the request is for.
    pub adapter: Option<(&'a str, &'a str)>,
    /// True if an interface may express the request in its own way; otherwise the text itself is
    /// under test.
    pub may_reword: bool,
    /// Environment variables of the host, in addition to the world's.
    pub environment: &'a BTreeMap<String, String>,
    /// The model's other tools, if the case names any.
    pub tools: Option<&'a [String]>,
    /// Cancel the call when this file exists.
    pub cancel_when: Option<PathBuf>,
    /// The agent's turn to which the call belongs.
    pub turn_name: Option<&'a str>,
    /// The user's answers to the password prompts of the call.
    pub answers: &'a [String],
}

impl Call<'_> {
    /// The option that names the model's other tools, if the case names any.
    pub(super) fn tools_option(&self) -> Option<String> {
        let tools = self.tools?;
        Some(format!("--tools={}", tools.join(",")))
    }
}

/// The reply to a call.
#[derive(Debug, Default)]
pub struct Reply {
    /// The text for the model.
    pub text: String,
    /// The result object, if the interface returns it.
    pub result: Option<Value>,
    /// True if the model gets an error, if the interface reports this separately from the result.
    pub is_error: Option<bool>,
    /// An adapter's structured output, if the interface returns it.
    pub structured: Option<Value>,
    /// The data of an action, if the interface returns it.
    pub data: Option<Value>,
    /// The exit code, if the interface has one.
    pub exit_code: Option<i32>,
    /// Other output, for failure reports.
    pub stderr: String,
}

/// A way to call the product.
pub trait Surface: Send + Sync {
    /// The name in reports.
    fn name(&self) -> &'static str;

    /// True if the interface can express the case.
    fn takes(&self, case: &Case) -> bool {
        case.adapter.is_none()
    }

    /// Performs an action. `call` has no request.
    ///
    /// # Errors
    /// As for [`Self::call`].
    fn act(
        &self,
        call: &Call<'_>,
        action: &Action,
        server: &mut Option<ServerClient>,
    ) -> Result<Reply>;

    /// Makes one call and waits for its end. `server` persists between the calls of a case, for
    /// interfaces that have one.
    ///
    /// # Errors
    /// The interface failed: no reply, or one in the wrong form. The outcome of the call itself is
    /// in the reply.
    fn call(&self, call: &Call<'_>, server: &mut Option<ServerClient>) -> Result<Reply>;
}

/// `agent-bash run --json`: the request as an object on stdin, the result as an object on stdout.
#[derive(Debug)]
pub struct CliJson;

impl Surface for CliJson {
    fn name(&self) -> &'static str {
        "cli-json"
    }

    fn takes(&self, case: &Case) -> bool {
        is_for_command_line(case)
    }

    fn act(&self, call: &Call<'_>, action: &Action, _: &mut Option<ServerClient>) -> Result<Reply> {
        act_by_command(call, action, call.world.command(product::agent_bash()?))
    }

    fn call(&self, call: &Call<'_>, _: &mut Option<ServerClient>) -> Result<Reply> {
        by_json(call, call.world.command(product::agent_bash()?))
    }
}

/// `agent-bash run --json` under the refusals of a container engine.
#[derive(Debug)]
pub struct InEngine {
    /// The engine.
    pub engine: Engine,
    /// The program `refuse`.
    pub refuse: PathBuf,
}

impl Surface for InEngine {
    fn name(&self) -> &'static str {
        self.engine.name
    }

    fn takes(&self, case: &Case) -> bool {
        let is_lacking = |needed| self.engine.lacks.contains(needed);
        is_for_command_line(case) && !case.needs.iter().any(is_lacking)
    }

    fn act(&self, call: &Call<'_>, action: &Action, _: &mut Option<ServerClient>) -> Result<Reply> {
        let refusals = self.engine.refusals;
        let product = refusals::agent_bash(call.world, &self.refuse, refusals)?;
        act_by_command(call, action, product)
    }

    fn call(&self, call: &Call<'_>, _: &mut Option<ServerClient>) -> Result<Reply> {
        let refusals = self.engine.refusals;
        by_json(
            call,
            refusals::agent_bash(call.world, &self.refuse, refusals)?,
        )
    }
}

/// True if the command line can express the case. `agent-bash run` names no turns and answers no
/// prompts, and terminals are for people there.
fn is_for_command_line(case: &Case) -> bool {
    let is_served = !case.names_turns() && !case.drives_terminal() && !case.asks_user();
    case.adapter.is_none() && is_served
}

/// Performs an action by a command of its own. The text is stdout and stderr.
fn act_by_command(call: &Call<'_>, action: &Action, product: Command) -> Result<Reply> {
    let arguments = action
        .arguments()
        .context("the command line does not have this action")?;
    let arguments = arguments.into_iter().map(OsString::from);
    let ran = run_cli(call, product, arguments, None)?;
    let data = match action {
        Action::Jobs(_) => {
            let jobs = ran.stdout.lines().map(serde_json::from_str);
            Some(json!({"jobs": jobs.collect::<Result<Vec<Value>, _>>()?}))
        }
        _ => None,
    };
    Ok(Reply {
        text: format!("{}{}", ran.stdout, ran.stderr),
        data,
        exit_code: Some(ran.code),
        ..Reply::default()
    })
}

fn by_json(call: &Call<'_>, product: Command) -> Result<Reply> {
    let arguments = ["run", "--json", "--request", "--profile", call.profile];
    let tools = call.tools_option().map(OsString::from);
    let arguments = arguments.map(OsString::from).into_iter().chain(tools);
    let ran = run_cli(call, product, arguments, Some(call.request))?;
    let result: Value = serde_json::from_str(&ran.stdout)
        .with_context(|| format!("stdout is no result object: {ran:?}"))?;
    let text = result["text"]
        .as_str()
        .with_context(|| format!("the result has no text: {result}"))?;
    Ok(Reply {
        text: text.to_owned(),
        result: Some(result.clone()),
        exit_code: Some(ran.code),
        stderr: ran.stderr,
        ..Reply::default()
    })
}

/// `agent-bash run 'script'` with flags: the text on stdout.
#[derive(Debug)]
pub struct CliText;

/// Maximum length of a script that is an argument; Linux limits one argument to 128 KiB. A longer
/// script goes to stdin.
const MAX_ARGUMENT_BYTES: usize = 64 * 1024;

impl Surface for CliText {
    fn name(&self) -> &'static str {
        "cli-text"
    }

    fn takes(&self, case: &Case) -> bool {
        is_for_command_line(case)
    }

    fn act(&self, call: &Call<'_>, action: &Action, _: &mut Option<ServerClient>) -> Result<Reply> {
        act_by_command(call, action, call.world.command(product::agent_bash()?))
    }

    fn call(&self, call: &Call<'_>, _: &mut Option<ServerClient>) -> Result<Reply> {
        let mut arguments: Vec<OsString> = ["run", "--profile", call.profile]
            .map(OsString::from)
            .into();
        arguments.extend(call.tools_option().map(OsString::from));
        let mut input = None;
        let request = call
            .may_reword
            .then(|| serde_json::from_str::<Value>(call.request))
            .transpose()?;
        if let Some((script, flags)) = request.as_ref().and_then(flags) {
            arguments.extend(flags.into_iter().map(OsString::from));
            if script.len() > MAX_ARGUMENT_BYTES || script.contains('\0') {
                arguments.push("-".into());
                input = Some(script);
            } else {
                arguments.push("--".into());
                arguments.push(script.into());
            }
        } else {
            arguments.push("--request".into());
            input = Some(call.request);
        }
        let product = call.world.command(product::agent_bash()?);
        let ran = run_cli(call, product, arguments, input)?;
        Ok(Reply {
            text: ran.stdout,
            exit_code: Some(ran.code),
            stderr: ran.stderr,
            ..Reply::default()
        })
    }
}

/// Returns the request as a script and flags; `None` if flags cannot express it.
fn flags(request: &Value) -> Option<(&str, Vec<String>)> {
    let fields = request.as_object()?;
    let script = fields.get("command")?.as_str()?;
    let mut flags = Vec::new();
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("command", _) => {}
            ("wait", Value::Bool(true)) => flags.push("--wait".to_owned()),
            ("show_kb", Value::Number(number)) => {
                flags.extend(["--show-kb".to_owned(), number.to_string()]);
            }
            ("mode" | "cwd" | "timeout" | "show", Value::String(text)) => {
                flags.extend([format!("--{name}"), text.clone()]);
            }
            ("timeout" | "head" | "tail", Value::Number(number)) => {
                flags.extend([format!("--{name}"), number.to_string()]);
            }
            ("env", Value::Object(variables)) => {
                for (variable, value) in variables {
                    flags.extend([
                        "--env".to_owned(),
                        format!("{variable}={}", value.as_str()?),
                    ]);
                }
            }
            _ => return None,
        }
    }
    Some((script, flags))
}

fn run_cli(
    call: &Call<'_>,
    mut command: Command,
    arguments: impl IntoIterator<Item = OsString>,
    input: Option<&str>,
) -> Result<CommandResult> {
    command.envs(call.environment).args(arguments);
    let child = product::start(command, input)?;
    let id = child.id();
    let waiting = std::thread::spawn(move || child.wait_with_output());
    if let Some(file) = &call.cancel_when {
        cancel(id, file, || waiting.is_finished())?;
    }
    match waiting.join() {
        Ok(output) => Ok(output?.into()),
        Err(_) => bail!("the thread that waits for the product panicked"),
    }
}

/// Sends SIGINT, as Ctrl-C would, as soon as `file` exists.
fn cancel(id: u32, file: &Path, is_over: impl Fn() -> bool) -> Result<()> {
    poll::until(Duration::from_secs(30), || {
        (file.exists() || is_over()).then_some(())
    });
    if is_over() {
        bail!("the call ended before {} was there", file.display());
    }
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
    let pid = pid.context("a child has a process id")?;
    Ok(rustix::process::kill_process(pid, Signal::INT)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_express_a_request_or_return_none() {
        let request = json!({"command": "ls", "timeout": 2, "cwd": "a", "env": {"A": "1"}});
        let (script, mut flags) = flags(&request).unwrap();
        flags.sort();
        assert_eq!(script, "ls");
        assert_eq!(flags, ["--cwd", "--env", "--timeout", "2", "A=1", "a"]);
        for other in [
            json!("ls"),
            json!({"command": 5}),
            json!({"command": "ls", "zzz": 1}),
            json!({"command": "ls", "env": {"A": null}}),
            json!({"command": "ls", "head": "x"}),
        ] {
            assert!(super::flags(&other).is_none(), "{other}");
        }
    }
}
