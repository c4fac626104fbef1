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
    /// What is ours as a whole.
    #[serde(default)]
    ours: Stated,
}

/// What is to be seen of a script, as far as it differs from bash's.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    end: Option<String>,
    out: Option<String>,
    err: Option<String>,
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
    /// After some errors inside `[[` (`[[ a b ]]`) bash reads on to the end of its text without running it. `eval` then says
    /// 2, as after every syntax error; only the text of `bash -c` itself, or a file, ends with whatever the command before
    /// had. Nothing that evaluates a text can know that status, and a script that was not run is better not called a success.
    ConditionErrorStatus,
    /// There are the functions and aliases of the snapshot, and aliases are expanded.
    SnapshotLoaded,
    /// In a session xtrace shows two more `+`.
    SessionXtrace,
    /// An EXIT trap is run when the session ends, not with the call; what it prints then is nobody's.
    SessionExitTrap,
    /// There is a stack of directories that was looked at, and what an earlier script has looked at.
    SessionLoop,
    /// Bash keeps what a session's script hides from it (its own output, the control pipe) in descriptors from 10 on.
    SessionDescriptors,
    /// A shell that runs nothing any more, or may not write where it is told to, cannot say how its script ended, and the
    /// session ends.
    SessionMute,
    /// The shell was somewhere else before.
    SessionDirectory,
    /// Once bash has had a trap, it handles signals otherwise than one that has had none.
    SessionSignals,
}

/// What some lists allow, by the scripts' names. A later list says more of a script than an earlier one.
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
    /// What is as stated becomes bash's.
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
    /// Takes `more` off the beginning of lines of a trace.
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
    /// Whether ours, which is not the same as bash's, differs by nothing else.
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
