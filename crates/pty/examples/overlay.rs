//! A program with an overlay: runs a command on its own terminal and shows it in a box. `cargo run
//! -p agent-bash-pty --example overlay -- 'vim notes.txt'`

use agent_bash_core::{Cancel, Clock, ConsumerFlow, OutputConsumer, RunSpec, ShellChoice};
use agent_bash_core::{StreamId, SurvivorPolicy};
use agent_bash_process::environment::{BaseEnvironment, EnvironmentPolicy, UserPresence};
use agent_bash_process::{SystemClock, resolve_shell, supervisor};
use agent_bash_pty::{PtyExecutor, PtyOptions, PtySize};
use agent_bash_render::{Overlay, OverlayAction, OverlayKeys, OverlayState, Theme};
use std::{path::PathBuf, sync::Arc, time::Duration};

/// Discards the output: the program shows the screen instead.
struct DiscardOutput;
impl OutputConsumer for DiscardOutput {
    fn chunk(&mut self, _: StreamId, _: &[u8]) -> ConsumerFlow {
        ConsumerFlow::Continue
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let token = supervisor::init(); // must come first: this program is its own supervisor
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let options = PtyOptions::new(
        supervisor::Supervisor::this_program(&token),
        Arc::clone(&clock),
        std::env::temp_dir(),
    );
    let command = std::env::args().nth(1).unwrap_or_else(|| "top".to_owned());
    let unattended = Some(UserPresence::Terminal);
    let policy = EnvironmentPolicy {
        unattended,
        ..EnvironmentPolicy::default()
    };
    let env = BaseEnvironment::build(std::env::vars_os(), &policy);
    let spec = RunSpec::new(command.clone(), PathBuf::from("/"))
        .shell(resolve_shell(None, ShellChoice::Bash, &env.variables)?)
        .env(env.for_call(&std::collections::BTreeMap::new()))
        .survivors(SurvivorPolicy::Kill);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let executor = PtyExecutor::new(options);
    let session =
        runtime.block_on(executor.start(&spec, Box::new(DiscardOutput), &Cancel::new()))?;
    let (theme, mut keys, mut terminal) = (Theme::dark(), OverlayKeys::default(), ratatui::init());
    while session.status().ended.is_none() {
        let (screen, mut inner) = (session.screen(), ratatui::layout::Rect::default());
        terminal.draw(|frame| {
            let area = Overlay::area(frame.area());
            inner = Overlay::screen_area(area);
            let (state, elapsed) = (OverlayState::Running, clock.now());
            let overlay = Overlay {
                command: &command,
                state: &state,
                elapsed,
                screen: &screen,
                scrolled: 0,
                is_full_screen: false,
            };
            overlay.render(area, frame.buffer_mut(), &theme);
            if let Some(cursor) = overlay.cursor(area, &theme) {
                frame.set_cursor_position(cursor);
            }
        })?;
        session.resize(PtySize::clamped(inner.width, inner.height));
        let action = if crossterm::event::poll(Duration::from_millis(30))? {
            keys.event(&crossterm::event::read()?, clock.now(), &screen, inner)
        } else {
            keys.expire(clock.now())
        };
        match action {
            // Refused only after the command's end.
            OverlayAction::Send(input) => drop(session.send(&input)),
            OverlayAction::Repeat(input, times) => {
                for _ in 0..times {
                    let _ = session.send(&input);
                }
            }
            OverlayAction::Kill => session.kill(),
            OverlayAction::Nothing | OverlayAction::Scroll(_) => {}
        }
    }
    ratatui::restore();
    Ok(())
}
