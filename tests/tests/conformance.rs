//! Plays every case of `tests/conformance` on every surface; one test each.

use agent_bash_tests::conformance::{self, CliJson, CliText, Surface};
use libtest_mimic::{Arguments, Trial};
use std::path::Path;
use std::sync::Arc;

fn main() -> anyhow::Result<()> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    let cases = conformance::load(&directory)?;
    let surfaces: [Arc<dyn Surface>; 2] = [Arc::new(CliJson), Arc::new(CliText)];
    let mut trials = Vec::new();
    for case in cases.cases {
        let case = Arc::new(case);
        for surface in &surfaces {
            let (case, surface) = (Arc::clone(&case), Arc::clone(surface));
            let name = format!("{} {}: {}", surface.name(), case.file, case.name);
            trials.push(Trial::test(name, move || {
                let misbehave = Path::new(env!("CARGO_BIN_EXE_misbehave"));
                conformance::play(&case, surface.as_ref(), misbehave)
                    .map_err(|error| format!("{error:#}").into())
            }));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
