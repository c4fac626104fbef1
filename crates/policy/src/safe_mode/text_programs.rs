//! Recognises scripts of `sed` and `awk` that only print. Both languages can also write files and
//! run commands, so every script that these functions do not recognise is refused.

use crate::syntax::run::Field;

/// Options of `sed`, some in clusters, that only change how `sed` reads and prints.
const SED_OPTIONS: [&str; 9] = [
    "-n", "-E", "-r", "-u", "-z", "-nE", "-nr", "--quiet", "--silent",
];

/// Texts by which an `awk` program may do more than read and print; `getline` opens connections.
const AWK_ACTIONS: [&str; 5] = ["system", "getline", "|", ">", "@"];

/// Returns the first word by which `sed` may do more than print.
pub(super) fn refused_by_sed(arguments: &[Field]) -> Option<String> {
    let words = || arguments.iter().map(|field| field.value.literal());
    let mut has_script = words().any(|word| matches!(word, Some("-e" | "-ne")));
    let mut is_script = false;
    for (word, field) in words().zip(arguments) {
        let is_harmless = match word {
            Some(script) if std::mem::take(&mut is_script) => prints_lines(script),
            Some("-e" | "-ne") => {
                is_script = true;
                true
            }
            Some(option) if option.len() > 1 && option.starts_with('-') => {
                SED_OPTIONS.contains(&option)
            }
            Some(script) if !std::mem::replace(&mut has_script, true) => prints_lines(script),
            Some(_) => true,
            // A glob may match a file with the name of an option.
            None => !field.value.prefix().is_empty() && has_script,
        };
        if !is_harmless {
            return Some(field.value.to_string());
        }
    }
    None
}

/// True if a `sed` script consists of addresses and the commands `p`, `d`, `q` and `=`: `1,5p`,
/// `/from/,/to/p`, `$!d`.
fn prints_lines(script: &str) -> bool {
    // Every second part is a regular expression. With brackets or backslashes, the expression's end
    // is unclear.
    let parts: Vec<&str> = script.split('/').collect();
    let is_text = |text: &&str| !text.contains(['[', ']', '\\', '\n']);
    let is_command = |text: &&str| text.chars().all(|c| "0123456789$,;+~!pdq={} ".contains(c));
    parts.len() % 2 == 1
        && parts.iter().step_by(2).all(is_command)
        && parts.iter().skip(1).step_by(2).all(is_text)
}

/// Returns the first word by which `awk` may do more than read and print.
pub(super) fn refused_by_awk(arguments: &[Field]) -> Option<String> {
    let mut words = arguments.iter();
    while let Some(field) = words.next() {
        match field.value.literal() {
            Some("-F" | "-v") => {
                words.next();
            }
            Some(option) if option.starts_with("-F") || option.starts_with("-v") => {}
            Some(program) if !program.starts_with('-') => {
                let program = program.replace("||", "").replace(">=", "");
                let acts = AWK_ACTIONS.iter().any(|action| program.contains(action));
                return acts.then(|| field.value.to_string());
            }
            _ => return Some(field.value.to_string()),
        }
    }
    None
}
