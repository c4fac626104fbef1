//! `cargo xtask conformance`: runs every case of the conformance kit through one interface,
//! including those that the suite skips.

use crate::cargo_command::{cargo, check, words};
use crate::tests_step::under_census;
use crate::{Tree, programs};
use anyhow::{Result, bail};

/// `cargo xtask conformance --surface NAME`.
pub(crate) fn command(tree: &Tree, arguments: &[String]) -> Result<()> {
    let [option, surface] = arguments else {
        bail!("name an interface: `--surface rpc-ssh`, or any other that docs/testing.md lists");
    };
    if option != "--surface" {
        bail!("unexpected argument `{option}`");
    }
    programs::ensure(tree)?;
    // The test is built first, so that the census does not count the build's processes as
    // leftovers.
    let kit = words("test --package agent-bash-tests --test conformance");
    check(&cargo(tree, &[&kit[..], &["--no-run"]].concat()))?;
    // The names of trials begin with the name of their interface.
    let trials = format!("{surface} ");
    let all = [&kit[..], &["--", "--include-ignored", &trials]].concat();
    under_census(cargo(tree, &all))
}
