//! Compares our parser with tree-sitter-bash ("the grammar"): both must find the same commands.
//!
//! The comparison runs where a misreading by our parser would do harm: before a filter is removed,
//! and in safe mode. The grammar misreads some valid scripts, or cannot read them (several heredocs
//! on a line, `coproc`). In these cases the filter stays, and safe mode refuses the script. The
//! grammar's error recovery is quadratic in time and memory, so the text's size is limited. Its
//! tree is walked with a cursor, never recursively.

use tree_sitter::{Node, Parser};

use crate::syntax::ast::{Command, Compound, CompoundKind, List, Word, WordPart};
use crate::{Parsed, Span};

/// Longest text in bytes that is given to the grammar.
const MAX_BYTES: usize = 16 * 1024;

/// Maximum number of characters that open a construct (pipes, parentheses, braces, heredocs). Error
/// recovery from one unfinished pipe costs about 40 KiB and 0.2 ms for each earlier pipe.
const MAX_OPENERS: usize = 600;

/// The result of comparing the commands that both parsers find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// Both parsers find the same commands, with the same words.
    Same,
    /// The parsers find different commands.
    Different,
    /// The grammar cannot parse the text, or the text is beyond the limits.
    Unread,
}

/// A word of a simple command, and true if it is the command's first word.
type CommandWord = (Span, bool);

/// Compares the words that our parser found in a script with the words that the grammar finds.
pub(crate) fn agreement(script: &Parsed<'_>) -> Agreement {
    let words = script.is_whole().then(|| parse(script.text));
    let Some(mut found) = words.flatten() else {
        return Agreement::Unread;
    };
    found.sort_unstable();
    found.dedup();
    if found == words_of(&script.list) {
        Agreement::Same
    } else {
        Agreement::Different
    }
}

/// Returns the words that the grammar finds; `None` beyond the limits, and if the grammar reports a
/// syntax error.
fn parse(text: &str) -> Option<Vec<CommandWord>> {
    let openers = text
        .bytes()
        .filter(|byte| b"|(){}<`".contains(byte))
        .count();
    if text.len() > MAX_BYTES || openers > MAX_OPENERS {
        return None;
    }
    let mut text = in_ascii(text);
    // Without a trailing newline the grammar tries error recovery first, which takes half of the
    // time for a short pipeline. After a backslash a newline would be a continuation.
    if !text.ends_with(['\n', '\\']) {
        text.push('\n');
    }
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .ok()?;
    let tree = parser.parse(&text, None)?;
    let root = tree.root_node();
    if root.has_error() {
        return None;
    }
    let mut found = Vec::new();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let is_word = match (cursor.field_name(), node.kind()) {
            (Some("name"), "command_name") | (Some("argument"), _) => true,
            // The grammar takes words after a redirection's target for further targets.
            (Some("destination"), _) => {
                let before = node.prev_named_sibling();
                before.is_some_and(|before| before.kind() != "file_descriptor")
            }
            _ => false,
        };
        if is_word {
            let is_first = node.kind() == "command_name" || begins_line(&text, node.start_byte());
            found.push((span(node), is_first));
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(found);
            }
        }
    }
}

/// Returns the text with an ASCII letter in place of each byte of other characters, so that offsets
/// stay. After `{`, the grammar's scanner calls C's `isdigit` for a character that is not ASCII.
/// `isdigit` then reads beyond a table and may crash. bash treats characters that are not ASCII,
/// even blanks, as letters of a word.
fn in_ascii(text: &str) -> String {
    let letter = |byte: u8| char::from(if byte.is_ascii() { byte } else { b'x' });
    text.bytes().map(letter).collect()
}

/// True if the word at `offset` is the first of its line. After some pipelines the grammar takes a
/// newline for a blank, without an error: `a | b | c | d && e` and the next line become one
/// command.
fn begins_line(text: &str, offset: usize) -> bool {
    let before = text
        .get(..offset)
        .unwrap_or("")
        .trim_end_matches([' ', '\t']);
    before.ends_with('\n') && !before.ends_with("\\\n")
}

fn span(node: Node<'_>) -> Span {
    Span {
        start: node.start_byte(),
        end: node.end_byte(),
    }
}

/// Returns the sorted words of the simple commands in our parser's list. Substitutions are visited
/// with a work list rather than by recursion.
fn words_of(list: &List) -> Vec<CommandWord> {
    let mut out = Vec::new();
    let mut lists = vec![list];
    while let Some(list) = lists.pop() {
        let stages = list.entries.iter().flat_map(|entry| &entry.stages);
        let mut commands: Vec<&Command> = stages.collect();
        let mut words: Vec<&Word> = Vec::new();
        let mut parts: Vec<&WordPart> = Vec::new();
        while let Some(command) = commands.pop() {
            match command {
                Command::Simple(simple) => {
                    let spans = simple.words.iter().enumerate();
                    out.extend(spans.map(|(index, word)| (word.span, index == 0)));
                    words.extend(&simple.words);
                    for assign in &simple.assigns {
                        words.push(&assign.value);
                        parts.extend(assign.index.iter().flatten());
                    }
                    words.extend(simple.redirs.iter().map(|redir| &redir.target));
                }
                Command::Compound(compound) => {
                    words.extend(compound.redirs.iter().map(|redir| &redir.target));
                    add_parts_of(compound, &mut lists, &mut commands, &mut words, &mut parts);
                }
            }
        }
        while let Some(word) = words.pop() {
            parts.extend(&word.parts);
            while let Some(part) = parts.pop() {
                match part {
                    WordPart::Command { list, .. } | WordPart::Process { list, .. } => {
                        lists.push(list);
                    }
                    WordPart::Param { param, .. } => {
                        parts.extend(&param.operand);
                        parts.extend(param.index.iter().flatten());
                    }
                    WordPart::Arithmetic(inner) => parts.extend(inner),
                    WordPart::Array(inner) => {
                        parts.extend(inner.iter().flat_map(|word| &word.parts));
                    }
                    WordPart::Bare(_) | WordPart::Quoted(_) => {}
                }
            }
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// Adds the parts of a compound command to the work lists of [`words_of`].
fn add_parts_of<'l>(
    compound: &'l Compound,
    lists: &mut Vec<&'l List>,
    commands: &mut Vec<&'l Command>,
    words: &mut Vec<&'l Word>,
    parts: &mut Vec<&'l WordPart>,
) {
    match &compound.kind {
        CompoundKind::Group(list) | CompoundKind::Subshell(list) => lists.push(list),
        CompoundKind::If {
            branches,
            otherwise,
        } => {
            lists.extend(
                branches
                    .iter()
                    .flat_map(|(condition, body)| [condition, body]),
            );
            lists.extend(otherwise);
        }
        CompoundKind::While { condition, body } => lists.extend([condition, body]),
        CompoundKind::For {
            words: values,
            body,
            ..
        } => {
            words.extend(values.iter().flatten());
            lists.push(body);
        }
        CompoundKind::CountedFor { header, body } => {
            parts.extend(header);
            lists.push(body);
        }
        CompoundKind::Case { subject, arms } => {
            words.push(subject);
            for arm in arms {
                words.extend(&arm.patterns);
                lists.push(&arm.body);
            }
        }
        CompoundKind::Function { body, .. } | CompoundKind::Coprocess(body) => commands.push(body),
        CompoundKind::Condition(values) => words.extend(values),
        CompoundKind::Arithmetic(inner) => parts.extend(inner),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scripts_are_read_alike() {
        for text in [
            "git log | head -5",
            "git log --oneline -n 3 2>&1 | grep 'a b' >/dev/null && ls",
            "find . -name '*.rs' \\\n | wc -l",
            "cat a | sort | uniq | head && ls\nfind . -name x",
            "ls 2>/dev/null -la | tail -1",
            "cat <<'E'\nrm -rf /\nE",
            "for x in $(git ls-files); do echo \"$x\"; done | head -3",
            "echo \"$(git log | head -1)\" | cat",
        ] {
            assert_eq!(agreement(&Parsed::read(text)), Agreement::Same, "{text}");
        }
    }

    /// Unchanged, such a character may be a digit for the grammar, depending on memory behind the
    /// table, or may crash it.
    #[test]
    fn any_character_after_a_brace_is_read() {
        for char in ('\u{80}'..=char::MAX).step_by(61) {
            let text = format!("echo {{{char} {{1..{char}}} | cat");
            assert_eq!(agreement(&Parsed::read(&text)), Agreement::Same, "{text}");
        }
    }

    #[test]
    fn words_of_one_reader_alone_are_no_agreement() {
        // Our reading without a command, without a word, and with two commands for one.
        for (text, read) in [
            ("ls; git log", "ls"),
            ("git log -1", "git log"),
            ("ls a; b", "ls a b"),
            ("ls a b", "ls a; b"),
        ] {
            let mut parsed = Parsed::read(text);
            parsed.list = Parsed::read(read).list;
            assert_eq!(agreement(&parsed), Agreement::Different, "{text} as {read}");
        }
        for text in [
            "ls 'x",
            "ls | | head",
            &"a|".repeat(2000),
            &"a ".repeat(10_000),
        ] {
            assert_eq!(agreement(&Parsed::read(text)), Agreement::Unread, "{text}");
        }
    }
}
