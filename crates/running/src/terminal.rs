//! Calls on terminals that a model or a client drives. The functions prepare a call, send keys,
//! wait until the screen is quiet, and read the screen.
//!
//! [`RunningCalls::start`](crate::RunningCalls::start) starts the call, with the
//! [`options`] as its terminal and with [`call_input`] as its input.

use crate::calls::{RunningCall, WriteError};
use crate::until::{ConditionWatch, POLL_INTERVAL, WatchedProcess};
use agent_bash::core::{
    Cancel, Clock, KeyInput, MetCondition, ToolResult, Until, masked_text, parse_request,
};
use agent_bash::process::environment::attended;
use agent_bash::pty::{PtyOptions, PtySession, PtySize};
use agent_bash::remote::protocol::data::ScreenData;
use agent_bash::{Conversation, Input, mask_condition};
use serde_json::Value;
use std::time::Duration;

/// The size of a terminal, if the client names none.
const DEFAULT_SIZE: (u16, u16) = (80, 24);

/// The screen counts as quiet if it has not changed for this long.
const QUIET_TIME: Duration = Duration::from_millis(300);

/// Maximum wait for the first output of a command.
const FIRST_OUTPUT_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum wait for the first change after input.
const REACTION_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum wait for a screen that keeps changing.
const QUIET_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum wait for a terminal to be opened. The call may wait for an approver before that.
const OPEN_TIMEOUT: Duration = Duration::from_secs(50);

const NO_TERMINALS: &str = "there are no terminals here; run it without one";

/// The refusal for a conversation with a remote host.
pub const NO_TARGET_TERMINALS: &str = "a target has no terminals; run it without one, or use `ssh -t` and the like for programs that need one";

/// Returns the options of a terminal of this size, such as `80x24`.
///
/// # Errors
/// The conversation has no terminals or runs its calls on a remote host, or the size is invalid.
pub fn options(session: &Conversation, size: Option<&str>) -> Result<PtyOptions, String> {
    if session.remote_host().is_some() {
        return Err(NO_TARGET_TERMINALS.to_owned());
    }
    let (cols, rows) = DEFAULT_SIZE;
    let size = size.map_or_else(|| Ok(PtySize::clamped(cols, rows)), parse_size)?;
    let options = session.terminals().ok_or(NO_TERMINALS)?.clone();
    Ok(PtyOptions { size, ..options })
}

/// Parses columns and rows. The nearest allowed size is used.
fn parse_size(text: &str) -> Result<PtySize, String> {
    let number = |text: &str| text.trim().parse().ok();
    text.split_once(['x', 'X', '×'])
        .and_then(|(cols, rows)| Some(PtySize::clamped(number(cols)?, number(rows)?)))
        .ok_or_else(|| format!("`size` must be columns and rows such as \"80x24\", got {text:?}"))
}

/// Returns the call of a command on a terminal: with the user's own editor, pager and prompts,
/// because the client can answer. Such a call always continues after its answer.
pub fn call_input(session: &Conversation, request: Value) -> Input {
    let Ok(mut parsed) = parse_request(&request) else {
        // The call reports the error.
        return Input::Json(request);
    };
    let request = &mut parsed.request;
    for (name, value) in attended(&session.host().env) {
        request.env.entry(name).or_insert(value);
    }
    request.mode = None;
    Input::Parsed(parsed)
}

/// Input for a terminal.
#[derive(Debug, Default)]
pub struct TerminalInput<'a> {
    /// The new size, set first.
    pub size: Option<&'a str>,
    /// The text, typed next; a newline is the key Enter.
    pub text: &'a str,
    /// The names of keys, pressed last.
    pub keys: &'a [String],
}

/// Sends input to a call's terminal. If any part of the input is invalid, nothing is sent.
fn send_input(call: &RunningCall, input: &TerminalInput<'_>) -> Result<(), String> {
    let keys: Result<Vec<KeyInput>, _> = input.keys.iter().map(|k| KeyInput::named(k)).collect();
    let keys = keys.map_err(|error| error.to_string())?;
    let size = input.size.map(parse_size).transpose()?;
    let refused = |error: &dyn std::fmt::Display| format!("nothing was typed: {error}");
    let terminal = call.terminal().map_err(|error| refused(&error))?;
    if let Some(size) = size {
        terminal.resize(size);
    }
    let text = input.text.replace("\r\n", "\r").replace('\n', "\r");
    let mut sent = Ok(());
    if !text.is_empty() {
        sent = terminal.send_bytes(text.as_bytes());
    }
    for key in keys {
        sent = sent.and_then(|()| terminal.send(&key));
    }
    sent.map_err(|error| refused(&error))
}

/// Returns the version number of a call's screen; 0 before the screen exists.
fn generation(call: &RunningCall) -> u64 {
    call.terminal()
        .map_or(0, |terminal| terminal.status().generation)
}

/// The event after which [`until_quiet`] waits.
#[derive(Debug, Clone, Copy)]
pub enum QuietAfter {
    /// The command's start.
    Start,
    /// Input that was sent when the screen had this version number.
    Input(u64),
}

/// Waits until the screen is quiet, the call has ended, or the wait is cancelled.
pub async fn until_quiet(
    call: &RunningCall,
    clock: &dyn Clock,
    after: QuietAfter,
    cancel: &Cancel,
) {
    let (old_generation, first_timeout) = match after {
        QuietAfter::Start => (0, FIRST_OUTPUT_TIMEOUT),
        QuietAfter::Input(generation) => (generation, REACTION_TIMEOUT),
    };
    let quiet = async {
        let terminal = tokio::select! {
            terminal = opened_terminal(call, clock) => terminal,
            () = clock.sleep(OPEN_TIMEOUT) => return,
        };
        tokio::select! {
            () = until_unchanged(terminal, clock, old_generation, first_timeout) => {}
            () = clock.sleep(QUIET_TIMEOUT) => {}
        }
    };
    tokio::select! {
        biased;
        _ = call.ended() => {}
        () = cancel.cancelled() => {}
        () = quiet => {}
    }
}

/// Returns the call's terminal once it is open.
pub(crate) async fn opened_terminal(call: &RunningCall, clock: &dyn Clock) -> PtySession {
    loop {
        match call.terminal() {
            Ok(terminal) => return terminal.clone(),
            Err(WriteError::NoInput) => std::future::pending().await,
            Err(_) => clock.sleep(POLL_INTERVAL).await,
        }
    }
}

/// Returns when the screen has not changed for [`QUIET_TIME`] since its last change, or has still
/// version `generation` after `first_timeout`.
async fn until_unchanged(
    mut terminal: PtySession,
    clock: &dyn Clock,
    mut generation: u64,
    first_timeout: Duration,
) {
    let mut pause = first_timeout;
    loop {
        tokio::select! {
            biased;
            status = terminal.changed() => {
                if status.generation != generation {
                    generation = status.generation;
                    pause = QUIET_TIME;
                }
            }
            () = clock.sleep(pause) => return,
        }
    }
}

/// Types into a call's terminal. Then waits until the screen is quiet or, with a condition or a
/// limit, like [`wait_for`].
///
/// # Errors
/// The input or the regular expression is invalid, or the call has no terminal.
pub async fn type_and_wait(
    session: &Conversation,
    clock: &dyn Clock,
    call: &RunningCall,
    input: &TerminalInput<'_>,
    until: &Until,
    limit: Option<Duration>,
    cancel: &Cancel,
) -> Result<Option<MetCondition>, String> {
    let (generation, from) = (generation(call), call.unread_from());
    send_input(call, input)?;
    if until.is_end() && limit.is_none() {
        until_quiet(call, clock, QuietAfter::Input(generation), cancel).await;
        return Ok(None);
    }
    wait_for(session, clock, call, (until, from), limit, cancel).await
}

/// Waits for a condition of a call, or for the end of the call without conditions. The wait also
/// ends after `limit`, at the end of the call, and on cancellation. `from` is the byte of the
/// output from which a line is searched.
///
/// # Errors
/// The regular expression is invalid.
pub async fn wait_for(
    session: &Conversation,
    clock: &dyn Clock,
    call: &RunningCall,
    (until, from): (&Until, u64),
    limit: Option<Duration>,
    cancel: &Cancel,
) -> Result<Option<MetCondition>, String> {
    tokio::select! {
        biased;
        _ = call.wait(clock, limit, cancel) => Ok(None),
        condition = condition(session, clock, call, until, from) => {
            let mut met = Some(condition?);
            mask_condition(session.tool().output_mask().map(|mask| &**mask), &mut met);
            Ok(met)
        }
    }
}

/// Waits until a condition of a running call is met; forever without conditions.
async fn condition(
    session: &Conversation,
    clock: &dyn Clock,
    call: &RunningCall,
    until: &Until,
    from: u64,
) -> Result<MetCondition, String> {
    if until.is_end() {
        return std::future::pending().await;
    }
    let mut watch = ConditionWatch::new(until, from).map_err(|error| error.to_string())?;
    loop {
        // Output that is no longer kept was not searched.
        let (bytes, start) = call.peek(watch.next());
        watch.skip_to(start);
        let met = match watch.output(&bytes).or_else(|| on_screen(&watch, call)) {
            Some(met) => Some(met),
            None => watch.check(&process_of(session, call), &[]).await,
        };
        let activity = match call.terminal() {
            Ok(terminal) => terminal.status().generation,
            Err(_) => call.total_bytes(),
        };
        if let Some(met) = met.or_else(|| watch.quiet(activity, clock.now())) {
            return Ok(met);
        }
        clock.sleep(POLL_INTERVAL).await;
    }
}

/// Searches the screen for a line, because the output lacks the text that full-screen programs
/// draw.
fn on_screen(watch: &ConditionWatch, call: &RunningCall) -> Option<MetCondition> {
    let terminal = call.terminal().ok()?;
    watch.lines(terminal.text().iter().map(String::as_str))
}

fn process_of(session: &Conversation, call: &RunningCall) -> WatchedProcess {
    WatchedProcess {
        pid: call.process().map(|(pid, _)| pid),
        cwd: session.host().cwd.clone(),
        is_sandboxed: true,
    }
}

/// Returns the screen of a call, with masked secrets. After the end of the call, returns its last
/// screen. `None` if the call never had a screen.
pub fn screen(session: &Conversation, call: &RunningCall) -> Option<ScreenData> {
    let terminal = call.terminal().ok()?;
    let screen = terminal.screen();
    let mask = session.tool().output_mask().map(|mask| &**mask);
    let masked = |text: &str| masked_text(mask, text).into_owned();
    Some(ScreenData {
        text: masked(&terminal.text().join("\n")),
        cols: screen.cols,
        rows: screen.rows,
        cursor_row: screen.cursor.row + 1,
        cursor_col: screen.cursor.col + 1,
        cursor_visible: screen.cursor.visible,
        title: (!screen.title.is_empty()).then(|| masked(&screen.title)),
        full_screen: screen.modes.alternate_screen,
        waiting: terminal.status().waiting,
    })
}

/// Returns the result of an ended call.
pub fn result(call: &RunningCall) -> Option<ToolResult> {
    call.finished_call()
        .map(|finished_call| finished_call.result.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_size_reads_columns_and_rows() {
        for (text, want) in [
            ("80x24", (80, 24)),
            ("132 × 43", (132, 43)),
            ("1x1", (20, 5)),
        ] {
            let size = parse_size(text).unwrap();
            assert_eq!((size.cols(), size.rows()), want, "{text}");
        }
        for text in ["", "80", "80x", "x24", "80x24x2", "-1x3"] {
            let error = parse_size(text).unwrap_err();
            assert!(error.contains("such as \"80x24\", got"), "{error}");
        }
    }
}
