//! Installs the packages as people do, into places where there is nothing else, and runs their first examples.

use super::dist::{self, Packed};
use crate::suite::check;
use crate::{Tree, say, tests_step};
use agent_bash_tests::packages::install;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use xshell::cmd;

/// Where the examples look for programs.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Packs `program`, and runs the examples with what was packed.
pub(super) fn test(tree: &Tree, program: &Path) -> Result<()> {
    let room = tempfile::tempdir()?;
    let stripped = room.path().join("agent-bash");
    check(&cmd!(tree.shell, "strip -o {stripped} {program}").quiet())?;
    let packed = dist::pack(tree, &stripped, None)?;
    say("   the wheel, in an environment of its own");
    python(tree, &packed, &room.path().join("python"))?;
    say("   the packages for npm, in a directory of their own");
    node(tree, &packed, &room.path().join("node"))
}

fn python(tree: &Tree, packed: &Packed, place: &Path) -> Result<()> {
    std::fs::create_dir(place)?;
    install("python3", &["-m", "venv", "."], place)?;
    let python = place.join("bin/python");
    let words = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--disable-pip-version-check",
    ];
    let wheel = packed.wheel.to_str().context("the path is not UTF-8")?;
    install(
        python.to_str().context("the path is not UTF-8")?,
        &[&words[..], &[wheel]].concat(),
        place,
    )?;
    for example in ["quickstart.py", "quickstart_sync.py"] {
        let example = tree.root.join("clients/python/examples").join(example);
        runs(tree, place, &[&python, &example])?;
    }
    Ok(())
}

fn node(tree: &Tree, packed: &Packed, place: &Path) -> Result<()> {
    std::fs::create_dir(place)?;
    std::fs::write(
        place.join("package.json"),
        "{\"private\": true, \"type\": \"module\"}",
    )?;
    let words = [
        "install",
        "--offline",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
        "--omit=peer",
    ];
    let [package, carrier] = &packed.npm;
    let paths = [package, carrier].map(|path| path.to_string_lossy());
    install(
        "npm",
        &[&words[..], &[&paths[1], &paths[0]]].concat(),
        place,
    )?;
    // The step has compiled the example; here it must find the package by its name.
    let compiled = tree
        .root
        .join("clients/typescript/build/examples/quickstart.js");
    let text = tree
        .shell
        .read_file(compiled)?
        .replace("../src/index.js", "agent-bash");
    let example = place.join("quickstart.js");
    tree.shell.write_file(&example, text)?;
    runs(tree, place, &[Path::new("node"), &example])
}

/// Runs an example where no program is on the `PATH`, and looks at what it says.
fn runs(tree: &Tree, place: &Path, words: &[&Path]) -> Result<()> {
    let is_there = |directory: &str| Path::new(directory).join("agent-bash").exists();
    ensure!(
        !PATH.split(':').any(is_there),
        "there is an agent-bash in {PATH}, so nothing would be shown"
    );
    let script = "cd \"$1\" && shift && exec \"$@\" > printed";
    tests_step::under_census(|_, _| {
        cmd!(tree.shell, "sh -c {script} sh {place} {words...}")
            .quiet()
            .env_remove("AGENT_BASH_PROGRAM")
            .env("PATH", PATH)
            .env("HOME", place)
            .env("TMPDIR", place)
            .env("XDG_STATE_HOME", place.join("state"))
    })?;
    let printed = std::fs::read_to_string(place.join("printed"))?;
    let all = ["exited", "so far", "99999:99999"];
    ensure!(
        all.iter().all(|part| printed.contains(part)),
        "the example did not say {all:?}, but: {printed}"
    );
    Ok(())
}
