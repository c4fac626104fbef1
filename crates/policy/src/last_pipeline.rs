//! Interprets exit codes of a script's last commands. The host reports the exit status of each
//! stage only if the script's last statement is a pipeline. Exit code 1 of `grep` or `diff` is a
//! result, not a failure.

use crate::Script;
use crate::syntax::ast::{Command, Link, ListEntry};
use crate::syntax::git::GitCommandLine;
use crate::syntax::run::ResolvedCommand;

/// Programs for which exit code 1 is a result.
const STATUS_PROGRAMS: [&str; 6] = ["grep", "rg", "diff", "test", "[", "find"];

/// Subcommands of git for which exit code 1 is a result.
const STATUS_GIT_SUBCOMMANDS: [&str; 2] = ["diff", "grep"];

/// Programs that contain many programs: `busybox grep …` exits as `grep` does.
const MULTI_CALL_PROGRAMS: [&str; 3] = ["busybox", "coreutils", "toybox"];

/// Returns for each stage of the script's last statement whether its exit code 1 is a result.
/// `None` unless that statement is a foreground pipeline of at least two stages, not after `&&`,
/// `||`, `!` or `time`, of a script without a syntax error.
pub fn last_pipeline(script: &Script<'_>) -> Option<Vec<bool>> {
    match script.parsed.list.entries.last()? {
        ListEntry {
            link: Link::Next,
            background: false,
            prefixed: false,
            stages,
            ..
        } if stages.len() > 1 && script.parsed.is_whole() => Some(
            stages
                .iter()
                .map(|stage| exit_1_of_stage_is_ok(script, stage))
                .collect(),
        ),
        _ => None,
    }
}

/// Builtins that return at once.
const INSTANT_BUILTINS: [&str; 5] = ["cd", "export", "popd", "pushd", "unset"];

/// True if an interrupt of the running program ends the script. The script's commands must be
/// programs joined by `&&`; only `INSTANT_BUILTINS` may precede them.
pub fn ends_if_interrupted(script: &Script<'_>) -> bool {
    let entries = &script.parsed.list.entries;
    let program = |command: &Command| match command {
        Command::Simple(simple) => {
            let mut within_span = script.commands.iter().filter(|command| {
                command.span.start >= simple.span.start && command.span.end <= simple.span.end
            });
            match (within_span.next(), within_span.next()) {
                (Some(command), None) if !command.is_function && command.started_by.is_empty() => {
                    command.name()
                }
                _ => None,
            }
        }
        Command::Compound(_) => None,
    };
    let is_instant = |entry: &ListEntry| match &entry.stages[..] {
        [stage] => program(stage).is_some_and(|name| INSTANT_BUILTINS.contains(&name)),
        _ => false,
    };
    let mut rest = entries.iter().skip_while(|entry| is_instant(entry));
    let is_interruptible = |entry: &ListEntry| {
        let waits = |name: &str| WAITING_BUILTINS.contains(&name);
        let mut programs = entry.stages.iter().map(program);
        let are_programs = programs.all(|name| name.is_some_and(|name| !waits(name)));
        are_programs && !entry.background && !entry.prefixed && entry.link != Link::Or
    };
    let is_first_interruptible = rest.next().is_some_and(is_interruptible);
    script.parsed.is_whole()
        && is_first_interruptible
        && rest.all(|entry| entry.link == Link::And && is_interruptible(entry))
}

/// Builtins in which the shell itself may wait, and builtins that run other commands.
const WAITING_BUILTINS: [&str; 9] = [
    ".", "command", "eval", "exec", "read", "source", "time", "trap", "wait",
];

/// True if exit code 1 of the script is a result of its last command.
pub fn exit_1_is_ok(script: &Script<'_>) -> bool {
    let last = script.parsed.list.entries.last();
    let last = last.and_then(|entry| entry.stages.last());
    last.is_some_and(|stage| exit_1_of_stage_is_ok(script, stage))
}

/// True if exit code 1 of the stage is a result. False for a compound stage and for a computed
/// command word.
fn exit_1_of_stage_is_ok(script: &Script<'_>, stage: &Command) -> bool {
    let Command::Simple(simple) = stage else {
        return false;
    };
    let Some(last) = simple.words.last() else {
        return false;
    };
    // True for the resolved command of `simple`: it ends with the last word, and commands in
    // substitutions begin later.
    let ends_with_last_word = |command: &&ResolvedCommand| {
        command.span.start >= simple.span.start && command.span.end == last.span.end
    };
    let commands: Vec<&ResolvedCommand> =
        script.commands.iter().filter(ends_with_last_word).collect();
    let direct = commands
        .iter()
        .filter(|command| command.started_by.is_empty());
    let Some(mut command) = direct.min_by_key(|command| command.span.start) else {
        return false;
    };
    while let Some(name) = command
        .name()
        .filter(|name| MULTI_CALL_PROGRAMS.contains(name))
    {
        let is_within = |inner: &&&ResolvedCommand| {
            let outer = inner.started_by.split_last();
            outer.is_some_and(|(last, outer)| last == name && *outer == command.started_by)
        };
        let Some(inner) = commands.iter().find(is_within) else {
            return false;
        };
        command = inner;
    }
    match command.name() {
        Some("git") => GitCommandLine::read(&command.words)
            .subcommand()
            .is_some_and(|name| STATUS_GIT_SUBCOMMANDS.contains(&name)),
        name => name.is_some_and(|name| STATUS_PROGRAMS.contains(&name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Context;

    #[test]
    fn exit_1_is_ok_only_for_programs_that_answer_with_it() {
        let context = Context::new("/");
        for (want, scripts) in [
            (
                true,
                &[
                    "grep x f", "/usr/bin/grep -rn 'a b' src", "cat f | grep x",
                    "LC_ALL=C grep \"$(cat p)\" f", "git diff --exit-code",
                    "git -C sub --no-pager grep x", "diff a b", "find . -name x",
                    "find . -name x 2>/dev/null", "<f grep x >g", "{ a; b; } | git diff",
                    "busybox grep x f", "cat f|/bin/toybox grep x >g", "coreutils test -f x",
                ][..],
            ),
            (
                false,
                &[
                    "coreutils ls x", "busybox sh -c 'grep x f'", "sudo busybox grep x f",
                    "git status", "make", "grep x f | make", "echo $(grep x f)", "$GREP x f",
                    "cargo test grep", "a | { b; grep x; }", "",
                ],
            ),
        ] {
            for &script in scripts {
                assert_eq!(
                    exit_1_is_ok(&Script::read(script, &context)),
                    want,
                    "{script}"
                );
            }
        }
    }

    #[test]
    fn last_statement_must_be_the_pipeline() {
        let context = Context::new("/");
        for (script, want) in [
            ("false | true", &[false, false][..]),
            ("cd x; grep a f | wc -l\n# the end\n", &[true, false]),
            ("sh -c 'exit 3' | cat | diff - f", &[false, false, true]),
            ("{ a; b; } | git diff", &[false, true]),
            ("$CC x | tee", &[false, false]),
            ("X=1 find a | b", &[true, false]),
            ("find a 2>/dev/null | wc -l", &[true, false]),
            ("set -o pipefail\nmake |& tail", &[false, false]),
        ] {
            let got = last_pipeline(&Script::read(script, &context));
            assert_eq!(got.as_deref(), Some(want), "{script}");
        }
    }

    #[test]
    fn interruptible_script_has_no_command_after_it() {
        let context = Context::new("/");
        for (want, scripts) in [
            (
                true,
                &[
                    "tail -f log", "cargo build 2>&1 | tee log", "make && ./run --fast",
                    "cd src; cargo test", "cd s && export A=b && a | b",
                ][..],
            ),
            (
                false,
                &[
                    "make; rm -rf build", "make || echo failed", "make && ./run || true", "make &",
                    "while true; do sleep 1; done", "f() { make; rm x; }; f",
                    "eval 'sleep 1; rm x'", "(sleep 1; rm x)", "wait", "echo $(sleep 1)",
                    "time make", "! make", "bash -c 'sleep 1; rm x'", "make |", "",
                ],
            ),
        ] {
            for &script in scripts {
                let script_read = Script::read(script, &context);
                assert_eq!(ends_if_interrupted(&script_read), want, "{script}");
            }
        }
    }

    #[test]
    fn other_endings_are_not_a_pipeline() {
        let context = Context::new("/");
        for script in [
            "true", "a || b", "a | b && c | d", "a && b | c", "! a | b", "time a | b", "a | b &",
            "a | b; c", "if a | b; then c; fi", "echo 'a | b'", "a | b |", "echo $(a | b",
        ] {
            assert_eq!(
                last_pipeline(&Script::read(script, &context)),
                None,
                "{script}"
            );
        }
    }
}
