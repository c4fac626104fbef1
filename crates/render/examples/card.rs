//! Shows the card of a simulated call while it prints and after it ends. Run it with `cargo run -p
//! agent-bash-render --example card`; any key quits.

use agent_bash_core::Status;
use agent_bash_render::{CardState, Theme, ToolCard};
use crossterm::event::{self, Event};
use ratatui::text::Text;
use std::time::Duration;

fn main() -> std::io::Result<()> {
    let theme = Theme::dark();
    let mut card = ToolCard::new("for n in {1..30}; do echo line $n; done");
    card.timeout = Some(Duration::from_secs(300));
    let mut terminal = ratatui::init();
    for step in 0_u64.. {
        if step < 30 {
            card.elapsed += Duration::from_millis(100);
            card.output
                .push(format!("line \x1b[36m{}\x1b[0m\n", step + 1).as_bytes());
        } else {
            card.state = CardState::Ended(Status::Exited { code: 0 });
        }
        terminal.draw(|frame| {
            let area = frame.area();
            let rows = card.rows(area.width, false, 0, area.height.into(), &theme);
            frame.render_widget(Text::from(rows), area);
        })?;
        if event::poll(Duration::from_millis(100))? && matches!(event::read()?, Event::Key(_)) {
            break;
        }
    }
    ratatui::restore();
    Ok(())
}
