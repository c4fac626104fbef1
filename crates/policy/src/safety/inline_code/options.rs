//! Shell commands in options, settings and environment variables of other programs.

use super::calls::Call;
use crate::syntax::git::Git;
use crate::syntax::run::Ran;
use crate::syntax::written::Written;

/// Programs, and their options whose value is a command.
const OPTIONS: [(&[&str], &[&str]); 8] = [
    (
        &["tar", "bsdtar", "gtar"],
        &[
            "--checkpoint-action=exec", "--to-command", "--use-compress-program", "-I", "-F",
            "--info-script", "--rsh-command",
        ],
    ),
    (&["rsync"], &["-e", "--rsh"]),
    (&["scp", "sftp"], &["-S"]),
    (&["ssh", "scp", "sftp"], &["-oProxyCommand"]),
    (&["split", "gsplit"], &["--filter"]),
    (&["sort", "gsort"], &["--compress-program"]),
    (&["man"], &["-P", "--pager"]),
    (&["git"], &["-x", "--extcmd"]),
];

/// Variables whose value is run as a command by git and others.
const VARIABLES: [&str; 10] = [
    "GIT_SSH_COMMAND", "GIT_SSH", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER",
    "GIT_EXTERNAL_DIFF", "EDITOR", "VISUAL", "PAGER", "MANPAGER",
];

/// Last components of git settings whose value is run as a command.
const SETTINGS: [&str; 11] = [
    "sshcommand", "pager", "editor", "fsmonitor", "external", "helper", "textconv", "cmd", "clean",
    "smudge", "process",
];

/// Whether a text contains what a command in an option requires: the program and the option's name.
pub(super) fn need(written: &Written<'_>) -> bool {
    let has = |option: &&str| {
        let name = option.trim_start_matches('-');
        let first = name.split(['-', '=']).next().unwrap_or(name);
        // The value of a single-letter option may be attached to it.
        let attached = |word: &str| match name.len() {
            1 => word.starts_with(name),
            _ => word.len() > 3 && first.ends_with(word),
        };
        written.any(attached)
    };
    OPTIONS.iter().any(|(programs, options)| {
        written.any(|word| programs.contains(&word)) && options.iter().any(has)
    })
}

/// Whether a word is the last component of a git setting that is run.
pub(super) fn is_setting(word: &str) -> bool {
    SETTINGS.contains(&word.to_ascii_lowercase().as_str())
}

/// The commands given in this way.
pub(super) fn calls(ran: &Ran) -> Vec<Call> {
    let variables = ran
        .env
        .iter()
        .filter(|(name, _)| VARIABLES.contains(&name.as_str()))
        .map(|(_, value)| value.script());
    let mut out: Vec<String> = variables.collect();
    let name = ran.name().unwrap_or("");
    if OPTIONS.iter().any(|(programs, _)| programs.contains(&name)) {
        let words: Vec<String> = ran
            .arguments()
            .iter()
            .map(|field| field.value.script())
            .collect();
        for (programs, options) in OPTIONS {
            if programs.contains(&name) {
                out.extend(options.iter().flat_map(|option| values(&words, option)));
            }
        }
    }
    if name == "git" {
        let git = Git::read(&ran.words);
        let set = git.config.iter().cloned().chain(git.configures());
        let run = set.filter(|(name, _)| is_setting(name.rsplit('.').next().unwrap_or(name)));
        out.extend(run.map(|(_, value)| value.script().trim_start_matches('!').to_owned()));
    }
    out.into_iter().map(Call::Script).collect()
}

/// The values of an option: attached, or the next word.
fn values(words: &[String], option: &str) -> Vec<String> {
    let value = |(at, word): (usize, &String)| {
        let next = words.get(at + 1).map_or("", String::as_str);
        let whole = match word.as_str() {
            // `-o Name=value` is `-oName=value`, `--name value` is `--name=value`.
            letter if letter.len() == 2 => format!("{letter}{next}"),
            long if option.split('=').next() == Some(long) => format!("{long}={next}"),
            other => other.to_owned(),
        };
        let value = whole.strip_prefix(option)?;
        let is_it = option.len() == 2 || value.starts_with('=');
        is_it.then(|| value.trim_start_matches('=').to_owned())
    };
    words.iter().enumerate().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_in_options_are_found() {
        for (line, option, expect) in [
            ("-o ProxyCommand=ls h", "-oProxyCommand", Some("ls")),
            ("-oProxyCommand=ls h", "-oProxyCommand", Some("ls")),
            ("-o Port=22 h", "-oProxyCommand", None),
            ("--filter=ls f", "--filter", Some("ls")),
            ("--filter ls f", "--filter", Some("ls")),
            ("--filters ls f", "--filter", None),
            ("-e ls a h:", "-e", Some("ls")),
            (
                "--checkpoint-action=exec=ls a",
                "--checkpoint-action=exec",
                Some("ls"),
            ),
            (
                "--checkpoint-action=dot a", "--checkpoint-action=exec", None,
            ),
        ] {
            let words: Vec<String> = line.split(' ').map(ToOwned::to_owned).collect();
            assert_eq!(
                values(&words, option).first().map(String::as_str),
                expect,
                "{line}"
            );
        }
    }
}
