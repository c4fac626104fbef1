//! Runs every case of `tests/conformance` through every interface, and compares the tool
//! definitions of adapters; one test each. Only a part of the cases runs on targets;
//! `--include-ignored` runs the others.

mod library;
mod targets;
mod tool_definitions;

use agent_bash::process::supervisor;
use agent_bash_tests::conformance::{self, CliJson, CliText, InEngine, Mcp, Rpc, Surface};
use agent_bash_tests::refusals::ENGINES;
use agent_bash_tests::targets::{may_be_skipped, not_run};
use library::Library;
use libtest_mimic::{Arguments, Trial};
use std::path::Path;
use std::sync::Arc;

fn main() -> anyhow::Result<()> {
    // Must come first: this program is a host and re-executes itself as a supervisor.
    let token = supervisor::init();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    let cases = conformance::load(&directory)?;
    let programs = targets::programs()?;
    let mut trials = tool_definitions::trials(cases.adapters);
    let here: [Arc<dyn Surface>; 5] = [
        Arc::new(CliJson),
        Arc::new(CliText),
        Arc::new(Library::new(token)?),
        Arc::new(Rpc),
        Arc::new(Mcp),
    ];
    let mut there: Vec<Arc<dyn Surface>> = vec![Arc::new(targets::by_ssh(&programs))];
    match targets::by_docker(&programs) {
        Ok(docker) => there.push(Arc::new(docker)),
        Err(why) => trials.push(Trial::test(not_run("rpc-docker", why), || {
            may_be_skipped("docker").map_err(|error| error.to_string().into())
        })),
    }
    let refuse = Path::new(env!("CARGO_BIN_EXE_refuse"));
    let engines = ENGINES.map(|engine| -> Arc<dyn Surface> {
        Arc::new(InEngine {
            engine,
            refuse: refuse.to_owned(),
        })
    });
    let surfaces = here.iter().chain(&engines).map(|here| (here, false));
    let surfaces: Vec<_> = surfaces
        .chain(there.iter().map(|there| (there, true)))
        .collect();
    for (number, case) in cases.cases.into_iter().enumerate() {
        let case = Arc::new(case);
        for (surface, is_there) in surfaces.iter().filter(|(surface, _)| surface.takes(&case)) {
            let (case, surface) = (Arc::clone(&case), Arc::clone(surface));
            let name = format!("{} {}: {}", surface.name(), case.file, case.name);
            let trial = Trial::test(name, move || {
                let misbehave = Path::new(env!("CARGO_BIN_EXE_misbehave"));
                conformance::play(&case, surface.as_ref(), misbehave)
                    .map_err(|error| format!("{error:#}").into())
            });
            trials.push(trial.with_ignored_flag(*is_there && !targets::is_in_sample(number)));
        }
    }
    let mut arguments = Arguments::from_args();
    // Most cases wait for processes rather than use the CPU.
    arguments.test_threads = arguments.test_threads.or(Some(8));
    let conclusion = libtest_mimic::run(&arguments, trials);
    // Engines end with their interfaces; `exit` drops nothing.
    drop(surfaces);
    drop(there);
    drop(programs);
    conclusion.exit();
}
