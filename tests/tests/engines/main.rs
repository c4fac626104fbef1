//! `--on` over engines that not every machine can run: docker, podman, kubectl. If an engine cannot
//! run, a test reports that by its name; the test fails if `AGENT_BASH_TEST_ENGINES` names the
//! engine.

mod docker;
mod kube;
mod podman;

use agent_bash_tests::targets;
use libtest_mimic::{Arguments, Failed, Trial};

/// The name of a test after its engine's name, and the test.
type Test = (&'static str, fn() -> anyhow::Result<()>);

fn main() {
    let engines = [
        (
            "docker",
            docker::TESTS,
            reason(targets::docker::cannot_run()),
        ),
        (
            "podman",
            podman::TESTS,
            reason(targets::podman::cannot_run()),
        ),
        ("kubectl", kube::TESTS, kube::cannot_run()),
    ];
    let mut trials = Vec::new();
    for (engine, tests, cannot_run) in engines {
        if let Some(why) = cannot_run {
            let left_out = move || with_message(targets::may_be_skipped(engine));
            trials.push(Trial::test(targets::not_run(engine, &why), left_out));
            continue;
        }
        for (name, test) in tests {
            trials.push(Trial::test(format!("{engine} {name}"), || {
                with_message(test())
            }));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn reason(why: Option<&str>) -> Option<String> {
    why.map(str::to_owned)
}

fn with_message(tested: anyhow::Result<()>) -> Result<(), Failed> {
    tested.map_err(|error| Failed::from(format!("{error:#}")))
}
