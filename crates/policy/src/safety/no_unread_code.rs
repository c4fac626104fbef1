//! `no_unread_code`: running code that the user has not read.

use super::interpreter::{CodeSource, code};
use super::rule::{RuleFinding, RuleInput};
use crate::syntax::run::{ResolvedCommand, sourced_files};
use crate::syntax::value::Value;

pub(super) fn check(command: &ResolvedCommand, _: &RuleInput<'_>) -> Option<RuleFinding> {
    // A command in a container has no effect outside.
    if command.host.is_container() {
        return None;
    }
    let hit = || Some(RuleFinding::on(command, command.arguments()));
    let program = &command.words.first()?.value;
    // `$cmd`, with `cmd` read from a download.
    if program.is_fetched() && program.pieces().len() == 1 {
        return hit();
    }
    let name = command.name()?;
    let found = match name {
        "eval" => command
            .arguments()
            .iter()
            .any(|field| field.value.is_fetched()),
        "source" | "." => {
            let (files, _) = sourced_files(&command.words);
            let text = files.iter().find_map(|file| command.file(file));
            text.is_some_and(Value::is_fetched)
        }
        _ => match code(command).first() {
            // With text in front, the download is data, as in `bash -c "echo $(curl …)"`.
            Some(CodeSource::Text(field, offset)) => {
                field.value.is_fetched() && field.value.prefix().len() <= *offset
            }
            Some(CodeSource::File(field)) => command.file(&field.value).is_some_and(is_unread),
            Some(CodeSource::Stdin) => match &command.stdin {
                None => command.reads_pipe,
                // `<<< "$(curl …)"`
                Some(text) => text.is_fetched() || (command.reads_pipe && text.has_unknown()),
            },
            // The script writes a file and runs it by its path.
            None => {
                program.prefix().contains('/')
                    && command.file(program).is_some_and(Value::is_fetched)
            }
        },
    };
    found.then(hit).flatten()
}

/// True if a file was downloaded, or if its contents are wholly unknown.
fn is_unread(text: &Value) -> bool {
    text.is_fetched() || (text.has_unknown() && text.pieces().len() == 1)
}
