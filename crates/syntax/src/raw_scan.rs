//! Finds all parts of a raw text that could be commands.
//!
//! This search is the fallback for a text that cannot be parsed (a syntax error, or over a limit),
//! so that the policy still sees its commands. The search splits the text at every character that
//! could separate commands, even in quotes, and ignores nesting. Some results are not commands, but
//! every command that is written literally is found.

use crate::{Context, Span};

use super::harmful::{AMBIGUOUS_COMMANDS, HARMFUL_COMMANDS, SEARCHED_FIRST};
use super::pattern::push_globbed;
use super::run::{Field, ResolvedCommand, Walker};
use super::state::ShellState;
use super::value::{UnknownCause, Value};

/// Maximum number of commands from one text. Each of these unresolved commands costs about a
/// microsecond.
const MAX_COMMANDS: usize = 20_000;

/// Returns the parts of a text that could be commands.
pub(super) fn commands(text: &str, context: &Context) -> Vec<ResolvedCommand> {
    let mut out = Vec::new();
    let mut triggers = HARMFUL_COMMANDS.iter().chain(&AMBIGUOUS_COMMANDS);
    if !triggers.any(|trigger| text.contains(trigger)) {
        return out;
    }
    let shell = ShellState::new(&context.cwd, context.home.as_deref());
    let mut words: Vec<Field> = Vec::new();
    let mut start = None;
    // True for words after a quote.
    let mut is_quoted = false;
    let end = text.len();
    // True within a line that is a comment.
    let (mut is_comment, mut is_line_start) = (false, true);
    for (offset, c) in text.char_indices().chain([(end, '\n')]) {
        is_comment = c != '\n' && (is_comment || is_line_start && c == '#');
        is_line_start = c == '\n' || is_line_start && c.is_whitespace();
        if is_comment {
            continue;
        }
        let separates = matches!(
            c,
            ';' | '|' | '&' | '(' | ')' | '\n' | '`' | '{' | '}' | '<' | '>' | '"' | '\''
        );
        if separates || matches!(c, ' ' | '\t') {
            if let Some(start) = start.take() {
                words.push(field(&text[start..offset], start, &shell));
            }
            if separates {
                // `poweroff() { … }` defines a function.
                if words.len() == 1 && text[offset..].starts_with("()") {
                    words.clear();
                }
                add_commands(&mut words, is_quoted, &shell, &mut out);
                is_quoted = matches!(c, '"' | '\'');
            }
        } else if start.is_none() {
            start = Some(offset);
        }
    }
    out
}

/// Returns a word of the raw text, which begins at `start`. From the word's first `$` on, the value
/// is unknown.
fn field(text: &str, start: usize, shell: &ShellState) -> Field {
    let mut value = Value::default();
    let plain = text.replace('\\', "");
    let plain = match (plain.strip_prefix('~'), shell.home()) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            format!("{home}{rest}")
        }
        _ => plain,
    };
    match plain.split_once('$') {
        None => push_globbed(&mut value, &plain),
        Some((known, name)) => {
            push_globbed(&mut value, known);
            value.push_unknown(UnknownCause::Variable(name.to_owned()), false);
        }
    }
    Field {
        value,
        span: Span {
            start,
            end: start + text.len(),
        },
    }
}

/// Adds a command for each word that names a harmful program: this word and all words after it.
fn add_commands(
    words: &mut Vec<Field>,
    is_quoted: bool,
    shell: &ShellState,
    out: &mut Vec<ResolvedCommand>,
) {
    let command_words = std::mem::take(words);
    // `command='poweroff'`
    if is_quoted && command_words.len() == 1 {
        return;
    }
    for (index, word) in command_words.iter().enumerate() {
        let name = word
            .value
            .literal()
            .map(|text| text.rsplit('/').next().unwrap_or(text));
        // `mkfs.ext4`
        let stem = name.map(|name| name.split('.').next().unwrap_or(name));
        // `reboot` within a sentence or alone in quotes is no command.
        let is_first = || !is_quoted && command_words[..index].iter().all(precedes_command);
        let is_harmful = |stem| {
            HARMFUL_COMMANDS.contains(&stem) || AMBIGUOUS_COMMANDS.contains(&stem) && is_first()
        };
        if !stem.is_some_and(is_harmful) || out.len() >= MAX_COMMANDS {
            continue;
        }
        out.push(Walker::without_context(
            command_words[index..].to_vec(),
            shell,
        ));
    }
}

/// True for words that may precede a command's name: options, assignments, and `sudo` and its like.
fn precedes_command(word: &Field) -> bool {
    let text = word.value.prefix();
    text.starts_with('-') || text.contains('=') || SEARCHED_FIRST.contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_sentences_and_comments_are_no_commands() {
        let context = Context::new("/w");
        for (text, is_command) in [
            ("x '\nsudo -n reboot", true),
            ("x '\nA=b reboot", true),
            ("x ' please reboot now", false),
            ("x '\n # rm -rf /", false),
            ("x '\nplease rm -rf /", true),
            ("x ' # rm -rf /", true),
            ("x '\nshow \"reboot\" \"$X\"", false),
            ("x '\npoweroff() { :; }", false),
            ("x '\ncommand=\"poweroff\"", false),
            ("x '\npoweroff; ()", true),
        ] {
            let found = commands(text, &context);
            assert_eq!(!found.is_empty(), is_command, "{text}");
        }
    }
}
