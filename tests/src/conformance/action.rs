//! Actions on the jobs, the change sets and the terminals of a case, in place of a call. Each
//! interface performs them in its own way.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// An action. Texts may have placeholders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Undoes one change set or several.
    Undo(ChangesChoice),
    /// Redoes one change set or several.
    Redo(ChangesChoice),
    /// Waits for a job.
    Wait(JobWait),
    /// Lists the jobs, only those on the port if the interface can select them.
    Jobs(JobPort),
    /// Ends a job.
    Kill(JobName),
    /// Runs a command on a terminal, types, and reads the screen.
    Terminal(TerminalUse),
}

/// The change sets of an undo or a redo. One of the fields `changes`, `since` and `turn_name` is
/// set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangesChoice {
    /// One change set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
    /// All change sets from a number or a time on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// All change sets of a turn.
    #[serde(default, rename = "turn", skip_serializing_if = "Option::is_none")]
    pub turn_name: Option<String>,
    /// Skips files that were changed since.
    #[serde(default)]
    pub partial: bool,
}

/// A wait for a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobWait {
    /// The job's number.
    pub job: String,
    /// A regular expression for a line of the output.
    #[serde(default)]
    pub line: Option<String>,
    /// A TCP port.
    #[serde(default)]
    pub port: Option<String>,
    /// A file.
    #[serde(default)]
    pub file: Option<String>,
    /// A time without output, in milliseconds.
    #[serde(default)]
    pub quiet_ms: Option<u64>,
    /// Maximum time to wait.
    pub seconds: f64,
}

/// A port of jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobPort {
    /// The TCP port.
    pub port: String,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobName {
    /// The job's number.
    pub job: String,
}

/// A command on a terminal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerminalUse {
    /// The script.
    pub command: String,
    /// Columns and rows, such as `80x24`.
    #[serde(default = "default_size")]
    pub size: String,
    /// Input, in order.
    pub input: Vec<TerminalInput>,
    /// A regular expression for a line of the last screen, which the reply has.
    pub until: String,
}

fn default_size() -> String {
    "80x24".to_owned()
}

/// One input of a terminal, as soon as a line of the screen matches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerminalInput {
    /// A regular expression for the line.
    pub until: String,
    /// The text to type.
    #[serde(default)]
    pub text: String,
    /// The names of keys to press.
    #[serde(default)]
    pub keys: Vec<String>,
}

/// Maximum wait for a line of a screen, in seconds.
pub const SCREEN_SECONDS: u64 = 50;

impl ChangesChoice {
    /// Returns the arguments of `agent-bash changes`.
    pub(super) fn arguments(&self, verb: &str) -> Vec<String> {
        let mut arguments = vec!["changes".to_owned(), verb.to_owned()];
        arguments.extend(self.changes.clone());
        arguments.extend(self.since.iter().map(|since| format!("--since={since}")));
        arguments.extend(self.turn_name.iter().map(|turn| format!("--turn={turn}")));
        arguments.extend(self.partial.then(|| "--partial".to_owned()));
        arguments
    }

    /// Returns the type and the fields of the RPC request.
    pub(super) fn rpc(&self, verb: &str) -> Value {
        let several = if self.changes.is_some() { "" } else { "_all" };
        let mut request = json!(self);
        request["type"] = json!(format!("changes.{verb}{several}"));
        request
    }

    /// Returns the arguments of MCP's `bash_changes`.
    pub(super) fn mcp(&self, verb: &str) -> Value {
        json!({
            "action": verb, "id": self.changes, "since": self.since, "turn": self.turn_name,
            "partial": self.partial,
        })
    }
}

impl JobWait {
    /// Returns the field `until` of RPC, MCP and the client packages.
    pub fn until(&self) -> Value {
        let mut until = Map::new();
        let port = self.port.as_ref().and_then(|port| port.parse::<u16>().ok());
        for (name, value) in [
            ("line", self.line.as_ref().map(|line| json!(line))),
            ("port", port.map(|port| json!(port))),
            ("file", self.file.as_ref().map(|file| json!(file))),
            ("quiet_ms", self.quiet_ms.map(|time| json!(time))),
        ] {
            until.extend(value.map(|value| (name.to_owned(), value)));
        }
        if until.is_empty() {
            return json!("end");
        }
        Value::Object(until)
    }

    /// Returns the arguments of `agent-bash jobs`.
    pub(super) fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["jobs".to_owned(), "wait".to_owned(), self.job.clone()];
        for (name, value) in [
            ("line", self.line.clone()),
            ("port", self.port.clone()),
            ("file", self.file.clone()),
            ("quiet", self.quiet_ms.map(|time| format!("{time}ms"))),
        ] {
            arguments.extend(value.map(|value| format!("--until-{name}={value}")));
        }
        arguments.push(format!("--timeout={}", self.seconds));
        arguments
    }
}

impl Action {
    /// Returns the arguments of `agent-bash`; `None` for an action that only a person performs on
    /// the command line.
    pub(super) fn arguments(&self) -> Option<Vec<String>> {
        Some(match self {
            Self::Undo(choice) => choice.arguments("undo"),
            Self::Redo(choice) => choice.arguments("redo"),
            Self::Wait(wait) => wait.arguments(),
            Self::Jobs(JobPort { port }) => ["jobs", "list", "--json", "--port", port]
                .map(str::to_owned)
                .into(),
            Self::Kill(JobName { job }) => ["jobs", "kill", job].map(str::to_owned).into(),
            Self::Terminal(_) => return None,
        })
    }

    /// Returns the RPC request; `None` for an action of several requests.
    pub(super) fn rpc(&self) -> Option<Value> {
        Some(match self {
            Self::Undo(choice) => choice.rpc("undo"),
            Self::Redo(choice) => choice.rpc("redo"),
            Self::Wait(wait) => json!({
                "type": "jobs.wait", "job": wait.job, "until": wait.until(), "timeout": wait.seconds,
            }),
            Self::Jobs(JobPort { port }) => {
                json!({"type": "jobs.list", "port": port.parse::<u16>().ok()})
            }
            Self::Kill(JobName { job }) => json!({"type": "jobs.kill", "job": job}),
            Self::Terminal(_) => return None,
        })
    }

    /// Returns the tool of MCP and its arguments; `None` for an action of several calls.
    pub(super) fn mcp(&self) -> Option<(&'static str, Value)> {
        Some(match self {
            Self::Undo(choice) => ("bash_changes", choice.mcp("undo")),
            Self::Redo(choice) => ("bash_changes", choice.mcp("redo")),
            Self::Wait(wait) => {
                let until = wait.until();
                (
                    "bash_output",
                    json!({"job": wait.job, "until": until, "wait": wait.seconds, "offset": 0}),
                )
            }
            Self::Jobs(_) => ("bash_jobs", json!({})),
            Self::Kill(JobName { job }) => ("bash_kill", json!({"job": job})),
            Self::Terminal(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn action_is_expressed_in_the_words_of_each_interface() {
        let action: Action = toml::from_str("undo = { since = '1', partial = true }").unwrap();
        assert_eq!(
            action.arguments().unwrap(),
            ["changes", "undo", "--since=1", "--partial"]
        );
        let request = json!({"type": "changes.undo_all", "since": "1", "partial": true});
        assert_eq!(action.rpc().unwrap(), request);
        let action: Action = toml::from_str("redo = { changes = '7' }").unwrap();
        assert_eq!(action.rpc().unwrap()["type"], "changes.redo");
        let text = "wait = { job = '1', line = 'x', port = '80', quiet_ms = 5, seconds = 2.5 }";
        let action: Action = toml::from_str(text).unwrap();
        let until = json!({"line": "x", "port": 80, "quiet_ms": 5});
        assert_eq!(action.rpc().unwrap()["until"], until);
        assert_eq!(action.mcp().unwrap().1["until"], until);
        let words = [
            "--until-line=x", "--until-port=80", "--until-quiet=5ms", "--timeout=2.5",
        ];
        assert_eq!(action.arguments().unwrap()[3..], words);
        assert!(toml::from_str::<Action>("wait = { job = '1' }").is_err());
    }
}
