//! The exceptions from the rules over names and sentences, each with its reason.

use super::Offence;

/// One exemption. It excuses the offences of one rule in one file, if the offence's excerpt
/// contains `excerpt`.
pub(crate) struct Exception {
    pub(crate) rule: &'static str,
    pub(crate) path: &'static str,
    pub(crate) excerpt: &'static str,
    pub(crate) reason: &'static str,
}

pub(crate) const EXCEPTIONS: &[Exception] = &[
    Exception {
        rule: "banned name",
        path: "crates/core/src/key.rs",
        excerpt: "variant `Left`",
        reason: "an arrow key",
    },
    Exception {
        rule: "nobody",
        path: "crates/policy/benches/verdict.rs",
        excerpt: "${USER:-nobody}",
        reason: "a script that names the user `nobody`",
    },
];

/// Files that are not checked. Generated files are made from files that are checked.
const EXEMPT_FILES: &[(&str, &str)] = &[
    (
        "xtask/src/word_rules",
        "holds the banned words, and planted offences",
    ),
    ("docs/generated/", "generated"),
    ("docs/schema/", "generated"),
    ("clients/python/src/agent_bash/_types.py", "generated"),
    ("clients/typescript/src/types.ts", "generated"),
];

pub(crate) fn is_exempt_file(path: &str) -> bool {
    EXEMPT_FILES
        .iter()
        .any(|(prefix, _)| path.starts_with(prefix))
}

impl Exception {
    pub(crate) fn excuses(&self, offence: &Offence) -> bool {
        self.rule == offence.rule
            && self.path == offence.path
            && offence.excerpt.contains(self.excerpt)
    }

    /// Returns the offence of an exception that is not needed.
    pub(crate) fn as_offence(&self) -> Offence {
        Offence {
            path: "xtask/src/word_rules/exceptions.rs".to_owned(),
            line: 1,
            rule: "unneeded exception",
            excerpt: format!("`{}` from `{}` ({})", self.path, self.rule, self.reason),
            advice: "delete it",
        }
    }
}
