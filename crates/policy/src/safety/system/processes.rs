//! `no_kill_all`: signalling all processes.

use super::super::command_line::has_any;
use super::super::rule::{RuleFinding, RuleInput};
use crate::syntax::CommandHost;
use crate::syntax::run::{Field, ResolvedCommand};

pub(in super::super) fn check(ran: &ResolvedCommand, _: &RuleInput<'_>) -> Option<RuleFinding> {
    let name = ran.name().filter(|_| !ran.is_function)?;
    // All processes of a container end with it, and its first process is meant to be stopped.
    if matches!(
        ran.host,
        CommandHost::Container | CommandHost::Disposable(_)
    ) {
        return None;
    }
    let arguments = ran.arguments();
    let all = match name {
        "kill" => kills_all(arguments),
        // Without a pattern, all of the user's processes are meant.
        "pkill" | "skill" | "killall" => names_all(arguments),
        "killall5" => true,
        "loginctl" => arguments.first().is_some_and(|field| {
            matches!(
                field.value.literal(),
                Some("terminate-user" | "kill-user" | "terminate-seat")
            )
        }),
        _ => false,
    };
    (all && !has_any(arguments, &["--help"])).then(|| RuleFinding::on(ran, arguments))
}

/// True if all processes, or the first one (pid 1), are signalled.
fn kills_all(arguments: &[Field]) -> bool {
    let mut words = arguments
        .iter()
        .filter_map(|field| field.value.literal())
        .peekable();
    let signal = match words.peek() {
        Some(&"-l" | &"-L" | &"--list" | &"--table") => return false,
        Some(&"-s" | &"-n" | &"--signal") => words.nth(1),
        // A first word with a dash is a signal, not a process group: `kill -1` alone sends signal 1
        // to no process.
        Some(text) if text.len() > 1 && text.starts_with('-') && *text != "--" => {
            words.next().map(|text| &text[1..])
        }
        _ => None,
    };
    let ends = matches!(
        signal.map(|name| name.trim_start_matches("SIG")),
        None | Some("9" | "KILL" | "15" | "TERM")
    );
    signal != Some("0") && words.any(|text| text == "-1" || ends && text == "1")
}

/// Options of `pkill` and `killall` that select processes by their owner.
const OWNER_OPTIONS: [&str; 5] = ["-u", "-U", "--euid", "--uid", "--user"];

/// Further options with a value that select processes.
const SELECTING_OPTIONS: [&str; 9] = [
    "-P", "-g", "-G", "-s", "-t", "--parent", "--pgroup", "--session", "--terminal",
];
const OTHER_VALUED_OPTIONS: [&str; 3] = ["--signal", "-n", "-d"];

/// True if the arguments select processes by user alone, or by a pattern that matches every name.
fn names_all(arguments: &[Field]) -> bool {
    let mut patterns = Vec::new();
    let (mut narrowed, mut owned) = (false, false);
    let mut words = arguments.iter();
    while let Some(field) = words.next() {
        let text = field.value.prefix();
        let (is_whose, is_narrowing) = (
            OWNER_OPTIONS.contains(&text),
            SELECTING_OPTIONS.contains(&text),
        );
        owned |=
            is_whose || has_any(std::slice::from_ref(field), &OWNER_OPTIONS) && !is_signal(text);
        narrowed |= is_narrowing;
        if is_whose || is_narrowing || OTHER_VALUED_OPTIONS.contains(&text) {
            words.next();
        } else if text.len() < 2 || !text.starts_with('-') {
            patterns.push(field);
        }
    }
    let everything = |field: &&Field| {
        matches!(
            field.value.literal(),
            Some("." | ".*" | "" | "^" | ".+" | "^.*" | "^.*$" | "*")
        )
    };
    match patterns.as_slice() {
        [] => owned && !narrowed,
        patterns => patterns.iter().any(everything),
    }
}

/// `-9`, `-KILL`, `-SIGTERM`
fn is_signal(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|name| {
        !name.is_empty()
            && (name.bytes().all(|byte| byte.is_ascii_digit())
                || name.len() > 2 && name.bytes().all(|byte| byte.is_ascii_uppercase()))
    })
}
