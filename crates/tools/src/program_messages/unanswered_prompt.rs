//! Finds the messages of programs that wanted to ask the user. They failed, because a call has no
//! terminal.
//!
//! A program that fails without such a message is not recognised.

use agent_bash_core::{Notice, NoticeKind, words};

/// Messages of a program, and the advice to the model.
struct PromptRow {
    program: &'static str,
    /// A line of the output contains all texts of one of these messages. `…` is between the texts.
    messages: &'static [&'static str],
    /// The name of the thing that the program asked for.
    wanted: &'static str,
    /// How the command can run without the prompt.
    advice: &'static str,
}

const SUDO_ADVICE: &str = "let the user run the command in a terminal, or allow this command in sudoers without a password (NOPASSWD)";
/// The advice for a call in which the user can answer `sudo -A`.
const SUDO_ASKPASS_ADVICE: &str = "use `sudo -A`, which asks the user";
/// The advice after the user has declined a question.
const DECLINED_ADVICE: &str = "the user declined; ask the user before you try again";
const GPG_ADVICE: &str =
    "let the user unlock the key once in a terminal (`gpg --sign`), so that gpg-agent has it";
const GIT_ADVICE: &str = "let the user set up a credential helper (`gh auth setup-git`, `git credential-store`), or use an address for SSH";

/// The host does not accept the user's keys.
const SSH_KEY_ADVICE: &str =
    "let the user load a key into ssh-agent (`ssh-add`) that the host accepts";

const ROWS: &[PromptRow] = &[
    PromptRow {
        program: "sudo",
        messages: &[
            "sudo: a terminal is required to",
            "sudo: a password is required",
            "sudo: no password was provided",
            "sudo: no tty present",
            // sudo-rs, also under the name `sudo`.
            "sudo: A terminal is required to authenticate",
            "sudo: interactive authentication is required",
            "sudo: Authentication required but not attempted",
            "sudo: No askpass program specified",
        ],
        wanted: "a password",
        advice: SUDO_ADVICE,
    },
    PromptRow {
        program: "su",
        messages: &[
            "su: Authentication required but not attempted",
            "su: must be run from a terminal",
        ],
        wanted: "a password",
        advice: SUDO_ADVICE,
    },
    PromptRow {
        program: "doas",
        messages: &["doas: a tty is required"],
        wanted: "a password",
        advice: SUDO_ADVICE,
    },
    PromptRow {
        program: "git",
        messages: &["could not read Username for"],
        wanted: "a user name",
        advice: GIT_ADVICE,
    },
    PromptRow {
        program: "git",
        messages: &["could not read Password for"],
        wanted: "a password",
        advice: GIT_ADVICE,
    },
    PromptRow {
        program: "ssh",
        messages: &["Host key verification failed."],
        wanted: "the confirmation of a host key",
        advice: "let the user connect once in a terminal and compare the key",
    },
    PromptRow {
        program: "ssh",
        messages: &[
            "Permission denied (…password",
            "Permission denied (…keyboard-interactive",
        ],
        wanted: "a password",
        advice: SSH_KEY_ADVICE,
    },
    PromptRow {
        program: "gpg",
        messages: &[
            "gpg: …Inappropriate ioctl for device",
            "gpg: …No pinentry",
            "gpg: cannot open '/dev/tty'",
        ],
        wanted: "a passphrase",
        advice: GPG_ADVICE,
    },
    PromptRow {
        program: "docker",
        messages: &["annot perform an interactive login from a non TTY device"],
        wanted: "a password",
        advice: "let the user log in, or use `docker login --password-stdin`",
    },
    PromptRow {
        program: "psql",
        messages: &["fe_sendauth: no password supplied"],
        wanted: "a password",
        advice: "let the user put it into `~/.pgpass`",
    },
];

/// Ends of a question that is answered with yes or no.
const QUESTION_ENDS: &[&str] =
    words!["[y/n] (y/n) [yes/no] (yes/no) (yes/no/[fingerprint]) [y/n/q]"];

/// Whether the user could answer the prompts of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserPrompts {
    /// The user could not be asked.
    Unavailable,
    /// The user could be asked, and declined no question.
    Available,
    /// The user has declined a question.
    Declined,
}

/// Returns the notice about a prompt in the output of a failed call, if one is recognised.
pub fn unanswered_prompt(lines: &[&str], prompts: UserPrompts) -> Option<Notice> {
    let rows = ROWS.iter();
    let mut rows = rows.filter(|row| lines.iter().any(|line| row.is_in(line)));
    if let Some(row) = rows.next() {
        let advice = match prompts {
            UserPrompts::Declined => DECLINED_ADVICE,
            UserPrompts::Available if row.program == "sudo" => SUDO_ASKPASS_ADVICE,
            UserPrompts::Available | UserPrompts::Unavailable => row.advice,
        };
        let kind = NoticeKind::PromptUnanswered {
            program: Some(row.program.to_owned()),
            wanted: row.wanted.to_owned(),
            advice: advice.to_owned(),
        };
        return Some(kind.into());
    }
    let last = lines.iter().rev().find(|line| !line.trim().is_empty())?;
    is_question(last).then(|| {
        let kind = NoticeKind::PromptUnanswered {
            program: None,
            wanted: "a yes or no".to_owned(),
            advice: "use the program's option that answers the question (`-y`, `--yes`, `--force`), if the user agrees".to_owned(),
        };
        kind.into()
    })
}

impl PromptRow {
    fn is_in(&self, line: &str) -> bool {
        let mut messages = self.messages.iter();
        messages.any(|message| message.split('…').all(|text| line.contains(text)))
    }
}

/// True for a question such as `Continue? [y/N]`, also if the program has printed its reaction to
/// the missing answer after the question: `[Y/n] Abort.`
fn is_question(line: &str) -> bool {
    let line = line.trim_end().to_ascii_lowercase();
    let line = line.strip_suffix("abort.").unwrap_or(&line);
    let line = line.trim_end_matches([' ', ':', '?', '>']);
    QUESTION_ENDS.iter().any(|end| line.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_programs_that_could_not_ask_are_recognised() {
        for (output, program, wanted) in [
            (
                "sudo: a terminal is required to read the password; either use the -S option to read from standard input or configure an askpass helper\nsudo: a password is required",
                Some("sudo"),
                "a password",
            ),
            (
                "sudo: A terminal is required to authenticate",
                Some("sudo"),
                "a password",
            ),
            (
                "[su: authenticate] Password: \nsu: Authentication required but not attempted",
                Some("su"),
                "a password",
            ),
            (
                "fatal: could not read Username for 'https://example.org': terminal prompts disabled",
                Some("git"),
                "a user name",
            ),
            (
                "ssh_askpass: exec(/usr/bin/false)\nHost key verification failed.\nfatal: Could not read from remote repository.",
                Some("ssh"),
                "the confirmation of a host key",
            ),
            (
                "u@h: Permission denied (publickey,password).",
                Some("ssh"),
                "a password",
            ),
            (
                "gpg: signing failed: Inappropriate ioctl for device\nerror: gpg failed to sign the data",
                Some("gpg"),
                "a passphrase",
            ),
            ("Do you want to continue? [Y/n] Abort.", None, "a yes or no"),
            ("Overwrite? (y/N): \n", None, "a yes or no"),
        ] {
            let lines: Vec<&str> = output.lines().collect();
            let kind =
                unanswered_prompt(&lines, UserPrompts::Unavailable).map(|notice| notice.kind);
            let Some(NoticeKind::PromptUnanswered {
                program: named,
                wanted: asked_for,
                ..
            }) = kind
            else {
                panic!("{output}: {kind:?}");
            };
            assert_eq!(
                (named.as_deref(), asked_for.as_str()),
                (program, wanted),
                "{output}"
            );
        }
    }

    #[test]
    fn advice_depends_on_whether_the_user_can_answer() {
        let sudo = "sudo: a password is required";
        let git = "fatal: could not read Password for 'https://x'";
        let advice =
            |line, prompts| match unanswered_prompt(&[line], prompts).map(|notice| notice.kind) {
                Some(NoticeKind::PromptUnanswered { advice, .. }) => advice,
                other => panic!("{other:?}"),
            };
        assert_eq!(advice(sudo, UserPrompts::Unavailable), SUDO_ADVICE);
        assert_eq!(advice(sudo, UserPrompts::Available), SUDO_ASKPASS_ADVICE);
        assert_eq!(advice(git, UserPrompts::Available), GIT_ADVICE);
        assert_eq!(advice(sudo, UserPrompts::Declined), DECLINED_ADVICE);
        assert_eq!(advice(git, UserPrompts::Declined), DECLINED_ADVICE);
    }

    #[test]
    fn other_failures_have_no_prompt() {
        for output in [
            "",
            "ls: cannot open directory '/root': Permission denied",
            "u@h: Permission denied (publickey).",
            "usage: prog [y/n] FILE\nerror: no file",
            "Password: is not set in the configuration",
            "test auth::password ... FAILED",
        ] {
            let lines: Vec<&str> = output.lines().collect();
            let notice = unanswered_prompt(&lines, UserPrompts::Unavailable);
            assert_eq!(notice, None, "{output}");
        }
    }
}
