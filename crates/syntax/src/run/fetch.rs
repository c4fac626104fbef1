//! Programs that download or decode data: their output, and the files that they write, are
//! [`UnknownCause::Fetched`].

use std::rc::Rc;

use super::super::state::ShellState;
use super::super::value::{UnknownCause, Value};
use super::path::absolute;

/// Programs whose output is downloaded, or decoded.
const SOURCE_PROGRAMS: [&str; 26] = [
    "curl", "wget", "aria2c", "http", "https", "xh", "fetch", "lynx", "nc", "ncat", "socat", "ftp",
    "ssh", "base64", "base32", "basenc", "openssl", "xxd", "gpg", "age", "uudecode", "gunzip",
    "zcat", "xzcat", "bzcat", "zstdcat",
];

/// Returns the output of a program that is not interpreted.
pub(super) fn unknown_output(name: &str, shell: &ShellState) -> Value {
    let reads_fetched = shell.stdin.as_deref().is_some_and(Value::is_fetched);
    Value::unknown(if SOURCE_PROGRAMS.contains(&name) || reads_fetched {
        UnknownCause::Fetched
    } else {
        UnknownCause::Output
    })
}

/// The letter and the long name of an option; empty if the option has no such form.
type OptionNames = [&'static str; 2];

/// Programs that download into files, and their options: for the file, for its directory, and for a
/// name taken from the address.
const DOWNLOADERS: [(&str, [OptionNames; 3]); 3] = [
    (
        "curl",
        [
            ["o", "--output"],
            ["", "--output-dir"],
            ["O", "--remote-name"],
        ],
    ),
    (
        "wget",
        [
            ["O", "--output-document"],
            ["P", "--directory-prefix"],
            ["", ""],
        ],
    ),
    ("aria2c", [["o", "--out"], ["d", "--dir"], ["", ""]]),
];

/// Records the files that a program downloads: their contents are unknown.
pub(super) fn note_downloads(name: &str, values: &[Value], shell: &mut ShellState) {
    let files = match DOWNLOADERS.iter().find(|(program, ..)| *program == name) {
        Some((_, options)) => downloaded(values, options),
        None if matches!(name, "scp" | "rsync" | "sftp") => copied(values),
        None => return,
    };
    for file in files {
        if !matches!(file.as_str(), "" | "-") {
            let path = absolute(&file, shell);
            Rc::make_mut(&mut shell.files).insert(path, Value::unknown(UnknownCause::Fetched));
        }
    }
}

/// Returns the paths of the files that a program of [`DOWNLOADERS`] writes.
fn downloaded(
    values: &[Value],
    [file_option, directory_option, name_option]: &[OptionNames; 3],
) -> Vec<String> {
    // Returns the attached value of an option, alone or as the last letter of a cluster.
    let option_value = |text: &str, [letter, long]: &OptionNames| {
        let attached = text
            .strip_prefix(long)
            .filter(|rest| rest.is_empty() || rest.starts_with('='));
        if let Some(rest) = attached.filter(|_| !long.is_empty()) {
            return Some(rest.trim_start_matches('=').to_owned());
        }
        let cluster = text
            .strip_prefix('-')
            .filter(|rest| !rest.starts_with('-'))?;
        let index = cluster.find(letter).filter(|_| !letter.is_empty())?;
        Some(cluster[index + 1..].to_owned())
    };
    let (mut file, mut directory, mut addresses) = (None, None, Vec::new());
    let mut is_named_by_address = name_option[1].is_empty();
    let mut words = values.iter();
    while let Some(value) = words.next() {
        let text = value.prefix();
        is_named_by_address |= option_value(text, name_option).is_some();
        for (option, target) in [(file_option, &mut file), (directory_option, &mut directory)] {
            if let Some(attached) = option_value(text, option) {
                *target = match attached.as_str() {
                    "" => words.next().and_then(Value::literal).map(ToOwned::to_owned),
                    _ => Some(attached),
                };
            }
        }
        if !text.starts_with('-') {
            addresses.extend(value.literal());
        }
    }
    let names = match file {
        Some(file) => vec![file],
        None if is_named_by_address => addresses.into_iter().map(last_name).collect(),
        None => Vec::new(),
    };
    let in_directory = |name: String| match &directory {
        Some(directory) => format!("{}/{name}", directory.trim_end_matches('/')),
        None => name,
    };
    names.into_iter().map(in_directory).collect()
}

/// Returns the paths that `scp host:file target` creates: the target itself, or the file's name
/// below it.
fn copied(values: &[Value]) -> Vec<String> {
    let operands: Vec<&str> = values
        .iter()
        .filter_map(Value::literal)
        .filter(|text| !text.starts_with('-'))
        .collect();
    let Some((target, sources)) = operands.split_last() else {
        return Vec::new();
    };
    let mut out = Vec::new();
    for source in sources.iter().filter(|source| source.contains(':')) {
        let directory = target.trim_end_matches('/');
        let name = last_name(source);
        out.push((*target).to_owned());
        out.push(match directory {
            "." => name,
            _ => format!("{directory}/{name}"),
        });
    }
    out
}

/// Returns the file name at the end of a URL.
fn last_name(address: &str) -> String {
    let path = address.split(['?', '#']).next().unwrap_or(address);
    path.rsplit(['/', ':']).next().unwrap_or(path).to_owned()
}
