//! The files that `source` may read.

use crate::field::Field;
use crate::value::Value;

/// Returns the files that `source [-p PATH] [--] FILE` looks for, in order, and the arguments after
/// FILE. The first word is the command itself.
pub fn sourced_files(words: &[Field]) -> (Vec<Value>, &[Field]) {
    let mut rest = words.get(1..).unwrap_or(&[]);
    let mut directories = None;
    while let [option, after @ ..] = rest {
        match option.value.literal() {
            Some("--") => {
                rest = after;
                break;
            }
            Some("-p") => {
                directories = after.first().map(|field| field.value.clone());
                rest = after.get(1..).unwrap_or(&[]);
            }
            _ if option.value.prefix().starts_with("-p") => {
                directories = Some(option.value.without_prefix(2));
                rest = after;
            }
            _ => break,
        }
    }
    let Some((file, arguments)) = rest.split_first() else {
        return (Vec::new(), &[]);
    };
    let file = &file.value;
    let files = match directories {
        Some(directories) if !file.prefix().contains('/') => {
            let below = |mut directory: Value| {
                if !directory.is_empty() {
                    directory.push_text("/");
                }
                directory.extend(file);
                directory
            };
            if directories.is_empty() {
                vec![file.clone()]
            } else {
                let directories = directories.split(&[':']);
                directories.into_iter().map(below).collect()
            }
        }
        _ => vec![file.clone()],
    };
    (files, arguments)
}
