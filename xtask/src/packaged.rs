//! `cargo xtask package`: checks each crate as it would be published. A package has the required
//! files and no tests, its manifest is complete for a registry, and it compiles outside of the
//! checkout.
//!
//! Cargo packs the crates without compiling them: cargo would compile each crate with its own
//! features, and so most dependencies many times. This step unpacks the packages into one
//! workspace, where a package finds only the other packages.

use crate::cargo_command::{cargo, check, words};
use crate::{Tree, layers, no_arguments, say};
use anyhow::{Context, Result, ensure};
use cargo_metadata::Package;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use xshell::cmd;

/// The directory of the crates that are published.
const PUBLISHED: &str = "crates";

/// The files that every package must contain.
const REQUIRED: &[&str] = &["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Other files that a package may contain: their directory and their ending, or (in the root) the
/// whole name.
const ALLOWED: &[(&str, &str)] = &[
    ("", "Cargo.toml.orig"),
    ("", "Cargo.lock"),
    ("", ".cargo_vcs_info.json"),
    ("", "build.rs"),
    ("src/", ".rs"),
    // Included by sources: tables, the style and script of a page, plugins, a hook, a completion.
    ("src/", ".conf"),
    ("src/", ".sh"),
    ("src/", ".ts"),
    ("src/", ".css"),
    ("src/", ".js"),
    ("src/", ".bash"),
    ("examples/", ".rs"),
    ("guides/", ".md"),
];

/// Endings of files that belong to tests.
const TEST_ENDINGS: &[&str] = &["tests.rs", ".snap", ".json", ".jsonl", ".tsv", ".bashrc"];

/// The manifest fields that a registry needs.
const REQUIRED_FIELDS: &[&str] = &[
    "description", "license", "repository", "documentation", "readme", "keywords", "categories",
    "rust-version",
];

/// The only crate that installs a program, and the name of the program.
const PROGRAM: (&str, &str) = ("agent-bash-cli", "agent-bash");

/// `cargo xtask package`.
pub(crate) fn command(tree: &Tree, arguments: &[String]) -> Result<()> {
    no_arguments(arguments)?;
    check_tree(tree)
}

/// The step of the suite.
pub(crate) fn check_tree(tree: &Tree) -> Result<()> {
    let metadata = layers::metadata(tree)?;
    let target = Path::new(metadata.target_directory.as_str());
    let mut faults = Vec::new();
    let mut published = Vec::new();
    for package in metadata.workspace_packages() {
        let should_be_published = package
            .manifest_path
            .starts_with(metadata.workspace_root.join(PUBLISHED));
        if is_published(package) != should_be_published {
            faults.push(format!(
                "{}: `publish` should be {should_be_published}",
                package.name
            ));
        }
        if should_be_published {
            published.push(package);
        }
    }
    pack(tree, &published)?;
    let workspace = target.join("packaged");
    tree.shell.remove_path(&workspace)?;
    tree.shell.create_dir(&workspace)?;
    for package in &published {
        let directory = unpack(tree, package, target, &workspace)?;
        let name = package.name.as_str();
        let files = files_below(&directory, &directory)?;
        let manifest = toml::from_str(&tree.shell.read_file(directory.join("Cargo.toml"))?)?;
        let found = faults_of_files(&files)
            .into_iter()
            .chain(faults_of_manifest(name, &manifest));
        faults.extend(found.map(|fault| format!("{name}: {fault}")));
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    compile(tree, &published, &workspace, target)?;
    say(&format!(
        "   {} packages have the right contents, and compile",
        published.len()
    ));
    Ok(())
}

fn is_published(package: &Package) -> bool {
    package
        .publish
        .as_ref()
        .is_none_or(|registries| !registries.is_empty())
}

/// Packs all crates in one call, so that cargo resolves them from each other.
fn pack(tree: &Tree, packages: &[&Package]) -> Result<()> {
    let mut call = words("package --no-verify --offline --allow-dirty --quiet");
    for package in packages {
        call.extend(["--package", package.name.as_str()]);
    }
    // Cargo warns about each test program that it leaves out. The output is captured, because
    // errors come in the same stream.
    let ran = cargo(tree, &call).ignore_status().output()?;
    let stderr = String::from_utf8_lossy(&ran.stderr);
    ensure!(ran.status.success(), "`cargo package` failed:\n{stderr}");
    Ok(())
}

/// Unpacks a package; returns its directory.
fn unpack(tree: &Tree, package: &Package, target: &Path, workspace: &Path) -> Result<PathBuf> {
    let name = format!("{}-{}", package.name, package.version);
    let file = target.join(format!("package/{name}.crate"));
    check(
        &cmd!(
            tree.shell,
            "tar --extract --gzip --touch --file {file} --directory {workspace}"
        )
        .quiet(),
    )?;
    Ok(workspace.join(name))
}

/// The files below `directory`, by their paths from `root`.
fn files_below(directory: &Path, root: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path, root)?);
        } else {
            let path = path.strip_prefix(root)?;
            files.push(path.to_str().context("a name is not UTF-8")?.to_owned());
        }
    }
    files.sort();
    Ok(files)
}

/// Returns a sentence for each missing file, and for each file that does not belong into a package.
fn faults_of_files(files: &[String]) -> Vec<String> {
    let missing = REQUIRED
        .iter()
        .filter(|name| !files.iter().any(|file| file == *name))
        .map(|name| format!("the package lacks {name}"));
    let others = files
        .iter()
        .filter(|file| !REQUIRED.contains(&file.as_str()) && !is_allowed_file(file))
        .map(|file| {
            format!("{file} does not belong into the package; see `include` in Cargo.toml")
        });
    missing.chain(others).collect()
}

fn is_allowed_file(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let is_allowed = ALLOWED.iter().any(|(directory, end)| {
        if directory.is_empty() {
            file == *end
        } else {
            file.starts_with(directory) && file.ends_with(end)
        }
    });
    let is_of_tests = TEST_ENDINGS.iter().any(|end| name.ends_with(end));
    is_allowed && (name == ".cargo_vcs_info.json" || !is_of_tests)
}

/// Returns the faults of a manifest as it would be published.
fn faults_of_manifest(name: &str, manifest: &toml::Table) -> Vec<String> {
    let package = manifest.get("package").and_then(toml::Value::as_table);
    let mut faults: Vec<String> = REQUIRED_FIELDS
        .iter()
        .filter(|key| package.is_none_or(|package| !package.contains_key(**key)))
        .map(|key| format!("the manifest lacks the field `{key}`"))
        .collect();
    let programs = manifest.get("bin").and_then(toml::Value::as_array);
    for program in programs.into_iter().flatten() {
        let program = program
            .get("name")
            .and_then(toml::Value::as_str)
            .unwrap_or_default();
        if (name, program) != PROGRAM {
            faults.push(format!("it would install the program `{program}`"));
        }
    }
    faults
}

/// Compiles the packages in a workspace where a package finds only the other packages.
fn compile(tree: &Tree, packages: &[&Package], workspace: &Path, target: &Path) -> Result<()> {
    let mut manifest = String::from(
        "[workspace]\nresolver = \"3\"\nmembers = [\"*-*.*.*\"]\n\n[patch.crates-io]\n",
    );
    for package in packages {
        let (name, version) = (&package.name, &package.version);
        let _ = writeln!(manifest, "{name} = {{ path = \"{name}-{version}\" }}");
    }
    tree.shell
        .write_file(workspace.join("Cargo.toml"), manifest)?;
    tree.shell
        .copy_file(tree.root.join("Cargo.lock"), workspace)?;
    let manifest = workspace.join("Cargo.toml");
    let call = "check --quiet --offline --workspace --lib --bins --examples --manifest-path";
    let mut call = words(call);
    call.extend([
        manifest.to_str().context("the path is not UTF-8")?,
        // Other steps have already built the dependencies in this directory.
        "--target-dir",
        target.to_str().context("the path is not UTF-8")?,
    ]);
    check(&cargo(tree, &call))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(others: &[&str]) -> Vec<String> {
        let all = REQUIRED
            .iter()
            .chain(&["src/lib.rs", "src/deep/page.css"])
            .chain(others);
        all.map(|file| (*file).to_owned()).collect()
    }

    #[test]
    fn test_file_in_a_package_is_a_fault() {
        assert!(faults_of_files(&files(&["build.rs", "examples/one.rs"])).is_empty());
        for file in [
            "tests/it/main.rs", "benches/calls.rs", "src/hook/hook_tests.rs", "src/tests.rs",
            "src/snapshots/one.snap", "src/captured/sent.json", "examples/data.tsv",
            "deep/build.rs", "notes.md",
        ] {
            let faults = faults_of_files(&files(&[file]));
            assert_eq!(faults.len(), 1, "{file}: {faults:?}");
            assert!(faults[0].starts_with(file), "{faults:?}");
        }
    }

    #[test]
    fn missing_file_is_a_fault() {
        let without = |name: &str| {
            let mut files = files(&[]);
            files.retain(|file| file != name);
            faults_of_files(&files)
        };
        for name in REQUIRED {
            assert_eq!(without(name), [format!("the package lacks {name}")]);
        }
    }

    #[test]
    fn test_program_and_incomplete_manifest_are_faults() {
        let fields = REQUIRED_FIELDS.iter().flat_map(|key| [key, " = 'x'\n"]);
        let fields: String = fields.collect();
        let manifest = |bin: &str| {
            toml::from_str(&format!("[package]\n{fields}\n[[bin]]\nname = '{bin}'")).unwrap()
        };
        let (owner, program) = PROGRAM;
        assert!(faults_of_manifest(owner, &manifest(program)).is_empty());
        assert_eq!(faults_of_manifest(owner, &manifest("boxed")).len(), 1);
        assert_eq!(
            faults_of_manifest("agent-bash-exec", &manifest(program)).len(),
            1
        );
        let silent = toml::from_str("[package]\nname = 'x'").unwrap();
        assert_eq!(
            faults_of_manifest(owner, &silent).len(),
            REQUIRED_FIELDS.len()
        );
    }
}
