//! Runs calls on a target: sends the requests, then checks and cleans the answers.

use crate::channel::OutputUpdate;
use crate::remote::{AskError, Remote};
use agent_bash_core::visible;
use agent_bash_core::{
    Cancel, Clock, ConsumerFlow, NotRun, NotStarted, OutputConsumer, OutputLimits, PolicyFindings,
    RemoteHost, Status, StreamId, Timestamp, ToolResult, async_trait, lock,
};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Time limit for a target to end its processes when the host disconnects.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum bytes of the text that a result has around the output: notices, paths, the outcome.
const MAX_FRAME_BYTES: usize = 256 * 1024;

/// Maximum bytes of a call's output that this host stores. It shows them if it does not receive the
/// end of the call.
const MAX_LIVE_BYTES: usize = 50 * 1024;

/// A target on which calls run.
#[derive(Debug)]
pub struct RemoteSession {
    remote: Remote,
    /// The name of the state directory on the remote host.
    session: String,
    /// The path of bash on the remote host, if known.
    shell: Option<PathBuf>,
    /// The limits of a result.
    limits: OutputLimits,
    clock: Arc<dyn Clock>,
    /// The name of the turn to which the calls belong, if the client names one.
    turn_name: Mutex<Option<String>>,
}

#[async_trait]
impl RemoteHost for RemoteSession {
    fn name(&self) -> &str {
        &self.remote.target().name
    }

    fn state_directory(&self) -> &str {
        &self.session
    }

    fn shell(&self) -> Option<PathBuf> {
        self.shell.clone()
    }

    fn set_turn(&self, name: String) {
        *lock(&self.turn_name) = Some(name);
    }

    async fn run(
        &self,
        call: &PolicyFindings,
        live: Option<&mut dyn OutputConsumer>,
        cancel: &Cancel,
    ) -> Result<ToolResult, NotRun> {
        let body = json!({
            "request": call.request, "findings": call.findings, "stream": "delta", "turn": *lock(&self.turn_name),
        });
        let begun = self.clock.wall();
        let mut output = LiveOutput::new(live);
        let mut apply = |update| output.apply(update);
        let answer = self
            .remote
            .ask("tool_call", &body, &mut apply, cancel)
            .await;
        match answer {
            Ok(data) => Ok(self.checked(data.as_deref().map_or("null", |data| data.get()), begun)),
            Err(AskError::ConnectionLost(reason)) => Ok(self.lost(&reason, &output.text, begun)),
            Err(AskError::Cancelled) => Err(NotRun::Cancelled),
            Err(AskError::Refused(reason)) => {
                let reason = format!("the target `{}` refused the call: {reason}", self.name());
                Err(NotStarted::new(reason).into())
            }
            Err(other) => Err(NotStarted::new(other.to_string()).into()),
        }
    }

    async fn ask(&self, kind: &str, fields: Value, cancel: &Cancel) -> Result<Value, String> {
        let answer = self.remote.ask(kind, &fields, &mut |_| {}, cancel).await;
        let data = answer.map_err(|error| error.to_string())?;
        let data = data.as_deref().map_or("null", |data| data.get());
        serde_json::from_str(data)
            .map(cleaned)
            .map_err(|error| format!("the target `{}` sent invalid JSON: {error}", self.name()))
    }

    async fn close(&self) {
        self.remote.close(LEAVE_TIMEOUT).await;
    }
}

impl RemoteSession {
    /// Returns a session whose state directory on the remote host has the name `session`. `shell`
    /// is the path of bash there, if known, and `limits` are the limits of a result.
    pub fn new(
        remote: Remote,
        session: String,
        shell: Option<PathBuf>,
        limits: OutputLimits,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            remote,
            session,
            shell,
            limits,
            clock,
            turn_name: Mutex::default(),
        }
    }

    /// Parses, checks and cleans the target's result. For an invalid result, returns the result of
    /// a lost call.
    fn checked(&self, data: &str, begun: Timestamp) -> ToolResult {
        let value = serde_json::from_str::<Value>(data).map(cleaned);
        let result = value.and_then(serde_json::from_value::<ToolResult>);
        let max_bytes = self
            .limits
            .truncation
            .longest()
            .saturating_add(MAX_FRAME_BYTES);
        match result {
            Ok(result) if result.text.len() > max_bytes => {
                let reason = "it sent a result that is longer than the profile allows";
                self.lost(reason, "", begun)
            }
            Ok(mut result) => {
                result.is_error = result.status.is_error();
                result.target = Some(self.name().to_owned());
                result
            }
            Err(error) => self.lost(&format!("it sent an invalid result: {error}"), "", begun),
        }
    }

    /// Returns the result of a call whose end this host did not observe. `printed` is the output so
    /// far.
    fn lost(&self, reason: &str, printed: &str, begun: Timestamp) -> ToolResult {
        let reason = format!("the target `{}` was lost: {reason}", self.name());
        let message = format!(
            "Command lost: {reason}. It may have run, in part or as a whole; look before running it again"
        );
        let text = match printed.trim_end() {
            "" => message,
            printed => format!("{printed}\n\n{message}"),
        };
        let status = Status::Lost {
            reason,
            may_have_run: true,
        };
        let mut result = ToolResult::new(status, text, begun);
        result.target = Some(self.name().to_owned());
        result.duration_ms = self.clock.wall().0.saturating_sub(begun.0) as f64;
        result
    }
}

/// Replaces the control characters in every text by visible marks, so that the texts cannot control
/// a terminal. Does not change texts that agent-bash has cleaned on the target.
fn cleaned(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean(text)),
        Value::Array(values) => values.into_iter().map(cleaned).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields
                .map(|(name, value)| (clean(name), cleaned(value)))
                .collect()
        }
        other => other,
    }
}

/// Replaces the control characters of a text, except newline and tab, by visible marks.
fn clean(text: String) -> String {
    let is_marked = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_marked) {
        return text;
    }
    let marked = |c: char| match c {
        c if is_marked(c) => visible::mark(c),
        c => c.to_string(),
    };
    text.chars().map(marked).collect()
}

/// Returns the last character boundary at or before `index`.
fn boundary(text: &str, index: usize) -> usize {
    (0..=index)
        .rev()
        .find(|index| text.is_char_boundary(*index))
        .unwrap_or(0)
}

/// The output of a call so far, which is also passed on to the caller's consumer.
struct LiveOutput<'a> {
    text: String,
    live: Option<&'a mut dyn OutputConsumer>,
}

impl<'a> LiveOutput<'a> {
    fn new(live: Option<&'a mut dyn OutputConsumer>) -> Self {
        let text = String::new();
        Self { text, live }
    }

    /// Applies an update from the target: removes `rewind` bytes from the end of the text, then
    /// adds the new text.
    fn apply(&mut self, update: OutputUpdate) {
        let OutputUpdate {
            rewind,
            skipped_bytes,
            text,
        } = update;
        let text = clean(text);
        let mut shown = String::new();
        if rewind > 0 {
            let length = boundary(&self.text, self.text.len().saturating_sub(rewind));
            self.text.truncate(length);
            // An update rewinds at most to the start of the last line, so the consumer gets this
            // line again.
            let line_start = self.text.rfind('\n').map_or(0, |end| end + 1);
            shown.push('\r');
            shown.push_str(&self.text[line_start..]);
        }
        if skipped_bytes > 0 {
            self.text.push_str("…\n");
            shown.push_str("…\n");
        }
        self.text.push_str(&text);
        shown.push_str(&text);
        if self.text.len() > 2 * MAX_LIVE_BYTES {
            let start = boundary(&self.text, self.text.len() - MAX_LIVE_BYTES);
            self.text.drain(..start);
        }
        if let Some(live) = &mut self.live
            && live.chunk(StreamId::Merged, shown.as_bytes()) == ConsumerFlow::Stop
        {
            self.live = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct RecordedBytes(Vec<u8>);

    impl OutputConsumer for RecordedBytes {
        fn chunk(&mut self, _: StreamId, bytes: &[u8]) -> ConsumerFlow {
            self.0.extend(bytes);
            ConsumerFlow::Continue
        }
    }

    #[test]
    fn apply_rewrites_the_last_line_after_a_rewind() {
        let mut seen = RecordedBytes::default();
        let mut output = LiveOutput::new(Some(&mut seen));
        for (rewind, text) in [(0, "a\n10%"), (3, "20%"), (2, "5%\u{1b}[2J\ndone")] {
            output.apply(OutputUpdate {
                rewind,
                skipped_bytes: 0,
                text: text.to_owned(),
            });
        }
        assert_eq!(output.text, "a\n25%<U+001B>[2J\ndone");
        assert_eq!(
            String::from_utf8(seen.0).unwrap(),
            "a\n10%\r20%\r25%<U+001B>[2J\ndone"
        );
    }

    #[test]
    fn control_characters_of_a_target_are_marked() {
        let answer =
            json!({"text": "a\u{1b}]52;c;eA==\u{7}\n\tb", "list": ["\u{9b}m\r"], "\u{8}": 1});
        let want = json!({"text": "a<U+001B>]52;c;eA==<U+0007>\n\tb", "list": ["<U+009B>m<U+000D>"], "<U+0008>": 1});
        assert_eq!(cleaned(answer), want);
    }
}
