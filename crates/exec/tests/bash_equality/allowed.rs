//! The differences from `bash -c` that the contract allows, and what each may consist of.

use super::observed::{End, Observed};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A script whose run may differ, why, and how.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Allowed {
    script: String,
    pub(crate) class: Class,
    /// Lines that differ: ours, then bash's (`null` for none).
    #[serde(default)]
    lines: Vec<(String, Option<String>)>,
}

/// Kinds of differences. There are no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Class {
    /// Syntax errors say `eval:` where bash says `-c:`.
    ErrorPrefix,
    /// xtrace shows one more `+`.
    Xtrace,
    /// `$BASH_COMMAND` in an EXIT trap is ours.
    ExitTrapCommand,
    /// `PIPESTATUS` is set before the first pipeline.
    InitialPipestatus,
    /// The last command is not exec'ed: one that is killed comes back as 128+n, and bash says so.
    LastNotExecuted,
    /// For the same reason a bash below has one `SHLVL` more.
    NestedShlvl,
    /// The session's leader is the supervisor.
    Session,
    /// After some errors inside `[[` bash goes on to the end of the text without running it, and `bash -c` alone then
    /// says 0: a fault of bash 5.2 that `eval`, in `bash -c` too, has not.
    ConditionErrorStatus,
}

/// By the scripts' names.
pub(crate) fn table() -> BTreeMap<String, Allowed> {
    let mut table = BTreeMap::new();
    for line in include_str!("../data/allowed_differences.jsonl").lines() {
        let allowed: Allowed = serde_json::from_str(line).unwrap();
        let twice = table.insert(allowed.script.clone(), allowed);
        assert!(twice.is_none(), "{twice:?} is listed twice");
    }
    table
}

impl Allowed {
    /// Whether ours, which is not the same as bash's, differs by nothing else.
    pub(crate) fn explains(&self, ours: &Observed, bash: &Observed) -> bool {
        let mut ours = ours.clone();
        for text in [&mut ours.out, &mut ours.err] {
            *text = self.without_listed(text);
        }
        match self.class {
            Class::ErrorPrefix => {
                for text in [&mut ours.out, &mut ours.err] {
                    *text = text.replace("bash: eval: line ", "bash: -c: line ");
                }
            }
            Class::Xtrace => {
                for text in [&mut ours.out, &mut ours.err] {
                    *text = text.split_inclusive('\n').map(one_plus_less).collect();
                }
            }
            Class::LastNotExecuted => {
                if let (End::Exited(code), End::Signaled(number)) = (&ours.end, &bash.end)
                    && *code == 128 + number
                {
                    ours.end = End::Signaled(*number);
                }
                // On one pipe it is the same.
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
            Class::ExitTrapCommand
            | Class::InitialPipestatus
            | Class::NestedShlvl
            | Class::Session => {}
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

fn one_plus_less(line: &str) -> &str {
    line.strip_prefix('+')
        .filter(|rest| rest.starts_with('+'))
        .unwrap_or(line)
}

fn is_one_line(text: &str) -> bool {
    text.ends_with('\n') && text.lines().count() == 1
}
