//! How a script that safe mode allows must be started.

use crate::syntax::git::Git;
use crate::syntax::{self};
use crate::{Context, Verdict};

use super::{HardenedEnvironment, SafeMode, judge};

/// What whoever starts the script must see to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeRun {
    /// The script to run: the one that was judged, with options added to git commands that keep it from
    /// running diff and text conversion programs a repository names.
    pub script: String,
    /// How to change the environment.
    pub environment: HardenedEnvironment,
    /// The programs it starts. Each must be found in one of [`super::SYSTEM_DIRECTORIES`].
    pub programs: Vec<String>,
    /// It runs a test runner, and with it code of the project.
    pub runs_project_code: bool,
}

/// Judges a script and says how it must be started.
///
/// # Errors
/// The verdict, if safe mode does not allow the script.
#[expect(
    clippy::result_large_err,
    reason = "the verdict is what the caller asked for, once per call"
)]
pub fn safe_run(script: &str, context: &Context, mode: &SafeMode) -> Result<SafeRun, Verdict> {
    let read = syntax::read(script, context);
    let verdict = judge(&read, context, mode);
    if verdict != Verdict::Allow {
        return Err(verdict);
    }
    let mut out = script.to_owned();
    let mut programs: Vec<String> = Vec::new();
    let mut attributes = false;
    let mut runs_project_code = false;
    // From the end, so that the places in front stay where they are.
    for ran in read.ran.iter().rev() {
        let Some(name) = ran.name() else { continue };
        if !programs.iter().any(|program| program == name) {
            programs.push(name.to_owned());
        }
        runs_project_code |= !matches!(
            name,
            "git" | "grep" | "rg" | "find" | "ls" | "cat" | "head" | "tail" | "wc"
        );
        if name != "git" {
            continue;
        }
        let git = Git::read(&ran.words);
        // Outside a repository git refuses to be given attributes.
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
        // Behind the subcommand, or behind `show` of stash and reflog.
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
    programs.reverse();
    Ok(SafeRun {
        script: out,
        environment: HardenedEnvironment::new(attributes),
        programs,
        runs_project_code,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let run = safe_run(script, &context, &SafeMode::default()).unwrap();
            assert_eq!(run.script, expect);
        }
        assert!(safe_run("rm x", &context, &SafeMode::default()).is_err());
    }

    #[test]
    fn test_runners_are_named_as_such() {
        let context = Context::new("/w");
        let run = |script| safe_run(script, &context, &SafeMode::default()).unwrap();
        assert!(run("npm test").runs_project_code);
        assert!(!run("ls | wc -l").runs_project_code);
        assert_eq!(run("ls | wc -l").programs, ["ls", "wc"]);
    }
}
