//! `cargo xtask conformance`: every case of the conformance kit through one interface, those that the suite leaves out too.

use crate::suite::{cargo, check};
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
    // First, so that what it builds is not counted as what the cases have left.
    let kit = [
        "test",
        "--package",
        "agent-bash-tests",
        "--test",
        "conformance",
    ];
    check(&cargo(tree, &[&kit[..], &["--no-run"]].concat()))?;
    // The names of trials begin with that of their interface.
    let trials = format!("{surface} ");
    under_census(|temp, state| {
        let all = [&kit[..], &["--", "--include-ignored", &trials]].concat();
        cargo(tree, &all)
            .env("TMPDIR", temp)
            .env("XDG_STATE_HOME", state)
    })
}
