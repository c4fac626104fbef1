//! `cargo xtask release`: everything that a release uploads, in `target/dist`. These are the
//! packages of `cargo xtask dist`, a `.deb` and a `.rpm` of the same program, the list of its
//! dependencies (`CycloneDX`), the release's section of the changelog, the installer, and
//! `SHA256SUMS`.
//!
//! The contents of the `.deb` and the `.rpm` are data in crates/cli/Cargo.toml.

use super::dist::{self, VERSION};
use crate::cargo_command::{cargo, check, words};
use crate::{Tree, layers, say, static_build};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use xshell::cmd;

/// The subcommands of cargo that write the packages, with their versions.
const TOOLS: &[(&str, &str)] = &[
    ("cargo-cyclonedx", "0.5.9"),
    ("cargo-deb", "3.8.0"),
    ("cargo-generate-rpm", "0.21.1"),
];

/// The list of digests, as `sha256sum --check` reads it.
const DIGESTS: &str = "SHA256SUMS";

/// `cargo xtask release [--program FILE]`.
pub(crate) fn command(tree: &Tree, arguments: &[String]) -> Result<()> {
    let (program, max_bytes) = match arguments {
        [] => (
            static_build::build(tree, "dist")?,
            Some(dist::MAX_PACKAGE_BYTES),
        ),
        [option, program] if option == "--program" => (PathBuf::from(program), None),
        _ => bail!(
            "usage: cargo xtask release [--program FILE]; FILE is packed instead of a new build"
        ),
    };
    let target = layers::target_directory(tree)?;
    let out = target.join("dist");
    dist::pack(tree, &program, max_bytes)?;
    // The packages' manifests name a fixed directory of the checkout: the tools keep the path after
    // a pattern.
    let files = out.join(format!(
        "agent-bash-{VERSION}-{}-linux",
        std::env::consts::ARCH
    ));
    let root = tree.root.join("target/package-root");
    tree.shell.remove_path(&root)?;
    check(&cmd!(tree.shell, "cp --recursive {files} {root}").quiet())?;
    let tools = install_tools(tree, &target)?;
    let path = format!("{}:{}", tools.display(), tree.shell.var("PATH")?);
    let steps = [
        "deb --package agent-bash-cli --no-build --no-strip --output",
        "generate-rpm --package crates/cli --output",
    ];
    for step in steps {
        let command = cargo(tree, &words(step)).arg(&out).env("PATH", &path);
        check(&command.ignore_stdout())?;
    }
    write_dependencies(tree, &path, &out)?;
    let changelog = tree.shell.read_file(tree.root.join("CHANGELOG.md"))?;
    let section = section(&changelog, VERSION)?;
    tree.shell.write_file(out.join("CHANGES.md"), section)?;
    tree.shell
        .copy_file(tree.root.join("packaging/install.sh"), &out)?;
    for line in write_digests(tree, &out)?.lines() {
        say(line);
    }
    Ok(())
}

/// Installs what is missing of [`TOOLS`]; returns the directory of the programs.
fn install_tools(tree: &Tree, target: &Path) -> Result<PathBuf> {
    let root = target.join("tools");
    for (name, version) in TOOLS {
        let tool = format!("{name}@{version}");
        let command = cargo(tree, &["install", "--locked", "--quiet", &tool, "--root"]);
        check(&command.arg(&root)).with_context(|| format!("installing {tool}"))?;
    }
    Ok(root.join("bin"))
}

/// Writes the crates in the program, with their versions and licences.
fn write_dependencies(tree: &Tree, path: &str, out: &Path) -> Result<()> {
    let call = "cyclonedx --quiet --format json --manifest-path crates/cli/Cargo.toml";
    check(&cargo(tree, &words(call)).env("PATH", path))?;
    // The tool writes a file next to each manifest of the workspace.
    let written = tree.root.join("crates/cli/agent-bash-cli.cdx.json");
    tree.shell
        .copy_file(&written, out.join("agent-bash.cdx.json"))
        .context("cargo cyclonedx wrote no list for crates/cli")?;
    for package in layers::metadata(tree)?.packages {
        let name = format!("{}.cdx.json", package.name);
        let directory = package.manifest_path.parent();
        let directory = directory.context("a manifest is in a directory")?;
        tree.shell.remove_path(directory.join(name))?;
    }
    Ok(())
}

/// Returns the text of the changelog for `version`, or for the release that has no number yet.
fn section(changelog: &str, version: &str) -> Result<String> {
    let start = format!("## {version}");
    let unreleased = format!("## Unreleased ({version})");
    let is_wanted = |line: &&str| line.starts_with(&start) || *line == unreleased;
    let lines = changelog
        .lines()
        .skip_while(|line| !is_wanted(line))
        .skip(1);
    let lines: Vec<&str> = lines.take_while(|line| !line.starts_with("## ")).collect();
    let text = lines.join("\n");
    ensure!(
        !text.trim().is_empty(),
        "CHANGELOG.md has no section `{start}` or `{unreleased}`"
    );
    Ok(format!("{}\n", text.trim()))
}

/// Writes the digest of each file, and returns the list.
fn write_digests(tree: &Tree, out: &Path) -> Result<String> {
    let entries = fs::read_dir(out)?.collect::<Result<Vec<_>, _>>()?;
    let files = entries.into_iter().filter(|entry| entry.path().is_file());
    let names = files.map(|entry| entry.file_name());
    let mut names: Vec<_> = names.filter(|name| name != DIGESTS).collect();
    names.sort_unstable();
    let _here = tree.shell.push_dir(out);
    let list = cmd!(tree.shell, "sha256sum {names...}").quiet().read()? + "\n";
    tree.shell.write_file(DIGESTS, &list)?;
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_of_the_version_ends_before_the_next_one() {
        let text =
            "# Changelog\n\n## Unreleased (0.2.0)\n\n### Added\n\n- a\n\n## 0.1.0 (day)\n\n- b\n";
        assert_eq!(section(text, "0.2.0").unwrap(), "### Added\n\n- a\n");
        assert_eq!(section(text, "0.1.0").unwrap(), "- b\n");
        let error = section(text, "0.3.0").unwrap_err().to_string();
        assert!(error.contains("0.3.0"), "{error}");
    }
}
