//! Writes sections that a configuration of git lacks. git itself would run once for each value.

use super::harmless::ChangedKey;
use agent_bash_process::GitConfigValues;

/// True if the configuration has the section of a key.
pub(super) fn has_section_of(values: &GitConfigValues, key: &[u8]) -> bool {
    let end = key.iter().rposition(|byte| *byte == b'.');
    let section = end.map_or(key, |end| &key[..=end]);
    let keys = values.range(section.to_vec()..).map(|(key, _)| key);
    let mut names = keys.map_while(|key| key.strip_prefix(section));
    names.any(|name| !name.contains(&b'.'))
}

/// Returns the text with these keys in new sections at its end. The keys and values have no control
/// characters.
pub(super) fn appended(text: &[u8], keys: &[ChangedKey]) -> Vec<u8> {
    let mut all = text.to_vec();
    if !text.is_empty() && !text.ends_with(b"\n") {
        all.push(b'\n');
    }
    let mut last = "";
    for ChangedKey { key, values } in keys {
        let (section, name) = key.rsplit_once('.').unwrap_or(("", key.as_str()));
        if section != last {
            let header = match section.split_once('.') {
                Some((section, sub)) => format!("[{section} \"{}\"]\n", escaped(sub)),
                None => format!("[{section}]\n"),
            };
            all.extend(header.as_bytes());
            last = section;
        }
        for value in values {
            all.extend(format!("\t{name} = {}\n", quoted(value)).as_bytes());
        }
    }
    all
}

fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', "\\\"")
}

/// Returns the value with the quotes that git writes.
fn quoted(value: &str) -> String {
    let quote = if value.trim() != value || value.contains([';', '#']) {
        "\""
    } else {
        ""
    };
    format!("{quote}{}{quote}", escaped(value))
}
