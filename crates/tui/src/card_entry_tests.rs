use super::*;
use agent_bash::sink::{LiveKind, LiveOptions};

fn running(command: &str) -> (CardEntry, LiveUpdates) {
    let live = LiveUpdates::new(LiveOptions::new(LiveKind::Raw, 1000));
    let card = Card::Tool(Box::new(ToolCard::new(command)));
    let mut entry = CardEntry::new(EntryId(1), card, Duration::ZERO);
    entry.live = Some((live.clone(), Waker::noop().clone()));
    (entry, live)
}

#[test]
fn all_dropped_characters_of_a_fast_line_are_counted() {
    let (mut entry, live) = running("x");
    live.push(b"begin");
    entry.read_live_output();
    live.push(&vec![b'y'; 1_000_000]);
    live.push(b"end");
    entry.read_live_output();
    entry.finish();
    let output = entry.card.output().unwrap();
    assert!(output.is_cut() && entry.is_cut());
    let rows = output.tail(2000, 9, usize::MAX, &Theme::plain()).rows;
    let row = rows[0].to_string();
    let (omitted, rest) = row
        .strip_prefix('[')
        .and_then(|row| row.split_once(" chars omitted] …"))
        .unwrap();
    let omitted: usize = omitted.parse().unwrap();
    assert_eq!(omitted + rest.len(), 5 + 1_000_000 + 3);
    assert!(rest.ends_with("yend"), "{rest}");
}

#[test]
fn unanswered_question_is_noticed_at_the_end() {
    for (command, printed, want) in [
        ("./install", "Continue? [y/N] ", true),
        ("./install", "Continue? [y/N] no\n", false),
        // The command had its answers.
        ("yes | ./install", "Continue? [y/N] ", false),
        ("./install < answers", "Continue? [y/N] ", false),
    ] {
        let (mut entry, live) = running(command);
        live.push(printed.as_bytes());
        entry.read_live_output();
        let offers = |entry: &CardEntry| match &entry.card {
            Card::Tool(card) => card.host_lines.len(),
            _ => 0,
        };
        assert_eq!(offers(&entry), 0, "not while the command may still run");
        entry.finish();
        assert_eq!(offers(&entry) == 1, want, "{command}: {printed:?}");
    }
}
