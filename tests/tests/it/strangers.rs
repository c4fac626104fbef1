//! A third-party program built from a crate's README alone: the Cargo lines as written there, and
//! the example. It must compile, be short, and still compile after core's types have gained fields.

#![expect(
    clippy::disallowed_methods,
    reason = "cargo is started, which compiles them"
)]

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Maximum length of an example, in lines.
const LINES: usize = 40;

/// A crate, and a text that identifies its example.
const STRANGERS: [(&str, &str); 3] = [
    ("core", "impl Executor for"),
    ("sink", "OutputSink::new"),
    ("syntax", "read("),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The first code block of this language in a README that contains this text.
fn block<'a>(readme: &'a str, language: &str, text: &str) -> Result<&'a str> {
    let mut blocks = readme
        .split("```")
        .skip(1)
        .step_by(2)
        .filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n'));
    let found = blocks.find(|block| block.contains(text));
    found.with_context(|| format!("no block of {language} has `{text}`"))
}

/// Writes a package as a reader of the README of `name` would, with the crates in `sources`.
fn package(into: &Path, name: &str, shows: &str, sources: &Path) -> Result<()> {
    let readme = fs::read_to_string(root().join("crates").join(name).join("README.md"))?;
    let dependencies = block(&readme, "toml", "[dependencies]")?;
    let program = block(&readme, "rust", shows)?;
    ensure!(
        program.lines().count() < LINES,
        "{name}: the example is too long for a first look"
    );
    let program = if program.contains("fn main()") {
        program.to_owned()
    } else {
        format!("fn main() {{\n{program}}}\n")
    };
    write_package(into, name, dependencies, &program, sources)
}

fn write_package(into: &Path, name: &str, toml: &str, program: &str, sources: &Path) -> Result<()> {
    let directory = into.join(name);
    fs::create_dir_all(directory.join("src"))?;
    let toml = toml.replace("…", &sources.display().to_string());
    let manifest = format!(
        "[package]\nname = \"stranger-{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n{toml}"
    );
    fs::write(directory.join("Cargo.toml"), manifest)?;
    fs::write(directory.join("src/main.rs"), program)?;
    Ok(())
}

/// Compiles all packages in a directory, with the versions of this workspace's lock file, offline.
fn check(packages: &Path) -> Result<Output> {
    let manifest = "[workspace]\nmembers = [\"*\"]\nresolver = \"3\"\n";
    fs::write(packages.join("Cargo.toml"), manifest)?;
    fs::copy(root().join("Cargo.lock"), packages.join("Cargo.lock"))?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let checked = Command::new(cargo)
        .args(["check", "--offline", "--quiet"])
        .current_dir(packages)
        .env("CARGO_TARGET_DIR", root().join("target/strangers"))
        .env_remove("RUSTFLAGS")
        .output()?;
    Ok(checked)
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn example_of_each_readme_compiles_alone() -> Result<()> {
    let packages = tempfile::tempdir()?;
    for (name, shows) in STRANGERS {
        package(packages.path(), name, shows, &root().canonicalize()?).context(name)?;
    }
    let checked = check(packages.path())?;
    ensure!(checked.status.success(), "{}", printed(&checked));
    Ok(())
}

/// Adds a field to a struct of core, and to its constructor.
fn grow(source: &str, name: &str, first: &str) -> Result<String> {
    let mut grown = source.to_owned();
    for (before, more) in [
        (
            format!("pub struct {name} {{\n"),
            "/// New.\npub grown: u8,\n",
        ),
        (format!("Self {{\n            {first},\n"), "grown: 0,\n"),
        (
            format!("Self {{\n            {first}.into(),\n"),
            "grown: 0,\n",
        ),
    ] {
        grown = grown.replace(&before, &format!("{before}{more}"));
    }
    let fields = grown.matches("grown").count() - source.matches("grown").count();
    ensure!(fields == 2, "{name}: {fields} places found");
    Ok(grown)
}

fn copy_all(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let copy = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_all(&entry.path(), &copy)?;
        } else {
            fs::copy(entry.path(), copy)?;
        }
    }
    Ok(())
}

#[test]
fn dependent_program_compiles_after_core_gains_fields() -> Result<()> {
    let packages = tempfile::tempdir()?;
    let grown = tempfile::tempdir()?;
    let grown = grown.path();
    let core = root().join("crates/core");
    copy_all(&core.join("src"), &grown.join("crates/core/src"))?;
    fs::copy(
        core.join("Cargo.toml"),
        grown.join("crates/core/Cargo.toml"),
    )?;
    let workspace = fs::read_to_string(root().join("Cargo.toml"))?;
    let workspace = workspace
        .replace(
            r#"members = ["crates/*", "tests", "tests/kit", "xtask"]"#,
            r#"members = ["crates/core"]"#,
        )
        .replace(r#"default-members = ["crates/cli"]"#, "");
    fs::write(grown.join("Cargo.toml"), workspace)?;
    let run = grown.join("crates/core/src/run.rs");
    let source = fs::read_to_string(&run)?;
    let source = grow(&source, "Outcome", "ending")?;
    fs::write(run, grow(&source, "RunSpec", "script: script")?)?;
    let request = grown.join("crates/core/src/request.rs");
    let source = fs::read_to_string(&request)?;
    fs::write(request, grow(&source, "Request", "command: command")?)?;
    // The parser names every field, so that the compiler asks for the new one.
    let parser = grown.join("crates/core/src/parse.rs");
    let all = "let mut request = Request {\n";
    let source = fs::read_to_string(&parser)?;
    fs::write(parser, source.replace(all, &format!("{all}grown: 0,\n")))?;
    let result = grown.join("crates/core/src/result.rs");
    let source = fs::read_to_string(&result)?;
    fs::write(
        result,
        grow(&source, "ToolResult", "is_error: status.is_error()")?,
    )?;

    let caller = r#"
        use agent_bash_core::{Request, Status, Timestamp, ToolResult};
        fn told(result: &ToolResult) -> &str {
            match &result.status {
                Status::Exited { code: 0 } => &result.text,
                _ => "it failed",
            }
        }
        fn main() {
            let call = Request::new("make").timeout(std::time::Duration::from_secs(9));
            let result = ToolResult::new(Status::Cancelled, call.command, Timestamp(0));
            println!("{}", told(&result));
        }
    "#;
    let toml = "[dependencies]\nagent-bash-core = { path = \"…/crates/core\" }\n";
    write_package(packages.path(), "caller", toml, caller, grown)?;
    package(packages.path(), "core", "impl Executor for", grown)?;
    let checked = check(packages.path())?;
    ensure!(checked.status.success(), "{}", printed(&checked));

    // Control: a struct literal does not compile even today.
    let program = "fn main() { let _ = agent_bash_core::Stage { code: 0 }; }\n";
    write_package(packages.path(), "literal", toml, program, grown)?;
    let checked = check(packages.path())?;
    ensure!(
        !checked.status.success() && printed(&checked).contains("E0639"),
        "{}",
        printed(&checked)
    );
    Ok(())
}
