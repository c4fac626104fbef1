//! Lines that are edited in real programs: readers of the output get the executed lines.

use crate::support::{attend_with, executor, is_installed, spec};
use agent_bash_pty::{Key, PtySize};
use agent_bash_render::{OutputLimits, OutputText};
use agent_bash_sink::FileView;

const LONG: &str =
    "import os, sys; x = [i for i in range(10)]; print(sum(x), len(x), max(x)) # and longer";

/// Runs a program on a terminal of 80 × 24. Returns the program's output as on a card, and as in an
/// artifact.
#[expect(clippy::unwrap_used, reason = "test code")]
async fn read(script: &str, prompt: &str, keys: &[Keys]) -> [String; 2] {
    let executor = executor();
    executor.set_size(PtySize::clamped(80, 24));
    let attended = attend_with(&executor, &spec(script)).await;
    attended.shows(prompt).await;
    for keys in keys {
        match keys {
            Types(text) => attended.types(text),
            Presses(key) => attended.presses(key.clone()),
            Control(letter) => attended.control(*letter),
            Shows(text) => attended.shows(text).await,
            Widens(columns) => attended.session.resize(PtySize::clamped(*columns, 24)),
        }
    }
    attended.outcome().await;
    let bytes = attended.collect.bytes.lock().unwrap().clone();
    let mut card = OutputText::new(OutputLimits::PAGE);
    card.push(&bytes);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &bytes).unwrap();
    let page = FileView::open(file.path()).unwrap().lines(1, None).unwrap();
    [card.plain(), page.piece.text].map(|text| {
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        lines.join("\n")
    })
}

enum Keys {
    Types(&'static str),
    Presses(Key),
    Control(char),
    /// Waits until the screen shows this text.
    Shows(&'static str),
    /// Sets the number of columns of the terminal.
    Widens(u16),
}

use Keys::{Control, Presses, Shows, Types, Widens};

#[tokio::test(flavor = "multi_thread")]
async fn long_line_in_python() {
    if !is_installed("python3") {
        return;
    }
    let keys = [
        Types(LONG),
        Presses(Key::Enter),
        Shows("45 10 9\n>>>"),
        Types("1"),
        Presses(Key::Enter),
        Shows("\n1\n>>>"),
        Presses(Key::Up),
        Presses(Key::Up),
        Shows("\n>>> import"),
        Control('u'),
        Types("print(77)"),
        Presses(Key::Enter),
        Shows("\n77\n>>>"),
        Types("print(\"häuser 日本 x\")"),
        Presses(Key::Left),
        Presses(Key::Left),
        Presses(Key::Left),
        Presses(Key::Left),
        Presses(Key::Left),
        Presses(Key::Left),
        Types("ZZ"),
        Presses(Key::Enter),
        Shows("\nhäuser ZZ日本 x\n>>>"),
        Control('d'),
    ];
    let script = "PYTHON_BASIC_REPL=1 PYTHON_HISTORY=/dev/null LC_ALL=C.UTF-8 /usr/bin/python3 -q";
    for text in read(script, ">>>", &keys).await {
        let wanted = format!(
            ">>> {LONG}\n45 10 9\n>>> 1\n1\n>>> print(77)\n77\n>>> print(\"häuser ZZ日本 x\")\nhäuser ZZ日本 x\n>>>"
        );
        assert_eq!(text.trim_end(), wanted);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn line_found_by_searching_in_bash() {
    let keys = [
        Types("echo aaa bbb ccc"),
        Presses(Key::Enter),
        Shows("\naaa bbb ccc\n$"),
        Control('r'),
        Types("aaa"),
        Shows("aaa': echo"),
        Presses(Key::Enter),
        Shows("\naaa bbb ccc\n$ echo aaa bbb ccc\naaa bbb ccc\n$"),
        Types("exit"),
        Presses(Key::Enter),
    ];
    let script = "PS1='$ ' HISTFILE= INPUTRC=/dev/null bash --norc --noprofile";
    for text in read(script, "$", &keys).await {
        let wanted =
            "$ echo aaa bbb ccc\naaa bbb ccc\n$ echo aaa bbb ccc\naaa bbb ccc\n$ exit\nexit";
        assert_eq!(text.trim_end(), wanted);
    }
}

/// Digits at the beginning of a row that show the width.
macro_rules! digits {
    () => {
        "012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
    };
}

#[tokio::test(flavor = "multi_thread")]
async fn wrapped_line_in_bash_with_a_resized_terminal() {
    const LINE: &str = concat!("echo ", digits!());
    for sizes in [
        [Widens(63), Shows("\n67890")],
        [Widens(91), Shows("\n456789")],
    ] {
        let mut keys = vec![
            Types("echo start"),
            Presses(Key::Enter),
            Shows("\nstart\n$"),
            Types(LINE),
            Shows("\n3456789"),
        ];
        keys.extend(sizes);
        keys.extend([Presses(Key::Enter), Shows("6789\n$"), Control('d')]);
        let script = "PS1='$ ' HISTFILE= INPUTRC=/dev/null bash --norc --noprofile";
        for text in read(script, "$", &keys).await {
            let digits = digits!();
            let wanted = format!("$ echo start\nstart\n$ {LINE}\n{digits}\n$\nexit");
            assert_eq!(text.trim_end(), wanted);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrapped_line_in_python_with_a_resized_terminal() {
    const LINE: &str = concat!("print(\"", digits!(), "\")");
    if !is_installed("python3") {
        return;
    }
    for sizes in [
        [Widens(63), Shows("\n23456")],
        [Widens(91), Shows("\n0123456789\")")],
    ] {
        let mut keys = vec![
            Types("1"),
            Presses(Key::Enter),
            Shows("\n1\n>>>"),
            Types(LINE),
            Shows("\n9012"),
        ];
        keys.extend(sizes);
        keys.extend([Presses(Key::Enter), Shows("6789\n>>>"), Control('d')]);
        let script =
            "PYTHON_BASIC_REPL=1 PYTHON_HISTORY=/dev/null LC_ALL=C.UTF-8 /usr/bin/python3 -q";
        for text in read(script, ">>>", &keys).await {
            let digits = digits!();
            assert_eq!(
                text.trim_end(),
                format!(">>> 1\n1\n>>> {LINE}\n{digits}\n>>>")
            );
        }
    }
}
