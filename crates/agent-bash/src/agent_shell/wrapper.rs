//! Finds the model's text inside the script that an agent passes to its shell.
//!
//! Some agents wrap the text: they load a snapshot of the user's shell before it and store the
//! working directory or process ids after it. A wrapper is removed only if all of it is known.
//! opencode 1.18.33, Qwen Code 0.24.4, Copilot CLI 1.0.102 and pi 0.73.1 pass the model's text
//! unchanged.

use super::template::{Comparison, FileForm};
use agent_bash_syntax::Parsed;
use agent_bash_syntax::ast::Link;
use std::borrow::Cow;

/// The text that a model wrote, without the wrapper of its agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelCommand<'s> {
    /// The agent's name.
    pub agent: &'static str,
    /// The model's text. It need not be valid shell syntax.
    pub command: Cow<'s, str>,
}

/// Returns the model's text if `script` is that text inside the known wrapper of an agent.
///
/// Returns `None` if the wrapper contains an unknown command, redirection, operator, expansion or
/// file name. Also returns `None` for scripts without a wrapper: scripts of other agents, commands
/// of hooks, and commands that start servers.
///
/// Records show the model's text, and the safety rules check it. But the shell runs the whole
/// script: a snapshot that the wrapper loads can redefine the commands of the text
/// (docs/design/shell.md).
pub fn model_command(script: &str) -> Option<ModelCommand<'_>> {
    // Avoids parsing most scripts.
    if !WRAPPERS
        .iter()
        .any(|wrapper| script.contains(wrapper.marker))
    {
        return None;
    }
    let parsed = Parsed::read(script);
    if !parsed.is_whole() {
        return None;
    }
    WRAPPERS.iter().find_map(|wrapper| {
        let command = wrapper.command(&parsed)?;
        let agent = wrapper.agent;
        Some(ModelCommand { agent, command })
    })
}

/// The wrapper of an agent, as recorded from one version of the agent.
struct Wrapper {
    agent: &'static str,
    /// A text that each script with this wrapper contains.
    marker: &'static str,
    /// The operator between the parts.
    link: Link,
    parts: &'static [WrapperPart],
}

/// A part of a wrapper. Each of the alternative `forms` is a template.
struct WrapperPart {
    forms: &'static [&'static str],
    is_optional: bool,
}

const fn required(forms: &'static [&'static str]) -> WrapperPart {
    WrapperPart {
        forms,
        is_optional: false,
    }
}

const fn optional(forms: &'static [&'static str]) -> WrapperPart {
    WrapperPart {
        forms,
        is_optional: true,
    }
}

impl Wrapper {
    /// Returns the model's text if the whole script matches.
    fn command<'s>(&self, parsed: &Parsed<'s>) -> Option<Cow<'s, str>> {
        let mut comparison = Comparison::new(parsed.text, FILE_FORMS);
        let mut rest = &parsed.list.entries[..];
        let mut link = Link::Next;
        for part in self.parts {
            let matched = part
                .forms
                .iter()
                .find_map(|form| comparison.match_prefix(form, link, rest));
            match matched {
                Some(count) => {
                    rest = rest.get(count..)?;
                    link = self.link;
                }
                None if part.is_optional => {}
                None => return None,
            }
        }
        comparison.command.filter(|_| rest.is_empty())
    }
}

/// The placeholders for files in the templates, and the names of these files.
const FILE_FORMS: &[FileForm] = &[
    FileForm {
        placeholder: "@claude-snapshot@",
        directory: "shell-snapshots",
        prefix: "snapshot-",
        suffix: ".sh",
    },
    FileForm {
        placeholder: "@claude-cwd@",
        directory: "",
        prefix: "claude-",
        suffix: "-cwd",
    },
    FileForm {
        placeholder: "@gemini-pids@",
        directory: "gemini-shell-",
        prefix: "bgpids",
        suffix: ".tmp",
    },
];

/// All known wrappers. Templates are shell text with placeholders.
const WRAPPERS: &[Wrapper] = &[
    // Claude Code 2.1.332, with `CLAUDE_CODE_SHELL_PREFIX` and with `CLAUDE_CODE_SHELL`.
    Wrapper {
        agent: "claude-code",
        marker: "pwd -P >|",
        link: Link::And,
        parts: &[
            // Present only before a text that old versions of bash parse differently.
            optional(&[
                r#"{ case "${BASH_VERSINFO-}" in '2'|'3') \builtin printf '%s\n' '__CLAUDE_CODE_DID_NOT_RUN_BASH_TOO_OLD='"${BASH_VERSION-}" >&2; \builtin exit 126; \exit 126;; esac; }"#,
                r#"{ case "${BASH_VERSINFO-}" in '2'|'3'|'4') \builtin printf '%s\n' '__CLAUDE_CODE_DID_NOT_RUN_BASH_TOO_OLD='"${BASH_VERSION-}" >&2; \builtin exit 126; \exit 126;; esac; }"#,
            ]),
            // Absent if the snapshot could not be made.
            optional(&["source @claude-snapshot@ 2>/dev/null || true"]),
            // Present with `CLAUDE_CODE_REMOTE`.
            optional(&[r#"\builtin export BUN_OPTIONS="--smol${BUN_OPTIONS:+ $BUN_OPTIONS}""#]),
            optional(&[
                r"{ \builtin shopt -u extglob || \builtin setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL NO_BRACE_CCL NO_MAGIC_EQUAL_SUBST NO_RC_QUOTES NO_EQUALS; } >/dev/null 2>&1 || true",
                r"{ \builtin shopt -u extglob || \builtin setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL NO_BRACE_CCL NO_MAGIC_EQUAL_SUBST NO_EQUALS; } >/dev/null 2>&1 || true",
                r"\builtin shopt -u extglob 2>/dev/null || true",
            ]),
            optional(&[
                r"{ \builtin unalias -- 'which'; \builtin unset -f -- 'which'; } >/dev/null 2>&1 || true",
            ]),
            optional(&[
                r"{ \builtin unalias -- 'unsetenv'; \builtin unset -f -- 'unsetenv'; } >/dev/null 2>&1 || true",
            ]),
            // Claude Code uses the second form for a text that redirects its own stdin.
            required(&["eval @command@ < /dev/null", "eval @command@"]),
            required(&["pwd -P >| @claude-cwd@"]),
        ],
    },
    // Gemini CLI 0.61.0.
    Wrapper {
        agent: "gemini-cli",
        marker: "_bgpids_file=",
        link: Link::Next,
        parts: &[required(&[
            r#"shopt -u promptvars nullglob extglob nocaseglob dotglob
_bgpids_file=@gemini-pids@
(
  trap 'jobs -p > "$_bgpids_file"' EXIT
@lines@
)
__code=$?
exit $__code"#,
        ])],
    },
];

#[cfg(test)]
#[path = "wrapper_tests.rs"]
mod tests;
