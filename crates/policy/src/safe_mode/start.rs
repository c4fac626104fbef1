//! How to start a script that safe mode allows.

use crate::syntax::git::Git;
use crate::{Finding, Script, Verdict};

use super::{HardenedEnvironment, SafeMode, check_safe_mode};

/// Requirements for starting the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeRun {
    /// The script to run: the one that was checked, with options added to git commands that keep them from running
    /// diff and textconv programs named by a repository.
    pub script: String,
    /// How to change the environment.
    pub environment: HardenedEnvironment,
}

/// Judges a script and determines how it must be started.
///
/// # Errors
/// Why safe mode does not allow it.
pub fn safe_run(script: &Script<'_>, mode: &SafeMode) -> Result<SafeRun, Box<Finding>> {
    match check_safe_mode(script, mode) {
        Verdict::Allow => Ok(hardened(script)),
        Verdict::Block(finding) | Verdict::Unreadable(finding) => Err(Box::new(finding)),
    }
}

fn hardened(script: &Script<'_>) -> SafeRun {
    let mut out = script.parsed.text.to_owned();
    let mut attributes = false;
    // Backwards, so that earlier positions stay valid.
    for ran in script.ran.iter().rev() {
        if ran.name() != Some("git") {
            continue;
        }
        let git = Git::read(&ran.words);
        // Outside a repository git rejects an attribute source.
        attributes |= !git
            .arguments
            .iter()
            .any(|field| field.value.literal() == Some("--no-index"));
        let added = match git.subcommand() {
            Some(
                "diff" | "log" | "show" | "whatchanged" | "format-patch" | "diff-tree"
                | "diff-index" | "diff-files" | "reflog",
            ) => " --no-ext-diff --no-textconv",
            Some("blame" | "annotate" | "grep") => " --no-textconv",
            Some("stash")
                if git
                    .arguments
                    .first()
                    .and_then(|field| field.value.literal())
                    == Some("show") =>
            {
                " --no-ext-diff --no-textconv"
            }
            _ => continue,
        };
        // After the subcommand, or after the `show` of stash and reflog.
        let named = git.arguments.first().filter(|field| {
            matches!(git.subcommand(), Some("stash" | "reflog"))
                && field.value.literal() == Some("show")
        });
        let word = if let Some(field) = named {
            Some(field.span)
        } else {
            let at = ran.words.len() - git.arguments.len() - 1;
            ran.words.get(at).map(|field| field.span)
        };
        if let Some(span) = word.filter(|span| out.is_char_boundary(span.end)) {
            out.insert_str(span.end, added);
        }
    }
    SafeRun {
        script: out,
        environment: HardenedEnvironment::new(attributes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Context;

    #[test]
    fn git_is_kept_from_running_programs() {
        let context = Context::new("/w");
        for (script, expect) in [
            (
                "git diff HEAD | head -1",
                "git diff --no-ext-diff --no-textconv HEAD | head -1",
            ),
            (
                "git --no-pager log -1; git show",
                "git --no-pager log --no-ext-diff --no-textconv -1; git show --no-ext-diff --no-textconv",
            ),
            (
                "git stash show",
                "git stash show --no-ext-diff --no-textconv",
            ),
            ("git status", "git status"),
            ("ls -la", "ls -la"),
        ] {
            let run = safe_run(&Script::read(script, &context), &SafeMode::default()).unwrap();
            assert_eq!(run.script, expect);
        }
        assert!(safe_run(&Script::read("rm x", &context), &SafeMode::default()).is_err());
    }
}
