//! Downloads bash's sources as Debian and its derivatives publish them, from the package mirrors of
//! this machine.

use agent_bash_tests::packages::{install, made_once};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Apt's configuration, which names the mirrors.
const APT_DIRECTORY: &str = "/etc/apt";

/// Downloads the sources below `downloads`, once.
///
/// # Errors
/// The machine has no apt, or apt cannot download the sources.
pub(super) fn download_bash(downloads: &Path) -> Result<PathBuf> {
    let directory = downloads.join("bash");
    made_once(&directory, |directory| {
        fetch(directory).with_context(|| {
            "bash's sources cannot be had by apt; unpack them yourself, and name them: cargo xtask corpora --bash DIR"
        })
    })?;
    Ok(directory.join("sources"))
}

fn fetch(directory: &Path) -> Result<()> {
    for needed in ["lists/partial", "sources.list.d", "sources"] {
        fs::create_dir_all(directory.join(needed))?;
    }
    let lists = source_lists(Path::new(APT_DIRECTORY))?;
    for (name, text) in lists {
        fs::write(directory.join("sources.list.d").join(name), text)?;
    }
    // A private apt configuration: the machine's own apt is not changed.
    let private_path =
        |option: &str, path: &str| format!("{option}={}", directory.join(path).display());
    let options = [
        "--option",
        "Dir::Etc::sourcelist=/dev/null",
        "--option",
        &private_path("Dir::Etc::sourceparts", "sources.list.d"),
        "--option",
        &private_path("Dir::State::lists", "lists"),
        "--option",
        "Acquire::Retries=1",
        "--quiet=2",
    ];
    install("apt-get", &[&options[..], &["update"]].concat(), directory)?;
    let download = ["source", "--download-only", "bash"];
    install("apt-get", &[&options[..], &download].concat(), directory)?;
    let archive = fs::read_dir(directory)?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .find(|name| {
            name.contains(".orig.tar.")
                && Path::new(name).extension().is_none_or(|end| end != "asc")
        })
        .context("the package has no original sources")?;
    let unpack = [
        "--extract", "--file", &archive, "--directory", "sources", "--strip-components=1",
    ];
    install("tar", &unpack, directory)
}

/// Returns this machine's package lists converted to source lists, each with its file name.
fn source_lists(apt: &Path) -> Result<Vec<(String, String)>> {
    let mut files = vec![apt.join("sources.list")];
    if let Ok(parts) = fs::read_dir(apt.join("sources.list.d")) {
        files.extend(parts.flatten().map(|entry| entry.path()));
    }
    let mut lists = Vec::new();
    for file in files {
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).context(file.display().to_string()),
        };
        if let Some(name) = file.file_name().and_then(|name| name.to_str()) {
            lists.push((name.to_owned(), to_source_list(&text)));
        }
    }
    Ok(lists)
}

/// Converts one list. In both of apt's formats, a word states whether the list is of binaries or of
/// sources.
fn to_source_list(list: &str) -> String {
    let lines = list.lines().map(|line| {
        if let Some(rest) = line.strip_prefix("deb ") {
            format!("deb-src {rest}\n")
        } else if line.starts_with("Types:") {
            "Types: deb-src\n".to_owned()
        } else {
            format!("{line}\n")
        }
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_lists_become_source_lists() {
        for (list, want) in [
            (
                "deb [signed-by=/k] http://h/debian stable main\n",
                "deb-src [signed-by=/k] http://h/debian stable main\n",
            ),
            (
                "# here\nTypes: deb\nURIs: http://h/debian\n",
                "# here\nTypes: deb-src\nURIs: http://h/debian\n",
            ),
            (
                "deb-src http://h/debian stable main\n",
                "deb-src http://h/debian stable main\n",
            ),
        ] {
            assert_eq!(to_source_list(list), want);
        }
    }
}
