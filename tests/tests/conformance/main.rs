//! Runs every case of `tests/conformance` through every interface, and compares the tool
//! definitions of adapters; one test each. Only a part of the cases runs on targets;
//! `--include-ignored` runs the others.

mod library;
mod targets;
mod tool_definitions;

use agent_bash::process::supervisor;
use agent_bash_tests::conformance::{
    self, Case, CliJson, CliText, ClientPackage, InEngine, Mcp, Rpc, Surface,
};
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
    let mut clients: Vec<Arc<dyn Surface>> = vec![Arc::new(ClientPackage::Python)];
    match ClientPackage::compile_typescript(Path::new(env!("CARGO_TARGET_TMPDIR"))) {
        Ok(client) => clients.push(Arc::new(client)),
        Err(why) => {
            let name = not_run("typescript", &format!("{why:#}"));
            let missing = Trial::test(name, || Err("its compiler cannot be installed".into()));
            trials.push(missing.with_ignored_flag(!is_on_ci()));
        }
    }
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
    let surfaces = here.iter().chain(&engines).map(|here| (here, Sample::All));
    let surfaces: Vec<_> = surfaces
        .chain(clients.iter().map(|client| (client, Sample::Clients)))
        .chain(there.iter().map(|there| (there, Sample::Targets)))
        .collect();
    for (number, case) in cases.cases.into_iter().enumerate() {
        let case = Arc::new(case);
        for (surface, sample) in surfaces.iter().filter(|(surface, _)| surface.takes(&case)) {
            let is_in_sample = sample.has(number, &case);
            let (case, surface) = (Arc::clone(&case), Arc::clone(surface));
            let name = format!("{} {}: {}", surface.name(), case.file, case.name);
            let trial = Trial::test(name, move || {
                let misbehave = Path::new(env!("CARGO_BIN_EXE_misbehave"));
                conformance::play(&case, surface.as_ref(), misbehave)
                    .map_err(|error| format!("{error:#}").into())
            });
            trials.push(trial.with_ignored_flag(!is_in_sample));
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

/// The cases that run through an interface by default.
#[derive(Debug, Clone, Copy)]
enum Sample {
    /// All cases.
    All,
    /// The packages of clients start another interpreter for each case.
    Clients,
    /// Each case connects to a target anew.
    Targets,
}

/// The packages run one case in this many.
const CLIENTS_EVERY: usize = 6;

/// The requirements whose cases the packages always run: those for which they have methods or
/// options of their own.
const CLIENTS_ALWAYS: [&str; 7] = [
    "changes: turn", "holders", "masked secrets", "per call", "prompts", "terminal", "until",
];

impl Sample {
    /// True if the case with this number runs.
    fn has(self, number: usize, case: &Case) -> bool {
        match self {
            Self::All => true,
            Self::Clients => {
                let mut covers = case.covers.iter();
                number.is_multiple_of(CLIENTS_EVERY)
                    || covers.any(|covered| CLIENTS_ALWAYS.contains(&&**covered))
            }
            Self::Targets => targets::is_in_sample(number),
        }
    }
}

/// True on CI, where no interface may be left out.
#[expect(
    clippy::disallowed_methods,
    reason = "a test program is a user of its own environment"
)]
fn is_on_ci() -> bool {
    std::env::var_os("CI").is_some()
}
