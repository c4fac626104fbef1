use super::*;
use ratatui::style::{Color, Modifier};

const WIDE_COLUMNS: usize = 1000;

fn rows(text: &[u8]) -> Vec<String> {
    let mut output = OutputText::new(OutputLimits::CARD);
    output.push(text);
    texts(&output.window(WIDE_COLUMNS, 0, WIDE_COLUMNS, &Theme::dark()))
}

fn texts(rows: &OutputRows) -> Vec<String> {
    rows.rows.iter().map(ToString::to_string).collect()
}

#[test]
fn only_text_remains() {
    for (bytes, want) in [
        (&b"a\nb\n"[..], &["a", "b"][..]),
        (b"a\nb", &["a", "b"]),
        (b"a\n\nb\n\n", &["a", "", "b", ""]),
        (b"", &[]),
        (b"a\r\nb\r\n", &["a", "b"]),
        (b"10%\r50%\r100%\n", &["100%"]),
        (b"done\r", &["done"]),
        (b"ab\x08c", &["ac"]),
        (b"a\tb\tc", &["a       b       c"]),
        (b"\x1b[31mred\x1b[0m\x1b[2J\x1b[5;5Hx\x1b[?1049h", &["redx"]),
        (b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", &["ab"]),
        (b"\x1bPq#0\x1b\\a\x07\x00\x7fb", &["ab"]),
        (b"\xff\xfeok", &["\u{fffd}\u{fffd}ok"]),
        (
            "a\u{9b}31mb\u{202e}c می\u{200c}خ".as_bytes(),
            &["a31mb<U+202E>c می\u{200c}خ"],
        ),
    ] {
        assert_eq!(rows(bytes), want, "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn chunks_may_be_split_anywhere() {
    let bytes = "\x1b[1;31mrot ü你\x1b[0m\r\nzwei\r\n".as_bytes();
    let whole = OutputText::of(OutputLimits::CARD, std::str::from_utf8(bytes).unwrap());
    let mut parts = OutputText::new(OutputLimits::CARD);
    for byte in bytes {
        parts.push(std::slice::from_ref(byte));
    }
    let theme = Theme::dark();
    assert_eq!(
        parts.window(80, 0, 80, &theme),
        whole.window(80, 0, 80, &theme)
    );
}

#[test]
fn styles_are_those_of_sgr() {
    let plain = Style::new();
    for (sgr, want) in [
        ("1", plain.add_modifier(Modifier::BOLD)),
        ("1;22", plain),
        ("31", plain.fg(Color::Indexed(1))),
        ("95", plain.fg(Color::Indexed(13))),
        ("44", plain.bg(Color::Indexed(4))),
        ("103", plain.bg(Color::Indexed(11))),
        ("38;5;200", plain.fg(Color::Indexed(200))),
        ("38:5:200", plain.fg(Color::Indexed(200))),
        ("48;2;1;2;3", plain.bg(Color::Rgb(1, 2, 3))),
        ("48:2::1:2:3", plain.bg(Color::Rgb(1, 2, 3))),
        ("38;5;999", plain),
        ("38", plain),
        ("31;38;5;200;1;39", plain.add_modifier(Modifier::BOLD)),
        ("4:3", plain.add_modifier(Modifier::UNDERLINED)),
        ("31;0", plain),
        ("31;", plain),
        ("777", plain),
    ] {
        let output = OutputText::of(OutputLimits::CARD, &format!("\x1b[{sgr}mx"));
        let rows = output.window(80, 0, 80, &Theme::dark());
        assert_eq!(rows.rows[0].spans[0].style, want, "{sgr}");
    }
}

#[test]
fn rows_break_at_the_width_and_never_inside_a_character() {
    let output = OutputText::of(
        OutputLimits::CARD,
        "abcdef\n你好a\ne\u{301}e\u{301}e\u{301}",
    );
    for (width, want) in [
        (
            3,
            &["abc", "def", "你", "好a", "e\u{301}e\u{301}e\u{301}"][..],
        ),
        (6, &["abcdef", "你好a", "e\u{301}e\u{301}e\u{301}"]),
        (
            0,
            &[
                "a", "b", "c", "d", "e", "f", "你", "好", "a", "e\u{301}", "e\u{301}", "e\u{301}",
            ],
        ),
    ] {
        let rows = output.window(width, 0, WIDE_COLUMNS, &Theme::dark());
        assert_eq!(texts(&rows), want, "{width}");
        assert_eq!(output.row_count(width), want.len());
    }
}

#[test]
fn tail_counts_what_precedes_it() {
    let lines: Vec<String> = (1..=100).map(|n| format!("line {n}")).collect();
    let text = lines.join("\n");
    let output = OutputText::of(OutputLimits::CARD, &text);
    let tail = output.tail(80, 10, usize::MAX, &Theme::dark());
    assert_eq!((tail.rows.len(), tail.earlier), (10, 90));
    assert_eq!(texts(&tail)[0], "line 91");
    let of_lines = output.tail(80, 10, 3, &Theme::dark());
    assert_eq!((of_lines.rows.len(), of_lines.earlier), (3, 97));
    let broken = OutputText::of(OutputLimits::CARD, &"x".repeat(100));
    let tail = broken.tail(10, 3, usize::MAX, &Theme::dark());
    assert_eq!((tail.rows.len(), tail.earlier), (3, 7));
    let window = output.window(80, 50, 20, &Theme::dark());
    assert_eq!(
        (window.rows.len(), window.earlier, window.below),
        (20, 50, 30)
    );
}

#[test]
fn output_is_bounded_and_dropped_parts_are_counted() {
    let limits = OutputLimits {
        bytes: 4096,
        line_chars: 10,
        line_ends: false,
    };
    let mut output = OutputText::new(limits);
    for n in 0..10_000 {
        output.push(format!("{n}\n").as_bytes());
    }
    // The smaller of 4096 / 5 and 4096 / 8 lines.
    assert!((500..=512).contains(&output.lines.held.len()));
    assert!(output.is_cut());
    assert_eq!(output.total_lines(), 10_000);
    output.skip_lines(5);
    output.push(b"next\n");
    assert_eq!(output.total_lines(), 10_006);
    assert_eq!(texts(&output.window(80, 0, 80, &Theme::dark())), ["next"]);

    let long = OutputText::of(limits, &"y".repeat(1 << 20));
    assert_eq!(
        texts(&long.window(WIDE_COLUMNS, 0, 80, &Theme::dark())),
        ["yyyyyyyyyy… [1048566 chars omitted]"]
    );
    assert!(long.is_cut());
    let ends = OutputLimits {
        line_ends: true,
        ..limits
    };
    let mut end = OutputText::of(ends, &format!("{}end", "y".repeat(1000)));
    assert_eq!(
        texts(&end.window(WIDE_COLUMNS, 0, 80, &Theme::dark())),
        ["[990 chars omitted] …yyyyyyyyyyend"]
    );
    end.skip_chars(5000);
    end.push(b"of it\n");
    assert_eq!(
        texts(&end.window(WIDE_COLUMNS, 0, 80, &Theme::dark())),
        ["[6003 chars omitted] …of it"]
    );

    // Many styles.
    let mut coloured = OutputText::new(ends);
    for _ in 0..10_000 {
        for colour in 0..8 {
            coloured.push(format!("\x1b[3{colour}ma").as_bytes());
        }
        coloured.push(b"\n");
    }
    assert!((120..=129).contains(&coloured.lines.held.len()));
    assert!(coloured.lines.changes <= 1024);
}

#[test]
fn output_within_the_limit_is_complete_however_short_its_lines() {
    let mut output = OutputText::new(OutputLimits::CARD);
    for n in 1..=30_000 {
        output.push(format!("{n}\n").as_bytes());
    }
    assert_eq!((output.dropped_lines(), output.is_cut()), (0, false));
    assert_eq!(output.plain().lines().count(), 30_000);
}

#[test]
fn tabs_are_drawn_as_spaces_and_copied_as_tabs() {
    let makefile = "all:\n\techo hi\t# 你\tend\n  \t  two\n";
    let output = OutputText::of(OutputLimits::CARD, makefile);
    assert_eq!(output.plain(), makefile);
    assert_eq!(
        texts(&output.window(80, 0, 80, &Theme::dark())),
        ["all:", "        echo hi # 你    end", "          two"]
    );
    // A backspace removes the columns of a tab one by one, as on a terminal.
    let back = OutputText::of(OutputLimits::CARD, "a\t\x08\x08b\n");
    assert_eq!(texts(&back.window(80, 0, 80, &Theme::dark())), ["a     b "]);
}

#[test]
fn last_row_of_a_line_without_its_beginning_is_its_end() {
    let limits = OutputLimits {
        line_chars: 100,
        ..OutputLimits::CARD
    };
    for more in 0..120 {
        let output = OutputText::of(limits, &format!("{}end", "y".repeat(1000 + more)));
        let rows = texts(&output.tail(20, 3, usize::MAX, &Theme::dark()));
        let end = rows.concat();
        assert!(end.ends_with("yend"), "{more}: {rows:?}");
        let all = texts(&output.window(20, 0, WIDE_COLUMNS, &Theme::dark())).concat();
        assert_eq!(
            all.matches('y').count() + 3,
            1003 + more - omitted(&all),
            "{all}"
        );
    }
}

fn omitted(text: &str) -> usize {
    let number = text
        .trim_start_matches('[')
        .split(|c: char| !c.is_ascii_digit());
    number.into_iter().next().unwrap().parse().unwrap()
}
