//! Checks that the steps of the suite share what they compile.
//!
//! Cargo chooses a crate's features for each call, from the selected packages and from whether the
//! call builds tests. A crate that needs more features in tests than in this tool, the programs or
//! the documentation would be compiled again, with all its dependents. `xtask/Cargo.toml` therefore
//! asks for the features of the tests.

use crate::Tree;
use crate::suite::cargo;
use anyhow::{Result, bail};
use std::collections::BTreeSet;

/// The builds before the tests: this tool, then programs and documentation.
const BEFORE: [&[&str]; 2] = [
    &["--package=xtask", "--edges=normal,build"],
    &["--workspace", "--edges=normal,build"],
];

const TESTS: &[&str] = &["--workspace", "--edges=normal,build,dev"];

/// Separates a crate from its features.
const WITH: &str = " with ";

pub(crate) fn check_tree(tree: &Tree) -> Result<()> {
    let tests = builds(tree, TESTS)?;
    let mut faults = BTreeSet::new();
    for call in BEFORE {
        faults.extend(others(&builds(tree, call)?, &tests));
    }
    if faults.is_empty() {
        return Ok(());
    }
    let faults: Vec<String> = faults.into_iter().collect();
    bail!(
        "compiled twice, as tests have them with other features; name these in xtask/Cargo.toml:\n{}",
        faults.join("\n")
    );
}

/// The crates that a call builds, each with its features.
fn builds(tree: &Tree, call: &[&str]) -> Result<BTreeSet<String>> {
    let format = format!("--format={{p}}{WITH}{{f}}");
    let arguments = [&["tree", "--prefix=none", &format], call].concat();
    let shown = cargo(tree, &arguments).read()?;
    let lines = shown
        .lines()
        .map(|line| line.trim_end_matches(" (*)").to_owned());
    Ok(lines.collect())
}

/// Describes the crates that the tests build with other features.
fn others(built: &BTreeSet<String>, tests: &BTreeSet<String>) -> Vec<String> {
    let name = |line: &str| line.split(WITH).next().map(str::to_owned);
    built
        .difference(tests)
        .map(|line| {
            let theirs = tests.iter().filter(|other| name(other) == name(line));
            let theirs: Vec<&str> = theirs.map(String::as_str).collect();
            format!("{line}\n    in tests: {}", theirs.join("; "))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_with_fewer_features_than_in_the_tests_is_named_with_both() {
        let set = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        let tests = set(&["a v1 with std", "a v1 with ", "b v1 with x,y"]);
        assert_eq!(others(&set(&["a v1 with std"]), &tests), [""; 0]);
        let found = others(&set(&["a v1 with ", "b v1 with x"]), &tests);
        assert_eq!(found, ["b v1 with x\n    in tests: b v1 with x,y"]);
    }
}
