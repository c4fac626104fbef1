//! The differences from `bash -c` that the contract allows, and how far each may go.

use super::observed::{End, Observed};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A script that may differ, why, and how.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Allowed {
    script: String,
    pub(crate) class: Class,
    /// Differing lines: the line of the call, then bash's line (`null` if there is no such line).
    #[serde(default)]
    lines: Vec<(String, Option<String>)>,
    /// The complete output of the call, if it is listed as a whole.
    #[serde(default)]
    ours: Stated,
}

/// The parts of an observation that differ from bash's.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    end: Option<String>,
    out: Option<String>,
    err: Option<String>,
}

/// The classes of differences. There are no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Class {
    /// Syntax errors say `eval:` where bash says `-c:`.
    ErrorPrefix,
    /// xtrace shows one more `+`.
    Xtrace,
    /// `$BASH_COMMAND` in an EXIT trap is a command of the host.
    ExitTrapCommand,
    /// `PIPESTATUS` is set before the first pipeline.
    InitialPipestatus,
    /// The last command is not exec'ed: if it is killed, the result is 128+n, and bash reports it.
    LastNotExecuted,
    /// Because the last command is not exec'ed, a bash below has one `SHLVL` more.
    NestedShlvl,
    /// The session leader is the supervisor.
    Session,
    /// After some errors inside `[[` (`[[ a b ]]`) bash reads on to the end of its text without
    /// running it. `eval` then returns 2, as after any syntax error; only the text of `bash -c`
    /// itself, or a file, ends with the status of the command before. Nothing that evaluates a text
    /// can know that status, and a script that was not run should not be called a success.
    ConditionErrorStatus,
    /// The functions and aliases of the snapshot exist, and aliases are expanded.
    SnapshotLoaded,
    /// In a session xtrace shows two more `+`.
    SessionXtrace,
    /// An EXIT trap runs when the session ends, not with the call; its output is discarded then.
    SessionExitTrap,
    /// There is a directory stack that was accessed before, and changes by earlier scripts.
    SessionLoop,
    /// Bash saves what is hidden from a session's script (its own output, the control pipe) in
    /// descriptors from 10 on.
    SessionDescriptors,
    /// A shell that executes nothing any more, or may not write where it is told to, cannot report
    /// how its script ended; the session ends.
    SessionMute,
    /// The shell was in another directory before.
    SessionDirectory,
    /// Once bash has had a trap, it handles signals differently from a shell that never had one.
    SessionSignals,
}

/// The allowed differences in some lists, by script. Later lists override earlier ones.
pub(crate) fn of(lists: &[&str]) -> BTreeMap<String, Allowed> {
    let mut table = BTreeMap::new();
    for list in lists {
        let allowed = list.lines().map(|line| {
            let allowed: Allowed = serde_json::from_str(line).unwrap();
            (allowed.script.clone(), allowed)
        });
        let allowed: Vec<_> = allowed.collect();
        let count = allowed.len();
        let own: BTreeMap<_, _> = allowed.into_iter().collect();
        assert_eq!(own.len(), count, "a script is listed twice");
        table.extend(own);
    }
    table
}

impl Stated {
    /// Replaces listed differences by bash's output.
    fn replace(&self, ours: &mut Observed, bash: &Observed) {
        if self.end.as_ref() == Some(&format!("{:?}", ours.end)) {
            ours.end = bash.end.clone();
        }
        if self.out.as_ref() == Some(&ours.out) {
            ours.out.clone_from(&bash.out);
        }
        if self.err.as_ref() == Some(&ours.err) {
            ours.err.clone_from(&bash.err);
        }
    }
}

impl Observed {
    /// Removes `more` from the beginning of trace lines.
    fn trace_from(&mut self, more: &str) {
        for text in [&mut self.out, &mut self.err] {
            let lines = text.split_inclusive('\n').map(|line| {
                let rest = line.strip_prefix(more);
                rest.filter(|rest| rest.starts_with('+')).unwrap_or(line)
            });
            *text = lines.collect();
        }
    }
}

impl Allowed {
    /// True if the observation of the call equals bash's in all other parts.
    pub(crate) fn explains(&self, ours: &Observed, bash: &Observed) -> bool {
        let mut ours = ours.clone();
        for text in [&mut ours.out, &mut ours.err] {
            *text = self.without_listed(text);
        }
        self.ours.replace(&mut ours, bash);
        match self.class {
            Class::ErrorPrefix => {
                for text in [&mut ours.out, &mut ours.err] {
                    *text = text.replace("bash: eval: line ", "bash: -c: line ");
                }
            }
            Class::Xtrace => ours.trace_from("+"),
            Class::SessionXtrace => ours.trace_from("++"),
            Class::LastNotExecuted => {
                if let (End::Exited(code), End::Signaled(number)) = (&ours.end, &bash.end)
                    && *code == 128 + number
                {
                    ours.end = End::Signaled(*number);
                }
                // With merged streams both are the same.
                for (text, bashs) in [(&mut ours.out, &bash.out), (&mut ours.err, &bash.err)] {
                    if text.strip_prefix(bashs.as_str()).is_some_and(is_one_line) {
                        text.clone_from(bashs);
                    }
                }
            }
            Class::ConditionErrorStatus => {
                ours.err = ours.err.replace("bash: eval: line ", "bash: -c: line ");
                ours.out = ours.out.replace("bash: eval: line ", "bash: -c: line ");
                if (&ours.end, &bash.end) == (&End::Exited(2), &End::Exited(0)) {
                    ours.end = End::Exited(0);
                }
            }
            _ => {}
        }
        ours == *bash
    }

    fn without_listed(&self, text: &str) -> String {
        text.split_inclusive('\n')
            .map(|line| {
                let bare = line.trim_end_matches('\n');
                match self.lines.iter().find(|(ours, _)| ours == bare) {
                    Some((_, Some(bash))) => format!("{bash}\n"),
                    Some((_, None)) => String::new(),
                    None => line.to_owned(),
                }
            })
            .collect()
    }
}

fn is_one_line(text: &str) -> bool {
    text.ends_with('\n') && text.lines().count() == 1
}
