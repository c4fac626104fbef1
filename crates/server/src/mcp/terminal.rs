//! Calls on terminals that the model drives: the screen as text, in the answers of `bash`,
//! `bash_output` and `bash_input`.

use super::job_texts::{condition_text, with_line};
use super::jobs::{JobTools, ToolAnswer, answer_if_ended, call_data};
use super::tools::InputArgs;
use agent_bash::core::{Cancel, MetCondition, Until};
use agent_bash_protocol::data::ScreenData;
use agent_bash_running::RunningCall;
use agent_bash_running::terminal::{self, TerminalInput};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// The fields of `bash` that only this server reads.
#[derive(Debug, Default)]
pub(super) struct TerminalFields {
    /// True for a call on a terminal.
    pub(super) on_terminal: bool,
    /// The terminal's size.
    pub(super) size: Option<String>,
}

impl TerminalFields {
    /// Takes the fields from a call's JSON.
    ///
    /// # Errors
    /// `size` is not a text, or the call has no terminal.
    pub(super) fn take_from(request: &mut Value) -> Result<Self, String> {
        let on_terminal = request["pty"] == true;
        let size = request
            .as_object_mut()
            .and_then(|fields| fields.remove("size"))
            .filter(|size| !size.is_null());
        let size = match size {
            None => None,
            Some(_) if !on_terminal => {
                return Err("`size` is the size of a terminal; give `pty: true` too".to_owned());
            }
            Some(Value::String(size)) => Some(size),
            Some(other) => {
                return Err(format!(
                    "`size` must be columns and rows such as \"80x24\", got {other}"
                ));
            }
        };
        Ok(Self { on_terminal, size })
    }
}

/// Returns the text of the first answer, once the screen is quiet.
pub(super) fn first_text(name: &str, screen: &ScreenData) -> String {
    let line = format!(
        "[{}. bash_input {{\"job\": \"{name}\"}} types `text` and presses `keys`, bash_output shows the screen, \
         bash_kill ends it.]",
        state(name, screen)
    );
    with_line(&screen.text, &line)
}

/// Describes a terminal: the name, the size, the cursor, the title.
fn state(name: &str, screen: &ScreenData) -> String {
    let ScreenData {
        cols,
        rows,
        cursor_row,
        cursor_col,
        ..
    } = screen;
    let mut text = format!("{name} runs on a terminal of {cols}x{rows}");
    if screen.cursor_visible {
        let _ = write!(text, ", cursor in row {cursor_row}, column {cursor_col}");
    }
    if let Some(title) = &screen.title {
        let _ = write!(text, ", title {title:?}");
    }
    text
}

impl JobTools {
    /// Types into the terminal of a call. Returns the screen when the screen is quiet or a
    /// condition is met.
    pub(super) async fn terminal_input(
        &self,
        (name, call): (&str, &RunningCall),
        args: &InputArgs,
        wait: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<ToolAnswer, String> {
        let mut keys = args.keys.clone();
        // Ctrl-D ends the input of a program that reads lines.
        keys.extend(args.close.then(|| "C-d".to_owned()));
        let input = TerminalInput {
            size: args.size.as_deref(),
            text: &args.text,
            keys: &keys,
        };
        let (session, clock) = (&self.session, &*self.clock);
        let met = terminal::type_and_wait(session, clock, call, &input, &args.until, wait, cancel);
        let met = met.await?;
        Ok(match answer_if_ended(name, call) {
            Some(answer) => answer,
            None => self.screen_answer(name, call, met.as_ref(), &args.until),
        })
    }

    /// Returns the screen of a running call.
    pub(super) fn screen_answer(
        &self,
        name: &str,
        call: &RunningCall,
        met: Option<&MetCondition>,
        until: &Until,
    ) -> ToolAnswer {
        // The answer shows the screen, so the output so far counts as read.
        call.read(None);
        let condition = condition_text(met, until);
        let job = call_data(name, call);
        let Some(screen) = terminal::screen(&self.session, call) else {
            return ToolAnswer::new(
                format!("[{name} has no screen yet.{condition}]"),
                json!({ "job": job }),
            );
        };
        let line = format!("[{}.{condition}]", state(name, &screen));
        let mut data = json!({ "job": job, "text": screen.text, "screen": screen });
        if let Some(met) = met.filter(|_| !until.is_end()) {
            data["met"] = json!(met);
        }
        ToolAnswer::new(with_line(&screen.text, &line), data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_taken_from_the_call() {
        let mut request = json!({"command": "top", "pty": true, "size": "80x24"});
        let fields = TerminalFields::take_from(&mut request).unwrap();
        assert!(fields.on_terminal && fields.size.as_deref() == Some("80x24"));
        assert_eq!(request, json!({"command": "top", "pty": true}));
        let mut request = json!("ls");
        let fields = TerminalFields::take_from(&mut request).unwrap();
        assert!(!fields.on_terminal && fields.size.is_none());
        for wrong in [json!({"size": "80x24"}), json!({"pty": true, "size": 80})] {
            let error = TerminalFields::take_from(&mut wrong.clone()).unwrap_err();
            assert!(error.starts_with("`size` "), "{error}");
        }
    }
}
