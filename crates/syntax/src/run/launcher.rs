//! Programs that run their arguments: a table of data (`launchers.conf`), and the parser of their
//! command lines.

use super::super::harmful::is_relevant;
use crate::field::Field;
use crate::table::{Table, names_and_subcommands};

/// The form in which the command follows a launcher's options.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum CommandForm {
    /// A program and its arguments.
    #[default]
    Argv,
    /// Words that are joined and passed to a shell.
    Script,
    /// The words after `--`.
    Dashes,
    /// The command begins at the first word that names a relevant program. For launchers with too
    /// many options to list.
    Search,
    /// No command follows; only the values of options are commands.
    Nothing,
}

/// The host on which a launcher runs the command, as in the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum LaunchHost {
    #[default]
    Local,
    Remote,
    Container,
    Disposable,
}

/// The letters and long names (without dashes) of some options.
#[derive(Debug, Default)]
struct OptionNames {
    letters: String,
    long: Vec<&'static str>,
}

/// A line of the table, by which a launcher's command line is parsed. `launchers.conf` explains the
/// fields.
#[derive(Debug, Default)]
pub(super) struct Launcher {
    #[cfg(test)]
    names: Vec<&'static str>,
    /// The programs to which a row for all programs does not apply.
    except: Vec<&'static str>,
    subcommands: Vec<&'static str>,
    valued: OptionNames,
    text: OptionNames,
    begin: Vec<&'static str>,
    operands: usize,
    /// The options in place of the first operand.
    replaces: OptionNames,
    pub(super) assigns: bool,
    pub(super) is_package: bool,
    /// The letter and the long name of the option for the command's directory.
    chdir: (&'static str, &'static str),
    entry: &'static str,
    quits: &'static str,
    /// The options with which the launcher starts a shell if no command follows; with an empty
    /// list, it always does.
    shell: Option<OptionNames>,
    /// The program whose arguments follow; empty if the command line names the program.
    pub(super) program: &'static str,
    pub(super) command_form: CommandForm,
    pub(super) host: LaunchHost,
    #[cfg(test)]
    example: &'static str,
}

/// The head of the file explains its format.
static LAUNCHERS: Table<Launcher> = crate::table!(
    include_str!("launchers.conf"),
    "",
    Launcher,
    Launcher::from_row
);

/// Returns the rows of the table for a program: its own rows, and then the rows for all programs.
pub(super) fn find(name: &str) -> impl Iterator<Item = &'static Launcher> {
    let own = LAUNCHERS.rows_of(name);
    let general = LAUNCHERS.rows_of("*");
    own.chain(general.filter(move |row| !row.except.contains(&name)))
}

/// The position of an option's value: the index of its word, and the number of bytes in front of
/// the value in the word.
type ValuePosition = (usize, usize);

/// The parsed command line of a launcher.
#[derive(Debug, Default)]
pub(super) struct ParsedLauncher {
    /// Index of the first word after the subcommands.
    pub(super) start: usize,
    /// Index of the command's first word, if any.
    pub(super) command: Option<usize>,
    /// The values of options that are scripts.
    pub(super) scripts: Vec<ValuePosition>,
    /// The value of the option for the command's directory.
    pub(super) directory: Option<ValuePosition>,
    /// The value of the option that names the program, in front of the command's words.
    pub(super) entry: Option<ValuePosition>,
    /// The mounts of a container.
    pub(super) mounts: Vec<ValuePosition>,
    /// The value of the option after which the command begins, if the program is attached to it.
    pub(super) begin_option: Option<ValuePosition>,
    /// True if the launcher starts a shell, whose script is its standard input.
    pub(super) starts_shell: bool,
}

/// Options for the mounts of a container. The values of other options with these names, such as
/// `-m 512m`, are no mounts.
const MOUNTS: [&str; 6] = ["v", "volume", "m", "mount", "B", "bind"];

impl Launcher {
    fn from_row(line: &'static str) -> Launcher {
        let (_, subcommands) = names_and_subcommands(line);
        let mut out = Launcher {
            #[cfg(test)]
            names: names_and_subcommands(line).0.split_whitespace().collect(),
            subcommands: subcommands.split_whitespace().collect(),
            ..Launcher::default()
        };
        for field in line.split(" ; ").skip(1) {
            let (key, value) = field.split_once(' ').unwrap_or((field, ""));
            match key {
                "value" => out.valued = OptionNames::from_words(value),
                "text" => out.text = OptionNames::from_words(value),
                "begin" => out.begin = value.split_whitespace().collect(),
                "operands" => out.operands = value.parse().unwrap_or_default(),
                "command" => {
                    out.command_form = match value {
                        "script" => CommandForm::Script,
                        "dashes" => CommandForm::Dashes,
                        "search" => CommandForm::Search,
                        _ => CommandForm::Nothing,
                    }
                }
                "host" => {
                    out.host = match value {
                        "remote" => LaunchHost::Remote,
                        "container" => LaunchHost::Container,
                        _ => LaunchHost::Disposable,
                    }
                }
                "replaces" => out.replaces = OptionNames::from_words(value),
                "assigns" => out.assigns = true,
                "package" => out.is_package = true,
                "chdir" => out.chdir = value.split_once(' ').unwrap_or_default(),
                "entry" => out.entry = value.trim_start_matches('-'),
                "quits" => out.quits = value,
                "except" => out.except = value.split_whitespace().collect(),
                "shell" => out.shell = Some(OptionNames::from_words(value)),
                "program" => out.program = value,
                #[cfg(test)]
                "try" => out.example = value,
                _ => {}
            }
        }
        out
    }

    /// Parses a command line; `None` if it has other subcommands.
    pub(super) fn parse(&self, words: &[Field]) -> Option<ParsedLauncher> {
        let mut parsed = ParsedLauncher {
            start: 1,
            ..ParsedLauncher::default()
        };
        let mut subcommands = self.subcommands.iter();
        let mut wanted = subcommands.next();
        let (mut operands, mut options, mut is_valued) = (self.operands, true, false);
        let mut index = 1;
        while let Some(field) = words.get(index) {
            let text = field.value.prefix();
            let begins =
                |option: &&&str| text == **option || text.starts_with(&format!("{option}="));
            if wanted.is_none()
                && let Some(option) = self.begin.iter().find(begins)
            {
                let is_attached = text.len() > option.len();
                parsed.begin_option = is_attached.then_some((index, option.len() + 1));
                parsed.command = Some(index + 1);
                return Some(parsed);
            } else if options && text == "--" {
                options = false;
                if self.command_form == CommandForm::Dashes {
                    // `vagrant ssh -- -t command`
                    let is_option = |field: &&Field| field.value.prefix().starts_with('-');
                    let after = words.get(index + 1..).unwrap_or_default();
                    let options = after.iter().take_while(is_option).count();
                    parsed.command = Some(index + 1 + options);
                    break;
                }
            } else if options && text.len() > 1 && text.starts_with('-') {
                is_valued = wanted.is_some() && !text.contains('=');
                parsed.starts_shell |= self.shell.as_ref().is_some_and(|all| all.has_one_of(text));
                if wanted.is_none() && self.replaces.has_one_of(text) {
                    operands = operands.saturating_sub(1);
                }
                if let Some((name, attached)) = self.option(field) {
                    if name.len() == 1 && self.quits.contains(name) {
                        break;
                    }
                    let is_text = self.text.contains(name);
                    if is_text || self.valued.contains(name) {
                        is_valued = false;
                        index += usize::from(attached.is_none());
                        let value = (index, attached.unwrap_or(0));
                        let is_named = |long: &str| !long.is_empty() && long.starts_with(name);
                        if is_text {
                            parsed.scripts.push(value);
                        } else if name == self.chdir.0 || name.len() > 1 && is_named(self.chdir.1) {
                            parsed.directory = Some(value);
                        } else if name.len() > 1 && is_named(self.entry) {
                            parsed.entry = Some(value);
                        } else if MOUNTS.contains(&name) {
                            parsed.mounts.push(value);
                        }
                    }
                }
            } else if options
                && text.is_empty()
                && field.value.may_split()
                && !(operands == 1 && precedes_program(words, index))
            {
                // `$OPTIONS`: the command comes after its expansion.
            } else if let Some(next) = wanted {
                let word = field.value.literal();
                if word.is_some_and(|word| next.split('|').any(|next| next == word)) {
                    wanted = subcommands.next();
                    parsed.start = index + 1;
                } else if !std::mem::take(&mut is_valued) {
                    return None;
                }
            } else if self.assigns && sets_variable(text) {
                options = false;
            } else if operands > 0 {
                operands -= 1;
                if operands == 0 && !self.entry.is_empty() {
                    // The command follows the image, options included.
                    parsed.command = words.get(index + 1).map(|_| index + 1);
                    break;
                }
            } else if matches!(
                self.command_form,
                CommandForm::Nothing | CommandForm::Dashes
            ) {
                // Options may follow: `script file -c command`.
            } else {
                parsed.command = Some(index);
                break;
            }
            index += 1;
        }
        parsed.starts_shell |= self.shell.as_ref().is_some_and(OptionNames::is_empty);
        parsed.starts_shell &= parsed.command.is_none() && parsed.scripts.is_empty();
        wanted.is_none().then_some(parsed)
    }

    /// True if an option marks the beginning of the command.
    pub(super) fn begins(&self) -> bool {
        !self.begin.is_empty()
    }

    /// Returns the option in a word: its name without dashes, and the offset of an attached value.
    /// In a cluster of letters, the first letter that the table lists counts.
    fn option<'f>(&self, field: &'f Field) -> Option<(&'f str, Option<usize>)> {
        let text = field.value.prefix();
        if let Some(long) = text.strip_prefix("--") {
            return Some(match long.split_once('=') {
                Some((name, _)) => (name, Some(name.len() + 3)),
                None => (long, None),
            });
        }
        let known = |letter: char| {
            let all = [&self.text.letters, &self.valued.letters];
            self.quits.contains(letter) || all.iter().any(|letters| letters.contains(letter))
        };
        let mut letters = text.char_indices().skip(1);
        let (index, letter) = letters.find(|(_, letter)| known(*letter))?;
        let end = index + letter.len_utf8();
        let is_last = end == text.len() && field.value.literal().is_some();
        Some((&text[index..end], (!is_last).then_some(end)))
    }
}

impl OptionNames {
    fn from_words(value: &'static str) -> OptionNames {
        let (long, letters): (Vec<_>, Vec<_>) = value
            .split_whitespace()
            .partition(|option| option.starts_with("--"));
        OptionNames {
            letters: letters.concat().replace('-', ""),
            long: long.iter().map(|option| &option[2..]).collect(),
        }
    }

    fn is_empty(&self) -> bool {
        self.letters.is_empty() && self.long.is_empty()
    }

    /// True if a word is one of these options, or a cluster of letters with one of them.
    fn has_one_of(&self, text: &str) -> bool {
        match text.strip_prefix("--") {
            Some(long) => self.long.contains(&long),
            None => text.chars().any(|letter| self.letters.contains(letter)),
        }
    }

    /// True if a name is one of these options, or an abbreviation (GNU programs accept unambiguous
    /// prefixes).
    fn contains(&self, name: &str) -> bool {
        let mut long = self.long.iter();
        name.len() == 1 && self.letters.contains(name)
            || self.long.contains(&name)
            || name.len() > 1 && long.any(|option| option.starts_with(name))
    }
}

/// True if a program or `--` follows a word: `docker exec $CONTAINER git push`.
fn precedes_program(words: &[Field], index: usize) -> bool {
    let next = words.get(index + 1).and_then(|field| field.value.literal());
    let is_program = |word: &str| is_relevant(word) && !word.contains(['/', ':', ' ']);
    next.is_some_and(|word| word == "--" || is_program(word))
}

/// True for a text that begins with `NAME=`.
pub(crate) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

/// True for a text that `env` and `sudo` read as a variable: unlike a shell, they accept every
/// name.
pub(super) fn sets_variable(text: &str) -> bool {
    text.find('=').is_some_and(|equals| equals > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CommandHost, Context, Script};

    #[test]
    fn every_launcher_leads_to_its_command() {
        let context = Context::new("/home/u/project").with_home("/home/u");
        let mut missed = Vec::new();
        // A launcher of a shell that reads its script from stdin has its own test.
        let is_shell = |row: &Launcher| row.shell.is_some() && !row.example.contains('@');
        for launcher in LAUNCHERS.rows().filter(|row| !is_shell(row)) {
            for name in &launcher.names {
                let (_, arguments) = launcher.example.split_once(' ').unwrap();
                // Without the backslash, `time` is a keyword.
                let text = format!("\\{name} {arguments}").replace('@', "rm -rf /x");
                let script = Script::read(&text, &context);
                let command = format!("{} rm -rf /x", launcher.program);
                let found = script.commands.iter().find(|found| {
                    found.to_string() == command.trim_start()
                        && found.started_by.first().is_some_and(|by| by == name)
                });
                let host = found.map(|command| match command.host {
                    CommandHost::Local => LaunchHost::Local,
                    CommandHost::Remote => LaunchHost::Remote,
                    CommandHost::Container => LaunchHost::Container,
                    CommandHost::Disposable(_) => LaunchHost::Disposable,
                });
                if host != Some(launcher.host) {
                    missed.push(format!("{text}: {host:?}"));
                }
            }
        }
        assert!(missed.is_empty(), "{}", missed.join("\n"));
    }

    #[test]
    fn launched_shell_runs_its_stdin() {
        let context = Context::new("/home/u/project").with_home("/home/u");
        let mut missed = Vec::new();
        for launcher in LAUNCHERS.rows() {
            let Some(options) = &launcher.shell else {
                continue;
            };
            let letter = options.letters.chars().next();
            let option = letter.map_or_else(String::new, |letter| format!("-{letter}"));
            let operands = "x ".repeat(launcher.operands);
            for name in &launcher.names {
                let words = launcher.subcommands.iter();
                let words: Vec<&str> = words.filter_map(|word| word.split('|').next()).collect();
                let start = format!("{name} {} {option} {operands}", words.join(" "));
                for (text, is_run) in [
                    (format!("{start} <<< 'rm -rf /x'"), true),
                    (format!("echo 'rm -rf /x' | {start}"), true),
                    (
                        format!("{start} cat <<< 'rm -rf /x'"),
                        matches!(
                            launcher.command_form,
                            CommandForm::Nothing | CommandForm::Dashes
                        ),
                    ),
                ] {
                    let script = Script::read(&text, &context);
                    let mut all = script.commands.iter();
                    if all.any(|command| command.to_string() == "rm -rf /x") != is_run {
                        missed.push(text);
                    }
                }
            }
        }
        assert!(missed.is_empty(), "{}", missed.join("\n"));
    }
}
