//! `cargo xtask corpora`: tests with third-party material. bash's own tests run in namespaces, by
//! bash and by the product; collections of commands are only checked. The suite does not run this
//! command: it downloads, and takes minutes.

mod bash_suite;
mod commands;
mod sources;

use crate::{Tree, layers};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// The parsed arguments.
#[derive(Debug, Default, PartialEq, Eq)]
struct CorporaArguments {
    bash: BashTests,
    nl2bash: Option<PathBuf>,
    tldr: Option<PathBuf>,
    lines: Option<PathBuf>,
}

/// The source of bash's tests.
#[derive(Debug, Default, PartialEq, Eq)]
enum BashTests {
    /// Bash's tests are not run.
    #[default]
    Skip,
    /// Bash's tests are from Debian's source package.
    Debian,
    /// Bash's tests are from this directory.
    At(PathBuf),
}

/// `cargo xtask corpora [--bash DIR] [--nl2bash DIR] [--tldr DIR] [--lines FILE]`.
pub(crate) fn command(tree: &Tree, arguments: &[String]) -> Result<()> {
    let selected = CorporaArguments::of(arguments)?;
    let downloads = layers::target_directory(tree)?.join("corpora");
    std::fs::create_dir_all(&downloads)?;
    for (name, path, read) in [
        (
            "nl2bash",
            &selected.nl2bash,
            commands::nl2bash as fn(&Path) -> Result<_>,
        ),
        ("tldr", &selected.tldr, commands::tldr),
        ("lines", &selected.lines, commands::json_lines),
    ] {
        if let Some(path) = path {
            let found = read(path).with_context(|| format!("--{name}"))?;
            commands::check_commands(name, &found, &downloads)?;
        }
    }
    let sources = match selected.bash {
        BashTests::Skip => return Ok(()),
        BashTests::Debian => sources::download_bash(&downloads)?,
        BashTests::At(sources) => sources,
    };
    bash_suite::run(tree, &sources, &downloads)
}

impl CorporaArguments {
    fn of(arguments: &[String]) -> Result<Self> {
        if arguments.is_empty() {
            return Ok(Self {
                bash: BashTests::Debian,
                ..Self::default()
            });
        }
        let mut selected = Self::default();
        let mut words = arguments.iter();
        while let Some(option) = words.next() {
            let path = || -> Result<PathBuf> {
                let named = words
                    .clone()
                    .next()
                    .with_context(|| format!("{option} needs a path"))?;
                // The path is made absolute, because tests run in a different directory.
                let found = std::path::absolute(named)?;
                if !found.exists() {
                    bail!("{option} {named}: no such file or directory");
                }
                Ok(found)
            };
            match option.as_str() {
                "--bash" => selected.bash = BashTests::At(path()?),
                "--nl2bash" => selected.nl2bash = Some(path()?),
                "--tldr" => selected.tldr = Some(path()?),
                "--lines" => selected.lines = Some(path()?),
                other => bail!(
                    "unexpected argument `{other}`; there are --bash, --nl2bash, --tldr and --lines"
                ),
            }
            words.next();
        }
        Ok(selected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_select_corpora_and_default_to_bash() {
        let selected = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            CorporaArguments::of(&words)
        };
        let usual = selected(&[]).unwrap();
        assert_eq!(usual.bash, BashTests::Debian);
        let named = selected(&["--tldr", "/", "--bash", "/"]).unwrap();
        assert_eq!(named.bash, BashTests::At("/".into()));
        assert_eq!((named.tldr, named.nl2bash), (Some("/".into()), None));
        assert_eq!(selected(&["--tldr", "/"]).unwrap().bash, BashTests::Skip);
        assert_eq!(selected(&["--lines", "/"]).unwrap().lines, Some("/".into()));
        for bad in [&["--tldr"][..], &["--bash", "/nonexistent"], &["tldr", "/"]] {
            assert!(selected(bad).is_err(), "{bad:?}");
        }
    }
}
