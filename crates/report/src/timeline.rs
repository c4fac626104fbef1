//! The strip at the top: each call where it was in time.

use agent_bash_core::visible;
use agent_bash_journal::Entry;
use agent_bash_render::words::{self, duration, outcome};
use maud::{Markup, html};

/// Width of the strip in its own units.
const WIDTH: f64 = 1000.0;
/// A call is at least this wide, so that it can be seen.
const LEAST: f64 = 1.5;
const HEIGHT: u32 = 24;

/// The strip; nothing if there is only one moment.
pub(crate) fn timeline(entries: &[Entry]) -> Markup {
    let begin = |entry: &Entry| millis(entry.result.started_at.0);
    let end = |entry: &Entry| begin(entry) + entry.result.duration_ms.max(0.0);
    let first = entries.iter().map(begin).fold(f64::INFINITY, f64::min);
    let last = entries.iter().map(end).fold(first, f64::max);
    if entries.len() < 2 || last <= first {
        return html! {};
    }
    let scale = WIDTH / (last - first);
    html! {
        svg.timeline viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img"
            aria-label={ "Timeline of " (entries.len()) " calls" } {
            @for (index, entry) in entries.iter().enumerate() {
                @let look = outcome(&entry.result.status);
                @let x = ((begin(entry) - first) * scale).min(WIDTH - LEAST);
                @let width = (entry.result.duration_ms.max(0.0) * scale).max(LEAST);
                a href={ "#c" (index + 1) } {
                    rect.(look.class) x={ (format!("{x:.1}")) } y="2" width={ (format!("{width:.1}")) } height=(HEIGHT - 4) {
                        title { (index + 1) " · " (visible::one_line(&look.text)) " · " (duration(words::millis(entry.result.duration_ms))) }
                    }
                }
            }
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "milliseconds since 1970 have 41 bits"
)]
fn millis(time: u64) -> f64 {
    time as f64
}
