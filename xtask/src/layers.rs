//! Compares the dependencies in every `Cargo.toml` of the workspace with the table in
//! `xtask/crates.toml`.
//!
//! The table is exact. An unlisted dependency is an error, so that each new one is a deliberate
//! decision. An unused entry is an error, so that the table stays current.

use crate::crates::{self, Crate};
use crate::{Tree, circles, no_arguments, say};
use anyhow::{Result, ensure};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};
use std::path::PathBuf;

/// `cargo xtask layers`.
pub(crate) fn command(tree: &Tree, arguments: &[String]) -> Result<()> {
    no_arguments(arguments)?;
    check_tree(tree)?;
    say(
        "layers: every Cargo.toml agrees with xtask/crates.toml, and no files import each other in a circle",
    );
    Ok(())
}

/// The step of the suite.
pub(crate) fn check_tree(tree: &Tree) -> Result<()> {
    let mut faults = faults(&edges(&metadata(tree)?), &crates::read()?.crates);
    faults.extend(circles::faults_of(tree)?);
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

/// The metadata of the workspace, without transitive dependencies.
pub(crate) fn metadata(tree: &Tree) -> Result<Metadata> {
    Ok(metadata_command(tree).no_deps().exec()?)
}

/// The directory of build results.
pub(crate) fn target_directory(tree: &Tree) -> Result<PathBuf> {
    Ok(metadata(tree)?.target_directory.into_std_path_buf())
}

/// The command that reads the metadata of the workspace.
pub(crate) fn metadata_command(tree: &Tree) -> MetadataCommand {
    let mut command = MetadataCommand::new();
    command.cargo_path(&tree.cargo).current_dir(&tree.root);
    command
}

/// Returns the dependencies of each manifest.
fn edges(metadata: &Metadata) -> Vec<Crate> {
    metadata
        .workspace_packages()
        .iter()
        .map(|package| {
            let dependencies = |in_workspace: bool, is_dev: bool| {
                package
                    .dependencies
                    .iter()
                    .filter(|dependency| dependency.path.is_some() == in_workspace)
                    .filter(|dependency| (dependency.kind == DependencyKind::Development) == is_dev)
                    .map(|dependency| dependency.name.clone())
                    .collect()
            };
            Crate {
                package: package.name.to_string(),
                workspace: dependencies(true, false),
                third_party: dependencies(false, false),
                dev_workspace: dependencies(true, true),
            }
        })
        .collect()
}

/// Returns a sentence for each difference between the manifests and the table.
fn faults(manifests: &[Crate], table: &[Crate]) -> Vec<String> {
    let mut faults = Vec::new();
    for manifest in manifests {
        let package = &manifest.package;
        let Some(row) = table.iter().find(|row| row.package == *package) else {
            faults.push(format!("`{package}` has no row in xtask/crates.toml"));
            continue;
        };
        let kinds = [
            ("workspace crate", &manifest.workspace, &row.workspace),
            ("third-party crate", &manifest.third_party, &row.third_party),
            (
                "workspace crate for tests", &manifest.dev_workspace, &row.dev_workspace,
            ),
        ];
        for (kind, named, allowed) in kinds {
            for name in named.difference(allowed) {
                faults.push(format!(
                    "`{package}` names the {kind} `{name}`, which its row in xtask/crates.toml does not allow"
                ));
            }
            for name in allowed.difference(named) {
                faults.push(format!(
                    "the row of `{package}` allows the {kind} `{name}`, which it does not name: remove it from the row"
                ));
            }
        }
    }
    for row in table {
        if !manifests
            .iter()
            .any(|manifest| manifest.package == row.package)
        {
            faults.push(format!(
                "the row of `{}` has no crate: remove it",
                row.package
            ));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(package: &str, workspace: &[&str], third_party: &[&str]) -> Crate {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Crate {
            package: package.to_owned(),
            workspace: set(workspace),
            third_party: set(third_party),
            dev_workspace: set(&[]),
        }
    }

    fn table() -> [Crate; 2] {
        [
            manifest("low", &[], &["serde"]),
            manifest("high", &["low"], &[]),
        ]
    }

    #[test]
    fn workspace_matches_the_table() {
        check_tree(&Tree::open().unwrap()).unwrap();
    }

    #[test]
    fn each_difference_from_the_table_is_a_fault() {
        let low = || manifest("low", &[], &["serde"]);
        let high = || manifest("high", &["low"], &[]);
        let cases = [
            (table().into(), None),
            (
                vec![manifest("low", &["high"], &["serde"]), high()],
                Some("`low` names the workspace crate `high`"),
            ),
            (
                vec![low(), manifest("high", &["low"], &["ratatui"])],
                Some("`high` names the third-party crate `ratatui`"),
            ),
            (
                vec![manifest("low", &[], &[]), high()],
                Some("allows the third-party crate `serde`, which it does not name"),
            ),
            (
                vec![low(), high(), manifest("new", &[], &[])],
                Some("`new` has no row"),
            ),
            (vec![low()], Some("the row of `high` has no crate")),
        ];
        for (manifests, want) in cases {
            let found = faults(&manifests, &table());
            match want {
                None => assert!(found.is_empty(), "{found:?}"),
                Some(want) => assert!(
                    found.len() == 1 && found[0].contains(want),
                    "{found:?} lacks {want}"
                ),
            }
        }
    }

    #[test]
    fn dev_dependency_outside_of_table_is_a_fault() {
        let mut low = manifest("low", &[], &["serde"]);
        low.dev_workspace.insert("high".to_owned());
        let found = faults(&[low, manifest("high", &["low"], &[])], &table());
        assert!(
            found[0].contains("workspace crate for tests `high`"),
            "{found:?}"
        );
    }

    #[test]
    fn no_crate_depends_on_itself() {
        fn reaches(table: &[Crate], from: &str, to: &str) -> bool {
            table
                .iter()
                .filter(|row| row.package == from)
                .flat_map(|row| &row.workspace)
                .any(|next| next == to || reaches(table, next, to))
        }
        let table = crates::read().unwrap().crates;
        for Crate { package, .. } in &table {
            assert!(!reaches(&table, package, package), "{package}");
        }
    }
}
