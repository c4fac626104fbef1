//! Options by which a listed program other than git runs another one, or writes a file of the
//! caller's choice.

use crate::syntax::run::Field;

/// Prefixes of such options. The entries for `find` are whole words and end in a space.
const REFUSED_OPTION_PREFIXES: [(&[&str], &[&str]); 6] = [
    (
        &["find"],
        &[
            "-exec ", "-execdir ", "-ok ", "-okdir ", "-delete ", "-fls ", "-fprint",
        ],
    ),
    // The last one runs programs for decompression.
    (
        &["rg"],
        &["--pre ", "--pre=", "--hostname-bin", "--search-zip"],
    ),
    // Another project, settings or shell.
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

/// Tests of `find` with an argument that is never an action.
const FIND_VALUED: [&str; 12] = [
    "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex",
    "-lname", "-ilname", "-newer", "-printf",
];

/// Returns the first word by which a command on the list, under the entry `entry`, runs a program
/// or writes a file.
pub(super) fn refused(entry: &[&str], arguments: &[Field]) -> Option<String> {
    let (_, options) = REFUSED_OPTION_PREFIXES
        .iter()
        .find(|(program, _)| *program == entry)?;
    let mut previous = "";
    for field in arguments {
        let text = field.value.prefix();
        let is_argument = entry == ["find"] && FIND_VALUED.contains(&previous);
        if text == "--" && entry == ["rg"] {
            return None;
        }
        let whole = format!("{text} ");
        // `-z` is `--search-zip`, also among other letters.
        let is_zip = entry == ["rg"] && is_cluster_with(text, 'z');
        if !is_argument && (is_zip || options.iter().any(|option| whole.starts_with(option))) {
            return Some(field.value.to_string());
        }
        previous = if is_argument { "" } else { text };
    }
    None
}

fn is_cluster_with(text: &str, letter: char) -> bool {
    text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
}
