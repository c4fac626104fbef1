//! `no_unread_code`: running code that the user has not read.

use super::super::interpreter::{CodeSource, code};
use super::super::rule::{RuleFinding, RuleInput};
use crate::syntax::CommandHost;
use crate::syntax::run::{ResolvedCommand, sourced_files};
use crate::syntax::value::Value;

pub(in super::super) fn check(ran: &ResolvedCommand, _: &RuleInput<'_>) -> Option<RuleFinding> {
    // A command in a container has no effect outside.
    if matches!(
        ran.host,
        CommandHost::Container | CommandHost::Disposable(_)
    ) {
        return None;
    }
    let hit = || Some(RuleFinding::on(ran, ran.arguments()));
    let command = &ran.words.first()?.value;
    // `$cmd`, with `cmd` read from a download.
    if command.is_fetched() && command.pieces().len() == 1 {
        return hit();
    }
    let name = ran.name()?;
    let found = match name {
        "eval" => ran.arguments().iter().any(|field| field.value.is_fetched()),
        "source" | "." => {
            let (files, _) = sourced_files(&ran.words);
            let text = files.iter().find_map(|file| ran.file(file));
            text.is_some_and(Value::is_fetched)
        }
        _ => match code(ran).first() {
            // With text in front, the download is data, as in `bash -c "echo $(curl …)"`.
            Some(CodeSource::Text(field, offset)) => {
                field.value.is_fetched() && field.value.prefix().len() <= *offset
            }
            Some(CodeSource::File(field)) => ran.file(&field.value).is_some_and(is_unread),
            Some(CodeSource::Stdin) => match &ran.stdin {
                None => ran.piped,
                // `<<< "$(curl …)"`
                Some(text) => text.is_fetched() || (ran.piped && text.has_unknown()),
            },
            // The script writes a file and runs it by its path.
            None => {
                command.prefix().contains('/') && ran.file(command).is_some_and(Value::is_fetched)
            }
        },
    };
    found.then(hit).flatten()
}

/// True if a file was downloaded, or if its contents are wholly unknown.
fn is_unread(text: &Value) -> bool {
    text.is_fetched() || (text.has_unknown() && text.pieces().len() == 1)
}
