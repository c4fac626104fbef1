//! Options by which a listed program other than git runs another program, or writes a file of the
//! caller's choice.

use super::text_programs;
use crate::syntax::run::Field;

/// Prefixes of refused options. A prefix of a long option is the shortest abbreviation that GNU
/// programs accept. An entry that ends with a space matches a whole word.
const REFUSED_OPTION_PREFIXES: [(&[&str], &[&str]); 12] = [
    (&["sort"], &["--o", "--co", "--te"]),
    // `--paginate` runs `pr`; BSD's diff has a pager of its own.
    (&["diff"], &["--pag"]),
    // `--compile` writes a database; `--uncompress` runs programs for decompression.
    (&["file"], &["--co", "--un"]),
    (&["date"], &["--s", "-s", "-us", "-Rs", "-uR", "-Ru"]),
    // The variable's name may contain a subscript, in which bash expands substitutions.
    (&["test"], &["-v ", "-R "]),
    (&["tree"], &["--output"]),
    (
        &["find"],
        &[
            "-exec ", "-execdir ", "-ok ", "-okdir ", "-delete ", "-fls ", "-fprint",
        ],
    ),
    // `--search-zip` runs programs for decompression.
    (
        &["rg"],
        &["--pre ", "--pre=", "--hostname-bin", "--search-zip"],
    ),
    // These options select another project, other settings or another shell.
    (
        &["npm", "test"],
        &[
            "--script", "--prefix", "-C", "--userconfig", "--globalconfig", "--node-options",
        ],
    ),
    (
        &["pytest"],
        &[
            "-p", "-c", "-o", "--pdb", "--basetemp", "--rootdir", "--confcutdir", "--config-file",
            "--override-ini", "--junit", "--log-file", "--pastebin", "--cache-dir",
        ],
    ),
    (
        &["swift", "test"],
        &[
            "--package-path", "--scratch-path", "--build-path", "--toolchain", "-X",
        ],
    ),
    (
        &["xcodebuild", "test"],
        &["-derivedDataPath ", "-resultBundlePath "],
    ),
];

/// Letters of refused options, also in a cluster.
const REFUSED_LETTERS: [(&str, &str); 5] = [
    // `--search-zip`
    ("rg", "z"),
    ("sort", "oT"),
    ("diff", "l"),
    ("file", "CzZ"),
    // With `-R`, tree runs itself with `-o 00Tree.html` in each directory.
    ("tree", "oR"),
];

/// For each program, the number of operands that are only read, and the letters of options with a
/// separate value. The next operand of `uniq` is a file to write, the next operand of `date` a time
/// to set.
const OPERANDS: [(&[&str], usize, &str); 4] = [
    (&["uniq"], 1, "fsw"),
    (&["date"], 0, "dfr"),
    (&["node", "--version"], 0, ""),
    (&["python3", "--version"], 0, ""),
];

/// Tests of `find` with an argument that is never an action.
const FIND_VALUED: [&str; 12] = [
    "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex",
    "-lname", "-ilname", "-newer", "-printf",
];

/// Returns the first word by which a command on the list, under the entry `entry`, runs a program
/// or writes a file.
pub(super) fn refused(entry: &[&str], arguments: &[Field]) -> Option<String> {
    match entry {
        ["sed"] => return text_programs::refused_by_sed(arguments),
        ["awk"] => return text_programs::refused_by_awk(arguments),
        _ => {}
    }
    if let Some(word) = surplus_operand(entry, arguments) {
        return Some(word);
    }
    let options = REFUSED_OPTION_PREFIXES
        .iter()
        .find(|(program, _)| *program == entry)
        .map_or(&[][..], |(_, options)| *options);
    let letters = REFUSED_LETTERS
        .iter()
        .find(|(program, _)| entry == [*program])
        .map_or("", |(_, letters)| letters);
    let mut previous = "";
    for field in arguments {
        let text = field.value.prefix();
        let is_argument = entry == ["find"] && FIND_VALUED.contains(&previous);
        if text == "--" && entry == ["rg"] {
            return None;
        }
        let whole = format!("{text} ");
        let is_cluster = text.starts_with('-') && !text.starts_with("--");
        let is_refused = is_cluster && text.contains(|letter| letters.contains(letter))
            || options.iter().any(|option| whole.starts_with(option));
        if !is_argument && is_refused {
            return Some(field.value.to_string());
        }
        previous = if is_argument { "" } else { text };
    }
    None
}

/// Returns the first operand beyond those that the program only reads.
fn surplus_operand(entry: &[&str], arguments: &[Field]) -> Option<String> {
    let (_, count, valued) = OPERANDS.iter().find(|(program, ..)| *program == entry)?;
    let mut allowed = *count;
    let is_version = entry.last() == Some(&"--version");
    let (mut before_dashes, mut is_value) = (true, false);
    for field in arguments {
        let text = field.value.prefix();
        let is_option = text.len() > 1 && text.starts_with('-') || text.starts_with('+');
        if std::mem::take(&mut is_value) {
            // The value of the previous option.
        } else if before_dashes && is_option && !is_version {
            before_dashes = text != "--";
            is_value = !text.starts_with("--") && text.ends_with(|last| valued.contains(last));
        } else if allowed == 0 || field.value.literal().is_none() {
            // A glob may match several files.
            return Some(field.value.to_string());
        } else {
            allowed -= 1;
        }
    }
    None
}
