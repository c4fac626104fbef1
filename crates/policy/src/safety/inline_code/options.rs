//! Options of programs whose value is a command.

use super::calls::Call;
use crate::syntax::written::Written;

/// Programs, and their options: letters with their dash, long ones without a value attached.
const COMMAND_OPTIONS: [(&[&str], &[&str]); 8] = [
    (&["rsync"], &["-e", "--rsh"]),
    (&["scp", "sftp"], &["-S"]),
    (&["split", "gsplit"], &["--filter"]),
    (&["sort", "gsort"], &["--compress-program"]),
    (&["man"], &["-P", "--pager"]),
    (&["zip"], &["-TT", "--unzip-command"]),
    (&["pwsh", "powershell"], &["-c", "-Command", "-command"]),
    (&["git"], &["-x", "--extcmd"]),
];

/// Settings of ssh, in lower case, whose value is run here.
const SSH_COMMANDS: [&str; 3] = ["proxycommand", "localcommand", "knownhostscommand"];

/// What takes settings of ssh with `-o`.
const SSH: [&str; 3] = ["ssh", "scp", "sftp"];

/// Whether a program has such options.
pub(super) fn is_program(name: &str) -> bool {
    SSH.contains(&name)
        || COMMAND_OPTIONS
            .iter()
            .any(|(programs, _)| programs.contains(&name))
}

/// Whether a text has in it what a command in an option needs: the program, and the option's name.
pub(super) fn need(written: &Written<'_>) -> bool {
    let has = |option: &str| {
        let name = option.trim_start_matches('-');
        let first = name.split('-').next().unwrap_or(name);
        // What belongs to a letter may be attached to it.
        written.any(|word| word == first || (name.len() == 1 && word.starts_with(name)))
    };
    (written.any(|word| SSH.contains(&word)) && has("-o"))
        || COMMAND_OPTIONS.iter().any(|(programs, options)| {
            written.any(|word| programs.contains(&word)) && options.iter().any(|option| has(option))
        })
}

/// The commands in such options.
pub(super) fn calls(name: &str, words: &[String]) -> Vec<Call> {
    let mut out = Vec::new();
    // `git difftool -x`; in other subcommands that is something else.
    if name == "git" && !words.iter().any(|word| word == "difftool") {
        return out;
    }
    for (programs, options) in COMMAND_OPTIONS {
        if programs.contains(&name) {
            for option in options {
                out.extend(values(words, option).map(|text| Call::Script(text.to_owned())));
            }
        }
    }
    if SSH.contains(&name) {
        for setting in values(words, "-o") {
            let (key, command) = setting
                .split_once(|c: char| c == '=' || c.is_whitespace())
                .unwrap_or((setting, ""));
            if SSH_COMMANDS.contains(&key.trim().to_ascii_lowercase().as_str()) {
                out.push(Call::Script(command.trim().to_owned()));
            }
        }
    }
    out
}

/// What stands behind an option: as the next word, or attached.
fn values<'w>(words: &'w [String], option: &'static str) -> impl Iterator<Item = &'w str> {
    let attached = move |word: &'w str| {
        let rest = word.strip_prefix(option)?;
        if option.starts_with("--") {
            rest.strip_prefix('=')
        } else {
            Some(rest).filter(|rest| !rest.is_empty() && option.len() == 2)
        }
    };
    words.iter().enumerate().filter_map(move |(at, word)| {
        if word == option {
            words.get(at + 1).map(String::as_str)
        } else {
            attached(word)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_in_options_are_found() {
        for (line, expect) in [
            ("ssh -o ProxyCommand=ls h", Some("ls")),
            ("ssh -oProxyCommand=ls h", Some("ls")),
            ("ssh -o Port=22 h", None),
            ("scp -S ls a h:", Some("ls")),
            ("split --filter=ls f", Some("ls")),
            ("split --filter ls f", Some("ls")),
            ("sort -k ls f", None),
            ("rsync -e ls a h:", Some("ls")),
            ("git difftool -x ls", Some("ls")),
        ] {
            let mut words = line.split(' ').map(ToOwned::to_owned);
            let name = words.next().unwrap_or_default();
            let words: Vec<String> = words.collect();
            let found = calls(&name, &words);
            let expect: Vec<Call> = expect
                .map(|text| Call::Script(text.to_owned()))
                .into_iter()
                .collect();
            assert_eq!(found, expect, "{line}");
        }
    }
}
