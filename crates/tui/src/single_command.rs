//! Shows one command on its own terminal, which fills the host's. For hosts that run a single call.

use crate::console::{Console, EventOutcome};
use crate::host_terminal::HostTerminal;
use crate::links::LinkDestinations;
use crate::redraw::MIN_FRAME_INTERVAL;
use crate::terminal_input::TerminalInput;
use crate::terminals::Terminals;
use agent_bash::core::{Cancel, Clock};
use agent_bash::policy::{Context, Script, needed_terminal};
use agent_bash::pty::{PtySession, PtySize};
use agent_bash_render::{Overlay, SPINNER_STEP, Theme};
use ratatui::layout::Rect;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Awaits `call`, which runs a command with [`Terminals::executor`], and shows the command's
/// terminal while it runs.
///
/// Takes over the host's terminal when the command starts and restores it when the command has
/// ended. If the host's terminal fails, `call` is cancelled through `cancel` and awaited.
///
/// # Errors
///
/// The host's terminal failed. The first value is the result of `call` in any case.
pub async fn show<T>(
    mut terminals: Terminals,
    clock: &Arc<dyn Clock>,
    theme: &Theme,
    command: &str,
    cancel: &Cancel,
    call: impl Future<Output = T>,
) -> (T, io::Result<()>) {
    let context = Context::new("/");
    let wants = needed_terminal(&Script::read(command, &context));
    let is_full_screen = wants.is_some_and(|wants| wants.draws);
    terminals.expect_full_screen(is_full_screen);
    if let Ok((cols, rows)) = crossterm::terminal::size() {
        let area = Rect::new(0, 0, cols, rows);
        let inner = if is_full_screen {
            Overlay::whole_screen_area(area)
        } else {
            Overlay::screen_area(area)
        };
        terminals.set_size(PtySize::clamped(inner.width, inner.height));
    }
    tokio::pin!(call);
    let session = tokio::select! {
        biased;
        result = &mut call => return (result, Ok(())),
        session = terminals.next_session() => session,
    };
    let follow = show_until_end(session, clock, theme, command, is_full_screen);
    tokio::pin!(follow);
    // The call continues while its screen is drawn, and may end before or after the last frame.
    tokio::select! {
        result = &mut call => {
            let shown = follow.await;
            (result, shown)
        }
        shown = &mut follow => {
            if shown.is_err() {
                cancel.cancel();
            }
            (call.await, shown)
        }
    }
}

/// Draws until the command has ended.
async fn show_until_end(
    session: PtySession,
    clock: &Arc<dyn Clock>,
    theme: &Theme,
    command: &str,
    is_full_screen: bool,
) -> io::Result<()> {
    let mut host = HostTerminal::acquire()?;
    let mut input = TerminalInput::new();
    let mut console = Console::new(session, command, clock.now(), is_full_screen);
    let mut changed = true;
    let mut drawn: Option<Duration> = None;
    loop {
        let now = clock.now();
        if changed && drawn.is_none_or(|last| now.saturating_sub(last) >= MIN_FRAME_INTERVAL) {
            host.draw(&LinkDestinations::default(), |frame| {
                console.draw(frame, frame.area(), now, theme);
            })?;
            (changed, drawn) = (false, Some(now));
        }
        let last = drawn.unwrap_or_default();
        let next = last
            + if changed {
                MIN_FRAME_INTERVAL
            } else {
                SPINNER_STEP
            };
        let wake = console
            .deadline()
            .map_or(next, |deadline| deadline.min(next));
        let status = tokio::select! {
            biased;
            event = input.next() => {
                if console.event(&event?, now) == EventOutcome::Close {
                    return Ok(());
                }
                None
            }
            status = console.session.changed() => Some(status),
            () = clock.sleep(wake.saturating_sub(now)) => {
                console.expire(clock.now());
                None
            }
        };
        changed = true;
        // Closes at once, because the result is printed in the place of the console.
        if status.is_some_and(|status| status.ended.is_some()) {
            return Ok(());
        }
    }
}
