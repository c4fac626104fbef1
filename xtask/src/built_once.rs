//! Checks that the steps of the suite share what they compile.
//!
//! Cargo chooses a crate's features for each call, from the selected packages and from whether the
//! call builds tests. A crate that needs more features in tests than in this tool, the programs or
//! the documentation would be compiled again, with all its dependents. `xtask/Cargo.toml` therefore
//! asks for the features of the tests.

use crate::Tree;
use crate::cargo_command::cargo;
use anyhow::{Result, ensure};
use std::collections::BTreeSet;

/// The arguments of `cargo tree` for the builds before the tests: this tool, then programs and
/// documentation.
const EARLIER_BUILDS: [&[&str]; 2] = [
    &["--package=xtask", "--edges=normal,build"],
    &["--workspace", "--edges=normal,build"],
];

const TEST_BUILD: &[&str] = &["--workspace", "--edges=normal,build,dev"];

/// Separates a crate from its features in the output of `cargo tree`.
const FEATURES_MARK: &str = " with ";

pub(crate) fn check_tree(tree: &Tree) -> Result<()> {
    let tests = builds(tree, TEST_BUILD)?;
    let mut faults = BTreeSet::new();
    for call in EARLIER_BUILDS {
        faults.extend(differing(&builds(tree, call)?, &tests));
    }
    let faults: Vec<String> = faults.into_iter().collect();
    ensure!(
        faults.is_empty(),
        "compiled twice, as tests have them with other features; name these in xtask/Cargo.toml:\n{}",
        faults.join("\n")
    );
    Ok(())
}

/// Returns the crates that a call builds, each with its features.
fn builds(tree: &Tree, call: &[&str]) -> Result<BTreeSet<String>> {
    let format = format!("--format={{p}}{FEATURES_MARK}{{f}}");
    let arguments = [&["tree", "--prefix=none", &format], call].concat();
    let shown = cargo(tree, &arguments).read()?;
    let lines = shown
        .lines()
        .map(|line| line.trim_end_matches(" (*)").to_owned());
    Ok(lines.collect())
}

/// Describes the crates in `built` that the tests build with other features.
fn differing(built: &BTreeSet<String>, tests: &BTreeSet<String>) -> Vec<String> {
    let name = |line: &str| line.split(FEATURES_MARK).next().map(str::to_owned);
    built
        .difference(tests)
        .map(|line| {
            let in_tests = tests.iter().filter(|other| name(other) == name(line));
            let in_tests: Vec<&str> = in_tests.map(String::as_str).collect();
            format!("{line}\n    in tests: {}", in_tests.join("; "))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crate_with_other_features_in_tests_is_named_with_both() {
        let set = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        let tests = set(&["a v1 with std", "a v1 with ", "b v1 with x,y"]);
        assert_eq!(differing(&set(&["a v1 with std"]), &tests), [""; 0]);
        let found = differing(&set(&["a v1 with ", "b v1 with x"]), &tests);
        assert_eq!(found, ["b v1 with x\n    in tests: b v1 with x,y"]);
    }
}
