//! Drawing costs: a 200 × 60 overlay, and a card with outputs of two sizes.

use agent_bash_core::{Attributes, Cell, CellColor, Cursor, Screen, ScreenModes};
use agent_bash_render::{OutputLimits, OutputText, Overlay, OverlayState, Theme, ToolCard};
use criterion::{Criterion, criterion_group, criterion_main};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::hint::black_box;
use std::time::Duration;

fn full_screen(cols: u16, rows: u16) -> Screen {
    let cells = (0..usize::from(cols) * usize::from(rows))
        .map(|at| Cell {
            text: char::from(b'!' + (at % 90) as u8).to_string(),
            foreground: CellColor::Indexed((at % 200) as u8),
            attributes: Attributes {
                bold: at % 7 == 0,
                ..Attributes::default()
            },
            ..Cell::default()
        })
        .collect();
    Screen {
        cols,
        rows,
        cells,
        cursor: Cursor {
            row: rows - 1,
            col: 0,
            visible: true,
        },
        title: String::new(),
        modes: ScreenModes::default(),
        scrollback: 0,
    }
}

fn overlay(criterion: &mut Criterion) {
    let theme = Theme::dark();
    let screen = full_screen(198, 58);
    let area = Rect::new(0, 0, 200, 60);
    let mut buffer = Buffer::empty(area);
    criterion.bench_function("overlay of 200 x 60", |bencher| {
        bencher.iter(|| {
            let overlay = Overlay {
                command: "vim",
                state: &OverlayState::Running,
                elapsed: Duration::from_secs(1),
                screen: &screen,
                scrolled: 0,
                is_full_screen: false,
            };
            overlay.render(area, black_box(&mut buffer), &theme);
        });
    });
}

fn card(criterion: &mut Criterion) {
    let theme = Theme::dark();
    for (name, bytes) in [("10 KB", 10 << 10), ("10 MB", 10 << 20)] {
        let line = "\x1b[32mtest\x1b[0m some::module::of::tests::that_has_a_name ... ok\n";
        let mut card = ToolCard::new("cargo test");
        card.output = OutputText::of(OutputLimits::CARD, &line.repeat(bytes / line.len()));
        for expanded in [false, true] {
            let how = if expanded { "expanded" } else { "collapsed" };
            criterion.bench_function(&format!("card of {name}, {how}"), |bencher| {
                bencher.iter(|| {
                    let height = card.height(120, expanded, &theme);
                    black_box(card.rows(120, expanded, height.saturating_sub(50), 50, &theme))
                });
            });
        }
    }
}

criterion_group!(benches, overlay, card);
criterion_main!(benches);
