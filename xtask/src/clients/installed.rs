//! Installs the packages as users do, in an otherwise empty root, and runs the examples of their
//! pages.

use super::dist::{self, PackedFiles};
use super::pages::{self, Example};
use crate::cargo_command::{check, words};
use crate::{Tree, say, tests_step};
use anyhow::{Context, Result, ensure};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use xshell::cmd;

/// The script that creates the root. It documents the root's contents.
const CLEAN_ROOT: &str = include_str!("clean_root.sh");

/// Packs `program`, and runs the examples with the installed packages. `python` has mypy,
/// `packages` has the TypeScript compiler.
pub(super) fn test(tree: &Tree, program: &Path, python: &Path, packages: &Path) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let stripped = directory.path().join("agent-bash");
    check(&cmd!(tree.shell, "strip -o {stripped} {program}").quiet())?;
    let packed = dist::pack(tree, &stripped, None)?;
    say("   the wheel, in a root with Python alone");
    test_in_python(
        tree,
        &packed,
        python,
        &Root::new(tree, directory.path(), "python", &["python3"])?,
    )?;
    say("   the packages for npm, in a root with Node alone");
    test_in_node(
        tree,
        &packed,
        packages,
        &Root::new(tree, directory.path(), "node", &["node", "npm", "npx"])?,
    )
}

/// A root for running programs.
struct Root {
    /// The only writable directory of the root.
    directory: PathBuf,
    /// The interpreters in the root.
    programs: Vec<PathBuf>,
}

impl Root {
    fn new(tree: &Tree, parent: &Path, name: &str, programs: &[&str]) -> Result<Self> {
        let directory = parent.join(name);
        std::fs::create_dir(&directory)?;
        let programs = programs
            .iter()
            .map(|name| program_path(tree, name))
            .collect::<Result<_>>()?;
        std::fs::create_dir(directory.join("repo"))?;
        let stand_ins = directory.join("programs");
        std::fs::create_dir(&stand_ins)?;
        for (name, script) in pages::STAND_INS {
            let path = stand_ins.join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n"))?;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
        }
        Ok(Self {
            directory,
            programs,
        })
    }

    /// Copies a file into the writable directory. Returns the path of the copy.
    fn copy_in(&self, file: &Path) -> Result<PathBuf> {
        let to = self
            .directory
            .join(file.file_name().context("a file has a name")?);
        std::fs::copy(file, &to)?;
        Ok(to)
    }

    fn write(&self, examples: &[Example]) -> Result<Vec<PathBuf>> {
        let write = |example: &Example| {
            let path = self.directory.join(example.name);
            std::fs::write(&path, &example.text)?;
            Ok(path)
        };
        examples.iter().map(write).collect()
    }

    /// Runs a command in the root. Returns its output.
    fn run(&self, tree: &Tree, words: &[&str]) -> Result<String> {
        let (directory, programs) = (&self.directory, &self.programs);
        let mut options = vec!["--mount"];
        if !rustix::process::geteuid().is_root() {
            options.push("--map-root-user");
        }
        let script = self.directory.with_extension("sh");
        let printed = self.directory.with_extension("printed");
        std::fs::write(&script, CLEAN_ROOT)?;
        let capture = "out=$1; shift; exec \"$@\" > \"$out\"";
        let command = cmd!(
            tree.shell,
            "sh -c {capture} sh {printed} unshare {options...} sh {script} {directory} {programs...} -- {words...}"
        );
        tests_step::under_census(command.quiet())?;
        Ok(std::fs::read_to_string(printed)?)
    }

    /// Runs an example in the root, with the stand-ins, and checks its output for `expected`.
    fn run_example(&self, tree: &Tree, words: &[&str], expected: &[&str]) -> Result<()> {
        let path = format!("PATH={}/programs:/usr/bin", self.directory.display());
        let printed = self.run(tree, &[&["env", &path], words].concat())?;
        ensure!(
            expected.iter().all(|part| printed.contains(part)),
            "{words:?} did not print {expected:?}, but: {printed}"
        );
        Ok(())
    }
}

fn test_in_python(tree: &Tree, packed: &PackedFiles, checker: &Path, root: &Root) -> Result<()> {
    let wheel = root.copy_in(&packed.wheel)?;
    let first = root.programs.first().context("Python is there")?;
    let environment = root.directory.join("environment");
    root.run(tree, &[text(first)?, "-m", "venv", text(&environment)?])?;
    let python = environment.join("bin/python");
    let install = words("-m pip install --quiet --no-index --disable-pip-version-check");
    let install = [&[text(&python)?], &install[..], &[text(&wheel)?]].concat();
    root.run(tree, &install)?;

    let examples = pages::python(tree)?;
    let files = &root.write(&examples)?;
    // The checker reads the types in the wheel.
    let types = cmd!(
        tree.shell,
        "{checker} -m mypy --strict --cache-dir /dev/null --python-executable {python} {files...}"
    );
    check(&types.quiet())?;
    for (file, example) in files.iter().zip(&examples) {
        root.run_example(tree, &[text(&python)?, text(file)?], example.expected)?;
    }
    Ok(())
}

fn test_in_node(tree: &Tree, packed: &PackedFiles, packages: &Path, root: &Root) -> Result<()> {
    let manifest = "{\"private\": true, \"type\": \"module\"}";
    std::fs::write(root.directory.join("package.json"), manifest)?;
    let [package, carrier] = &packed.npm;
    let files = [root.copy_in(carrier)?, root.copy_in(package)?];
    let mut install =
        words("npm install --offline --no-audit --no-fund --loglevel=error --omit=peer");
    install.extend([text(&files[0])?, text(&files[1])?]);
    root.run(tree, &install)?;

    let examples = pages::typescript(tree)?;
    let files = &root.write(&examples)?;
    let tsc = packages.join(".bin/tsc");
    let types = packages.join("@types");
    let options = "--strict --target ES2022 --module NodeNext --lib ES2023,ESNext.Disposable --types node --skipLibCheck";
    let options = words(options);
    // The compiler reads the types in the package.
    check(
        &cmd!(
            tree.shell,
            "{tsc} {options...} --typeRoots {types} {files...}"
        )
        .quiet(),
    )?;
    for (file, example) in files.iter().zip(&examples) {
        root.run_example(
            tree,
            &["node", text(&file.with_extension("js"))?],
            example.expected,
        )?;
    }
    let version = root.run(tree, &["npx", "--no", "--", "agent-bash", "--version"])?;
    ensure!(version.contains("protocol"), "the launcher says {version}");
    // Without the package of the program, the launcher finds itself on the `PATH`.
    let script = "rm -r node_modules/@agent-bash && export PATH=$PWD/node_modules/.bin:$PATH && \
                  timeout 60 agent-bash --version 2>&1; echo $?";
    let refused = root.run(tree, &["sh", "-c", script])?;
    ensure!(
        refused.contains("optional dependencies") && refused.ends_with("\n127\n"),
        "the launcher without a program says {refused}"
    );
    Ok(())
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("the path is not UTF-8")
}

/// Returns the path of a program on the `PATH`. If Python is a script that chooses an interpreter,
/// returns the chosen one.
fn program_path(tree: &Tree, name: &str) -> Result<PathBuf> {
    let path = if name.starts_with("python") {
        cmd!(tree.shell, "{name} -c 'import sys; print(sys.executable)'")
            .quiet()
            .read()?
    } else {
        let script = "command -v \"$1\"";
        cmd!(tree.shell, "sh -c {script} sh {name}")
            .quiet()
            .read()?
    };
    Ok(PathBuf::from(path))
}
