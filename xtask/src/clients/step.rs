//! Tests the clients against the program, with the tools of their languages. The tools are
//! installed once below `target/`, from `PyPI` and npm.

use super::installed;
use super::packages::{link_packages, node_packages, venv};
use crate::cargo_command::{cargo, check, words};
use crate::{Tree, layers, say, tests_step};
use anyhow::Result;
use std::path::Path;
use xshell::cmd;

/// The packages that test the Python client.
const PYTHON: &[&str] = &["pytest==9.2.0", "mypy==2.4.1"];

/// The frameworks for the tests of the Python client: package, and module in
/// `agent_bash.frameworks`. Each group is installed by itself, because pip searches for minutes
/// for versions that suit all of them. They take several hundred megabytes, so only CI installs
/// them by default.
const FRAMEWORKS: &[&[(&str, &str)]] = &[
    &[
        ("openai-agents==0.24.0", "openai_agents"),
        ("deepagents==0.7.32", "deepagents"),
        ("mini-swe-agent==2.4.6", "mini_swe_agent"),
        ("inspect_ai==0.3.285", "inspect_ai"),
        ("claude-agent-sdk==0.2.187", "claude_agent"),
    ],
    &[
        ("pydantic-ai-slim==2.68.0", "pydantic_ai"),
        ("google-adk==2.13.0", "google_adk"),
        ("swe-rex==1.4.0", "swe_rex"),
    ],
];

/// The step of the suite. Without package indexes the client tests are skipped, except on CI.
pub(crate) fn run(tree: &Tree) -> Result<()> {
    let target = &layers::target_directory(tree)?;
    let build = words("build --quiet --package agent-bash-cli");
    check(&cargo(tree, &build))?;
    let program = target.join("debug/agent-bash");
    match (venv(target, "python", PYTHON), node_packages(target)) {
        (Ok(python), Ok(packages)) => {
            test_python(tree, &python, &program)?;
            test_typescript(tree, &packages, &program)?;
            installed::test(tree, &program, &python, &packages)?;
            if tree.is_on_ci() {
                return frameworks(tree);
            }
            say(
                "   left out: agent frameworks; `cargo xtask clients frameworks` installs and runs them",
            );
            Ok(())
        }
        (Err(error), _) | (_, Err(error)) if tree.is_on_ci() => Err(error),
        (Err(error), _) | (_, Err(error)) => {
            say(&format!(
                "   left out: the tests of the clients, because their tools cannot be installed: {error:#}"
            ));
            Ok(())
        }
    }
}

/// Packs an existing program and tests the packages.
pub(super) fn installed(tree: &Tree, program: &Path) -> Result<()> {
    let target = &layers::target_directory(tree)?;
    let python = venv(target, "python", PYTHON)?;
    installed::test(tree, program, &python, &node_packages(target)?)
}

/// Runs the tests of the frameworks, in the versions of [`FRAMEWORKS`].
pub(crate) fn frameworks(tree: &Tree) -> Result<()> {
    let target = &layers::target_directory(tree)?;
    let program = target.join("debug/agent-bash");
    let _here = tree.shell.push_dir("clients/python");
    for group in FRAMEWORKS {
        let (packages, modules): (Vec<_>, Vec<_>) = group.iter().copied().unzip();
        let python = venv(target, "frameworks", &[PYTHON, &packages].concat())?;
        // The files are named one by one, because the configuration excludes their package.
        let source = |module: &&str| format!("src/agent_bash/frameworks/{module}.py");
        let sources: Vec<_> = modules.iter().map(source).collect();
        let types = cmd!(
            tree.shell,
            "{python} -m mypy --cache-dir /dev/null {sources...}"
        );
        check(&types.quiet().env("MYPYPATH", "src"))?;
        let test = |module: &&str| format!("tests/frameworks/test_{module}.py");
        let tests: Vec<_> = modules.iter().map(test).collect();
        let tests: Vec<_> = tests.iter().map(String::as_str).collect();
        pytest(tree, &python, &program, &tests)?;
    }
    Ok(())
}

/// Checks the types and runs the tests of the sources.
fn test_python(tree: &Tree, python: &Path, program: &Path) -> Result<()> {
    let _here = tree.shell.push_dir("clients/python");
    check(&cmd!(tree.shell, "{python} -m mypy --cache-dir /dev/null").quiet())?;
    let sources = ["-W", "error", "--ignore", "tests/frameworks"];
    pytest(tree, python, program, &sources)
}

fn pytest(tree: &Tree, python: &Path, program: &Path, options: &[&str]) -> Result<()> {
    let tests = cmd!(
        tree.shell,
        "{python} -B -m pytest --quiet -p no:cacheprovider {options...}"
    );
    let tests = tests.quiet().env("PYTHONPATH", "src");
    tests_step::under_census(tests.env("AGENT_BASH_PROGRAM", program))
}

/// Compiles the sources, tests and examples, and runs the tests.
fn test_typescript(tree: &Tree, packages: &Path, program: &Path) -> Result<()> {
    let _here = tree.shell.push_dir("clients/typescript");
    link_packages(tree, packages)?;
    let tsc = packages.join(".bin/tsc");
    tree.shell.remove_path("build")?;
    check(&cmd!(tree.shell, "{tsc} --project tsconfig.tests.json").quiet())?;
    let mut tests = tree.shell.read_dir("build/tests")?;
    tests.retain(|path| path.to_string_lossy().ends_with(".test.js"));
    let tests = cmd!(tree.shell, "node --test --test-reporter=dot {tests...}");
    tests_step::under_census(tests.quiet().env("AGENT_BASH_PROGRAM", program))
}
