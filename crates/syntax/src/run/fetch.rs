//! Programs that download or decode: their output, and the files they write, are [`Why::Fetched`].

use std::rc::Rc;

use super::super::state::State;
use super::super::value::{Value, Why};
use super::path::absolute;

/// Programs whose output comes from elsewhere, or was encoded before.
const SOURCES: [&str; 26] = [
    "curl", "wget", "aria2c", "http", "https", "xh", "fetch", "lynx", "nc", "ncat", "socat", "ftp",
    "ssh", "base64", "base32", "basenc", "openssl", "xxd", "gpg", "age", "uudecode", "gunzip",
    "zcat", "xzcat", "bzcat", "zstdcat",
];

/// The output of a program that is not interpreted.
pub(super) fn unknown_output(name: &str, st: &State) -> Value {
    let passed_on = st.stdin.as_deref().is_some_and(Value::is_fetched);
    Value::unknown(if SOURCES.contains(&name) || passed_on {
        Why::Fetched
    } else {
        Why::Output
    })
}

/// A program that downloads into files.
struct Downloader {
    name: &'static str,
    /// Options that name the file: letter and long name.
    into: (char, &'static str),
    /// Options that name its directory: letter and long name.
    directory: (char, &'static str),
    /// Options (letter and long name) that take the file name from the URL; if `None`, that is the default.
    by_name: Option<(char, &'static str)>,
}

/// Stands for a letter that no option has.
const NONE: char = '\0';

static DOWNLOADERS: [Downloader; 3] = [
    Downloader {
        name: "curl",
        into: ('o', "output"),
        directory: (NONE, "output-dir"),
        by_name: Some(('O', "remote-name")),
    },
    Downloader {
        name: "wget",
        into: ('O', "output-document"),
        directory: ('P', "directory-prefix"),
        by_name: None,
    },
    Downloader {
        name: "aria2c",
        into: ('o', "out"),
        directory: ('d', "dir"),
        by_name: None,
    },
];

/// Records the files that a program downloads: their contents are unknown.
pub(super) fn note(name: &str, values: &[Value], st: &mut State) {
    let files = match name {
        "scp" | "rsync" | "sftp" => copied(values),
        _ => match DOWNLOADERS.iter().find(|one| one.name == name) {
            Some(downloader) => downloader.files(values),
            None => return,
        },
    };
    for file in files {
        if !matches!(file.as_str(), "" | "-") {
            let path = absolute(&file, st);
            Rc::make_mut(&mut st.files).insert(path, Value::unknown(Why::Fetched));
        }
    }
}

impl Downloader {
    fn files(&self, values: &[Value]) -> Vec<String> {
        let (mut into, mut directory, mut addresses) = (None, None, Vec::new());
        let mut by_name = self.by_name.is_none();
        let mut words = values.iter();
        while let Some(value) = words.next() {
            let text = value.prefix();
            let mut next = || words.next().and_then(Value::literal).map(ToOwned::to_owned);
            if let Some(long) = text.strip_prefix("--") {
                let (option, attached) = match long.split_once('=') {
                    Some((option, attached)) => (option, Some(attached.to_owned())),
                    None => (long, None),
                };
                if option == self.into.1 {
                    into = attached.or_else(next);
                } else if option == self.directory.1 {
                    directory = attached.or_else(next);
                }
                by_name |= self.by_name.is_some_and(|(_, name)| name == option);
            } else if let Some(letters) = text.strip_prefix('-') {
                by_name |= self
                    .by_name
                    .is_some_and(|(letter, _)| letters.contains(letter));
                if let Some(at) = letters.find([self.into.0, self.directory.0]) {
                    let file = match &letters[at + 1..] {
                        "" => next(),
                        file => Some(file.to_owned()),
                    };
                    if letters[at..].starts_with(self.into.0) {
                        into = file;
                    } else {
                        directory = file;
                    }
                }
            } else if let Some(address) = value.literal() {
                addresses.push(address);
            }
        }
        let names: Vec<String> = match into {
            Some(file) => vec![file],
            None if by_name => addresses.into_iter().map(last_name).collect(),
            None => Vec::new(),
        };
        match directory {
            Some(directory) => names
                .into_iter()
                .map(|name| format!("{}/{name}", directory.trim_end_matches('/')))
                .collect(),
            None => names,
        }
    }
}

/// What `scp host:file there` creates: the target itself, or the file's name below it.
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
        let below = target.trim_end_matches('/');
        let name = last_name(source);
        out.push((*target).to_owned());
        out.push(match below {
            "." => name,
            _ => format!("{below}/{name}"),
        });
    }
    out
}

/// The file name at the end of a URL.
fn last_name(address: &str) -> String {
    let path = address.split(['?', '#']).next().unwrap_or(address);
    path.rsplit(['/', ':']).next().unwrap_or(path).to_owned()
}
