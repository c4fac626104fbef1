//! Programs that run a command for each of many items: `xargs`, `find -exec`, `parallel`, `fd -x`.

use super::super::super::find::Search;
use super::super::super::state::ShellState;
use super::super::super::value::{UnknownCause, Value, ValuePiece};
use super::super::call::{Call, quote};
use super::super::expand::join;
use super::super::template_output::template_output;
use super::super::{Field, Walker};

impl Walker<'_> {
    /// Follows the command that `xargs` runs for the items of its input; returns its output.
    pub(super) fn xargs(&mut self, call: &Call, shell: &mut ShellState) -> Value {
        const VALUED_OPTIONS: &str = "adEILnPs";
        let (mut index, mut placeholder, mut has_delimiter) = (1, None, false);
        while let Some(text) = call
            .words
            .get(index)
            .map(|field| field.value.prefix().to_owned())
        {
            if text == "--" {
                index += 1;
                break;
            }
            let takes_value = matches!(
                text.as_str(),
                "--arg-file"
                    | "--delimiter"
                    | "--max-args"
                    | "--max-procs"
                    | "--max-chars"
                    | "--process-slot-var"
            );
            if let Some(long) = text.strip_prefix("--") {
                if long.starts_with("rep") {
                    placeholder = Some(
                        long.split_once('=')
                            .map_or("{}", |(_, value)| value)
                            .to_owned(),
                    );
                }
                has_delimiter |= long.starts_with("nul") || long.starts_with("del");
                index += usize::from(takes_value);
            } else if text.len() > 1 && text.starts_with('-') {
                for (offset, letter) in text.char_indices().skip(1) {
                    let rest = &text[offset + letter.len_utf8()..];
                    has_delimiter |= matches!(letter, '0' | 'd');
                    if letter == 'i' {
                        placeholder = Some(if rest.is_empty() { "{}" } else { rest }.to_owned());
                        break;
                    }
                    if VALUED_OPTIONS.contains(letter) {
                        if letter == 'I' {
                            let next = call.literal(index + 1).unwrap_or("{}");
                            placeholder =
                                Some(if rest.is_empty() { next } else { rest }.to_owned());
                        }
                        index += usize::from(rest.is_empty());
                        break;
                    }
                    if matches!(letter, 'e' | 'l') {
                        break;
                    }
                }
            } else {
                break;
            }
            index += 1;
        }
        let items = match shell.stdin.as_deref() {
            Some(text) if placeholder.is_some() => text.split(&['\n', '\0']),
            Some(text) if has_delimiter => text.split(&['\0', '\n']),
            Some(text) => text
                .split(&[' ', '\t', '\n'])
                .iter()
                .map(unquoted)
                .collect(),
            None => {
                let mut item = Value::default();
                item.push_unknown(UnknownCause::Input, true);
                vec![item]
            }
        };
        let mut words = call.words.get(index..).unwrap_or(&[]).to_vec();
        if words.is_empty() {
            return join(&items, "\n");
        }
        let span = words[0].span;
        let inner = shell.stdin.take();
        let out = if let Some(placeholder) = placeholder {
            let mut out = Value::default();
            for item in &items {
                let replaced = words
                    .iter()
                    .map(|field| Field {
                        value: replaced(&field.value, &placeholder, item),
                        span: field.span,
                    })
                    .collect();
                out.extend(&self.start(&call.with_words(replaced), "xargs", shell));
            }
            out
        } else {
            words.extend(items.into_iter().map(|value| Field { value, span }));
            self.start(&call.with_words(words), "xargs", shell)
        };
        shell.stdin = inner;
        out
    }

    /// Follows the commands that a search runs, and returns the files that the search finds. `None`
    /// if the program does not list files.
    pub(super) fn find(
        &mut self,
        name: &str,
        call: &Call,
        shell: &mut ShellState,
    ) -> Option<Value> {
        let search = Search::of_command(name, &call.words)?;
        let first = search.found.first()?;
        for command in &search.commands {
            let mut words: Vec<Field> = Vec::new();
            for field in command {
                if field.value.literal() == Some("{}") {
                    words.extend(search.found.iter().map(|value| Field {
                        value: value.clone(),
                        span: field.span,
                    }));
                } else {
                    let found = search.found.first().cloned().unwrap_or_default();
                    words.push(Field {
                        value: replaced(&field.value, "{}", &found),
                        span: field.span,
                    });
                }
            }
            self.start(&call.with_words(words), name, shell);
        }
        let listed = || {
            let mut out = join(&search.found, "\n");
            out.push_text("\n");
            out
        };
        Some(template_output(name, &call.values(1), None, first).unwrap_or_else(listed))
    }

    /// Follows the commands of GNU parallel, which joins the command's words with each input and
    /// passes them to a shell.
    pub(super) fn parallel(&mut self, call: &Call, shell: &mut ShellState) -> Value {
        let values = call.values(1);
        let mut index = 0;
        while let Some(text) = values.get(index).map(Value::prefix) {
            if !text.starts_with('-') {
                break;
            }
            let takes_value = text.len() == 2
                && text.ends_with(['j', 'P', 'I', 'a', 'd', 'C', 'n', 'N', 'L', 'S']);
            index += 1 + usize::from(
                takes_value
                    || matches!(
                        text,
                        "--jobs" | "--delay" | "--timeout" | "--joblog" | "--colsep"
                    ),
            );
        }
        let rest = &values[index.min(values.len())..];
        let sources = rest
            .iter()
            .position(|value| value.literal().is_some_and(|text| text.starts_with(":::")));
        let command = join(&rest[..sources.unwrap_or(rest.len())], " ");
        let items: Vec<Value> = match sources {
            Some(index) => rest[index + 1..].to_vec(),
            None => match shell.stdin.as_deref() {
                Some(text) => text.split(&['\n']),
                None => vec![Value::unknown(UnknownCause::Input)],
            },
        };
        for item in items {
            let text = if command.is_empty() {
                item
            } else if command.script().contains('{') {
                replaced(&command, "{}", &quote(&item))
            } else {
                let mut text = command.clone();
                text.push_text(" ");
                text.extend(&quote(&item));
                text
            };
            self.script_with(&text, Vec::new(), "parallel", shell);
        }
        Value::unknown(UnknownCause::Output)
    }
}

/// Replaces `placeholder` by `item` everywhere in the value.
pub(in super::super) fn replaced(value: &Value, placeholder: &str, item: &Value) -> Value {
    if placeholder.is_empty() {
        return value.clone();
    }
    let mut out = Value::default();
    for piece in value.pieces() {
        let ValuePiece::Text(text) = piece else {
            out.extend(&Value::from(piece.clone()));
            continue;
        };
        for (index, part) in text.split(placeholder).enumerate() {
            if index > 0 {
                out.extend(item);
            }
            out.push_text(part);
        }
    }
    out
}

/// Returns an item without the quotes that `xargs` removes.
fn unquoted(value: &Value) -> Value {
    match value.literal() {
        Some(text) if text.contains(['\'', '"', '\\']) => Value::text(
            text.chars()
                .filter(|c| !matches!(c, '\'' | '"' | '\\'))
                .collect::<String>(),
        ),
        _ => value.clone(),
    }
}
