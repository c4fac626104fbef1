//! The text for the model about a command that the user ran.

use super::BangMessage;
use crate::profiles;
use crate::profiles::standard::text::{NO_OUTPUT, annotation, exit_line};
use crate::wording::output_notes::truncation_notice;
use crate::wording::{blank_line, end_line};
use agent_bash_core::{NoticeKind, Status, StreamId};

/// The length of the shortest code fence in Markdown.
const MIN_FENCE_CHARS: usize = 3;

impl BangMessage {
    /// Returns the text for the model: ``Ran `cmd` ``, the output in a Markdown fence, and the
    /// outcome of a command that failed. `None` for a message that is hidden from the model.
    pub fn for_model(&self) -> Option<String> {
        (!self.excluded_from_context).then(|| text(self))
    }

    /// Returns the output for the RPC command `bash`. If the command was cancelled or timed out,
    /// the first line says so: `[Command cancelled]` or `[Command timed out after N seconds]`.
    pub fn annotated_output(&self) -> String {
        match annotation(&self.status) {
            Some(line) => format!("{line}\n{}", self.output),
            None => self.output.clone(),
        }
    }
}

/// Returns the message's text, with the sentences of the default profile.
fn text(message: &BangMessage) -> String {
    let mut text = format!("Ran `{}`\n", message.command);
    if message.output.is_empty() {
        text.push_str(NO_OUTPUT);
    } else {
        let fence = "`".repeat(fence_length(&message.output));
        text.push_str(&fence);
        text.push('\n');
        text.push_str(&message.output);
        end_line(&mut text);
        text.push_str(&fence);
    }
    let truncated = truncation_notice(
        StreamId::Merged,
        &message.summary,
        Some(message.summary.total_lines),
        message.artifact.as_ref(),
        profiles::STANDARD.output,
    );
    // The model does not run commands in the user's shell, so a reset of this shell is not
    // reported.
    let is_shown =
        |kind: &NoticeKind| kind.is_for_model() && !matches!(kind, NoticeKind::SessionReset { .. });
    let for_model = message.notices.iter().filter(|n| is_shown(&n.kind));
    let notes: Vec<String> = truncated
        .into_iter()
        .chain(for_model.map(|notice| format!("[{}]", notice.text)))
        .collect();
    let reason = match &message.status {
        Status::NotStarted { reason } => Some(format!("[Command not started: {reason}]")),
        status => annotation(status).or_else(|| exit_line(status)),
    };
    for part in [notes.join("\n"), reason.unwrap_or_default()] {
        if !part.is_empty() {
            blank_line(&mut text);
            text.push_str(&part);
        }
    }
    text
}

/// Returns the length of the code fence around the output. It is longer than the longest run of
/// backticks in the output, so that no run closes the fence.
fn fence_length(output: &str) -> usize {
    let runs = output.split(|c| c != '`').map(str::len);
    runs.max()
        .map_or(MIN_FENCE_CHARS, |longest| MIN_FENCE_CHARS.max(longest + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fence_is_longer_than_any_run_of_backticks() {
        for (output, want) in [
            ("", 3),
            ("plain", 3),
            ("`a` ``b``", 3),
            ("```\nx\n```", 4),
            ("a `````` b", 7),
        ] {
            assert_eq!(fence_length(output), want, "{output}");
        }
    }
}
