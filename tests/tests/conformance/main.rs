//! Runs every case of `tests/conformance` through every interface, and compares the tool definitions of adapters;
//! one test each.

mod library;
mod told;

use agent_bash::process::supervisor;
use agent_bash_tests::conformance::{self, CliJson, CliText, Mcp, Rpc, Surface};
use library::Library;
use libtest_mimic::{Arguments, Trial};
use std::path::Path;
use std::sync::Arc;

fn main() -> anyhow::Result<()> {
    // Must come first: this program is a host and re-executes itself as a supervisor.
    let token = supervisor::init();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    let cases = conformance::load(&directory)?;
    let surfaces: [Arc<dyn Surface>; 5] = [
        Arc::new(CliJson),
        Arc::new(CliText),
        Arc::new(Library::new(token)?),
        Arc::new(Rpc),
        Arc::new(Mcp),
    ];
    let mut trials = told::trials(cases.adapters);
    for case in cases.cases {
        let case = Arc::new(case);
        for surface in surfaces.iter().filter(|surface| surface.takes(&case)) {
            let (case, surface) = (Arc::clone(&case), Arc::clone(surface));
            let name = format!("{} {}: {}", surface.name(), case.file, case.name);
            trials.push(Trial::test(name, move || {
                let misbehave = Path::new(env!("CARGO_BIN_EXE_misbehave"));
                conformance::play(&case, surface.as_ref(), misbehave)
                    .map_err(|error| format!("{error:#}").into())
            }));
        }
    }
    let mut arguments = Arguments::from_args();
    // Most cases wait for processes rather than use the CPU.
    arguments.test_threads = arguments.test_threads.or(Some(8));
    libtest_mimic::run(&arguments, trials).exit();
}
