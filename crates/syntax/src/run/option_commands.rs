//! Commands in options, settings and variables of programs that have another purpose: a table of
//! data (`option_commands.conf`), and the search for such commands in a command line.

use super::super::harmful::is_relevant;
use super::super::state::ShellState;
use super::super::value::{UnknownCause, Value};
use super::Walker;
use super::call::{Call, quote};
use super::launch::replaced;
use crate::table::Table;
#[cfg(test)]
use crate::table::names_and_subcommands;

/// A line of the table: the sources of commands in the command lines of some programs.
struct OptionCommand {
    #[cfg(test)]
    names: Vec<&'static str>,
    sources: Vec<&'static str>,
    beginnings: Vec<&'static str>,
    actions: Vec<&'static str>,
    /// The text that stands for a line of the input.
    item: Option<&'static str>,
    has_strings: bool,
    #[cfg(test)]
    example: &'static str,
}

/// The head of the file explains its format.
static OPTION_COMMANDS: Table<OptionCommand> = crate::table!(
    include_str!("option_commands.conf"),
    "",
    OptionCommand,
    OptionCommand::from_row
);

/// True if a variable holds a command that programs run.
pub(super) fn is_command_variable(name: &str) -> bool {
    let kinds = OPTION_COMMANDS.rows_of("*");
    let mut sources = kinds.flat_map(|kind| &kind.sources);
    sources.any(|source| {
        let pattern = source.strip_prefix('$');
        pattern.is_some_and(|pattern| fits(pattern, name))
    })
}

/// True if a name fits a pattern with at most one `*`.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => {
            let rest = name.strip_prefix(before);
            rest.is_some_and(|rest| rest.len() >= after.len() && rest.ends_with(after))
        }
        None => pattern == name,
    }
}

impl Walker<'_> {
    /// Follows the commands in a call's options, operands and input.
    pub(super) fn option_commands(&mut self, name: &str, call: &Call, shell: &ShellState) {
        for (variable, value) in &call.env {
            if is_command_variable(variable) {
                self.hidden_command(&value.script(), variable, shell);
            }
        }
        for kind in OPTION_COMMANDS.rows_of(name) {
            for text in kind.texts(call, shell) {
                for command in kind.commands(&text) {
                    match kind.item.filter(|item| command.contains(item)) {
                        Some(item) => self.item_command(command, item, name, shell),
                        None => self.hidden_command(command, name, shell),
                    }
                }
            }
        }
    }

    /// Follows a command that a program runs with a line of its input.
    fn item_command(&mut self, command: &str, item: &str, started_by: &str, shell: &ShellState) {
        let lines = shell.stdin.as_deref().map(|input| input.split(&['\n']));
        let line = lines.and_then(|lines| lines.into_iter().next());
        let line = line.unwrap_or_else(|| Value::unknown(UnknownCause::Input));
        let text = replaced(&Value::text(command), item, &quote(&line));
        self.script_with(&text, Vec::new(), started_by, shell);
    }

    /// Follows the command in a setting of git.
    pub(super) fn git_setting(&mut self, setting: &str, value: &Value, shell: &ShellState) {
        for kind in OPTION_COMMANDS.rows_of("git") {
            if kind.has_setting(setting) {
                for command in kind.commands(&value.script()) {
                    self.hidden_command(command, "git", shell);
                }
            }
        }
    }

    /// Follows a command that another program may run. A command that cannot do harm is skipped,
    /// because the program may never run it.
    pub(super) fn hidden_command(&mut self, text: &str, started_by: &str, shell: &ShellState) {
        if is_relevant(text) {
            let may_never_run = std::mem::replace(&mut self.may_never_run, true);
            self.script_with(&Value::text(text), Vec::new(), started_by, shell);
            self.may_never_run = may_never_run;
        }
    }
}

impl OptionCommand {
    fn from_row(line: &'static str) -> OptionCommand {
        let mut out = OptionCommand {
            #[cfg(test)]
            names: names_and_subcommands(line).0.split_whitespace().collect(),
            sources: Vec::new(),
            beginnings: Vec::new(),
            actions: Vec::new(),
            item: None,
            has_strings: false,
            #[cfg(test)]
            example: "",
        };
        for field in line.split(" ; ").skip(1) {
            match field.split_once(' ') {
                Some(("in", value)) => out.sources = value.split_whitespace().collect(),
                Some(("after", value)) => out.beginnings = value.split(" | ").collect(),
                Some(("inside", value)) => out.actions = value.split_whitespace().collect(),
                Some(("item", value)) => out.item = Some(value),
                #[cfg(test)]
                Some(("try", value)) => out.example = value,
                _ => out.has_strings |= field == "strings",
            }
        }
        out
    }

    fn has_setting(&self, setting: &str) -> bool {
        let mut names = self
            .sources
            .iter()
            .filter_map(|source| source.strip_prefix("config:"));
        names.any(|name| fits(name, setting))
    }

    /// Returns the texts at the sources.
    fn texts(&self, call: &Call, shell: &ShellState) -> Vec<String> {
        let mut texts = Vec::new();
        for source in &self.sources {
            match *source {
                "stdin" => {
                    let input = shell
                        .stdin
                        .as_deref()
                        .map(Value::script)
                        .unwrap_or_default();
                    texts.extend(input.lines().map(|line| line.trim_start().to_owned()));
                }
                source if source.starts_with('$') || source.starts_with("config:") => {}
                source => texts.extend(option_values(call, source)),
            }
        }
        texts
    }

    fn commands<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let after = |beginning: &&str| {
            let (head, tail) = beginning.split_once('*').unwrap_or((beginning, ""));
            let start = text.get(..head.len())?;
            let rest = &text[head.len()..];
            let end = rest.find(tail)? + tail.len();
            start.eq_ignore_ascii_case(head).then(|| &rest[end..])
        };
        let rest = match self.beginnings.iter().find_map(after) {
            Some(rest) => rest,
            None if self.beginnings.is_empty() => text,
            None => return Vec::new(),
        };
        if !self.actions.is_empty() {
            let arguments = self.actions.iter().flat_map(|name| arguments(text, name));
            return arguments.collect();
        }
        if !self.has_strings {
            return vec![rest];
        }
        let between = |quote: char| rest.split(quote).skip(1).step_by(2);
        between('"').chain(between('\'')).collect()
    }
}

/// Returns the arguments of an action in fzf's list of bindings: `a:name(…)+other,b:name:…`. A
/// bracket closes an argument only before the next action or at the end.
fn arguments<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let argument = |(start, _)| {
        let before: &str = &text[..start];
        let rest = &text[start + name.len()..];
        let open = rest.chars().next().filter(char::is_ascii_punctuation)?;
        before.ends_with([':', '+']).then_some(())?;
        let rest = &rest[1..];
        let close = match open {
            ':' => return Some(rest),
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            '-' | '+' | ',' => return None,
            other => other,
        };
        let ends_argument = |(index, _): &(usize, &str)| {
            let after = &rest[index + 1..];
            after.is_empty() || after.starts_with(['+', ','])
        };
        let end = rest.match_indices(close).find(ends_argument);
        Some(end.map_or(rest, |(index, _)| &rest[..index]))
    };
    text.match_indices(name).filter_map(argument).collect()
}

/// Returns the values of an option; all operands for the option `word`.
fn option_values(call: &Call, option: &str) -> Vec<String> {
    let mut out = Vec::new();
    let is_letter = option.len() == 2 && option.starts_with('-');
    for (index, field) in call.words.iter().enumerate().skip(1) {
        let text = field.value.prefix();
        let attached = match option {
            "word" => (!text.starts_with('-')).then_some(0),
            _ if is_letter && text.starts_with("--") => None,
            "+" | "-TT" => text.starts_with(option).then_some(option.len()),
            _ if is_letter => (text.len() > 2 && text.starts_with(option)).then_some(2),
            _ => text
                .starts_with(&format!("{option}="))
                .then_some(option.len() + 1),
        };
        let is_cluster = is_letter
            && text.len() < 5
            && text.starts_with('-')
            && !text.starts_with("--")
            && text.ends_with(&option[1..]);
        if let Some(skip) = attached.filter(|skip| *skip < text.len() || text != option) {
            out.push(field.value.without_prefix(skip).script());
        } else if text == option || is_cluster {
            out.extend(call.words.get(index + 1).map(|field| field.value.script()));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, Script};

    #[test]
    fn every_kind_of_hidden_command_is_found() {
        let context = Context::new("/home/u/project").with_home("/home/u");
        let mut missed = Vec::new();
        for kind in OPTION_COMMANDS.rows() {
            let first = kind.names[0];
            for name in &kind.names {
                let text = kind
                    .example
                    .replacen(first, name, 1)
                    .replace('@', "rm -rf /x");
                let script = Script::read(&text, &context);
                let is_found = script
                    .commands
                    .iter()
                    .any(|command| command.to_string() == "rm -rf /x");
                if !is_found {
                    missed.push(text);
                }
            }
        }
        assert!(missed.is_empty(), "{}", missed.join("\n"));
    }
}
