//! Third-party clients: the official MCP SDKs, the clients in docs/examples, and the SDKs whose
//! shell tools the adapters imitate.
//!
//! Python clients run in a virtual environment, TypeScript ones in a directory of node packages;
//! both are installed once below `target/`, from `PyPI` and npm. If that fails (no package index is
//! reachable), their tests are ignored and the reason is printed. On CI, recognised by the variable
//! `CI`, they fail instead, so that they are not mistaken for passed.
//!
//! The long job takes 6 s, with a handle after 2 s; `AGENT_BASH_TEST_LONG_JOB=90` makes it take 90
//! s, with the default handle after 50 s.

mod adapters;

use agent_bash_tests::packages::{self, made_once};
use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, anyhow, ensure};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// The Python SDK, and a package for validating messages against schemas. The packages
/// of adapters are added.
const PYTHON: [&str; 2] = ["mcp==2.3.0", "jsonschema==4.26.0"];

/// Runs TypeScript, and the two SDKs for it: the older one, and the one for revision 2026-07-28
/// with its package for tasks.
const NODE: [&str; 4] = [
    "tsx@4",
    "@modelcontextprotocol/sdk@1",
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/ext-tasks@0.2.2",
];

/// The time that a slow machine may take to end leftover processes.
const PATIENCE: Duration = Duration::from_secs(30);

fn main() -> Result<()> {
    let tools = Arc::new(Tools::make()?);
    let mut trials = Vec::new();
    let on_ci = environment("CI").is_some();
    for missing in tools.missing().into_iter().filter(|_| !on_ci) {
        say(&format!(
            "not tested here: clients that need what cannot be made: {missing:#}"
        ));
    }
    let mut add = |name: &str, here: bool, test: fn(&Tools) -> Result<()>| {
        let tools = Arc::clone(&tools);
        let trial = Trial::test(name, move || {
            test(&tools).map_err(|error| Failed::from(format!("{error:#}")))
        });
        trials.push(trial.with_ignored_flag(!here && !on_ci));
    };
    let (has_python, has_node) = (tools.python.is_ok(), tools.node.is_ok());
    add("the official MCP SDK for Python", has_python, mcp_sdk);
    add(
        "the user of the official MCP SDK for Python is asked",
        has_python,
        mcp_asking,
    );
    add(
        "the official MCP SDK for TypeScript",
        has_node,
        mcp_sdk_typescript,
    );
    add(
        "the user of the official MCP client for TypeScript is asked",
        has_node,
        mcp_asking_typescript,
    );
    add(
        "the official MCP SDK for Python takes long calls as tasks",
        has_python,
        mcp_tasks,
    );
    add(
        "the official MCP client for TypeScript takes long calls as tasks",
        has_node,
        mcp_tasks_typescript,
    );
    add(
        "a plain Python script speaks RPC, by its schemas",
        has_python,
        plain_rpc,
    );
    add("the example rpc_client.py", has_python, |tools| {
        example(
            "docs/examples/rpc_client.py",
            tools,
            &[
                "live: one",
                "live: two",
                "{'kind': 'exited', 'code': 3}",
                "one\ntwo\n\nCommand exited with code 3",
                "[Command cancelled]",
            ],
        )
    });
    add("the example mcp_client.py", has_python, |tools| {
        example(
            "docs/examples/mcp_client.py",
            tools,
            &[
                "'bash_output'",
                "live: one",
                "live: two",
                "one\ntwo\n\nCommand exited with code 3",
            ],
        )
    });
    add("the example mcp_client.ts", has_node, |tools| {
        example(
            "docs/examples/mcp_client.ts",
            tools,
            &[
                "'bash_output'",
                "live: one",
                "live: two",
                "one\ntwo\n\nCommand exited with code 3",
            ],
        )
    });
    add(
        "the Anthropic SDK for Python takes what adapters answer",
        has_python,
        adapters::anthropic,
    );
    add(
        "the OpenAI Agents SDK for Python takes what adapters answer",
        has_python,
        adapters::openai,
    );
    add(
        "what adapters take and answer has the types of the Claude Agent SDK",
        tools.types.is_ok(),
        adapters::claude,
    );
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// The interpreters with the packages that clients need, or why they are missing.
struct Tools {
    /// The Python interpreter.
    python: Result<PathBuf>,
    /// The directory of node packages.
    node: Result<PathBuf>,
    /// The directory with the TypeScript compiler and the types that adapters are checked against.
    types: Result<PathBuf>,
}

impl Tools {
    fn make() -> Result<Self> {
        let (python, types) = adapters::packages()?;
        let python: Vec<&str> = python.iter().map(String::as_str).chain(PYTHON).collect();
        let types: Vec<&str> = types.iter().map(String::as_str).collect();
        // Only the types of the SDK are needed, not its program.
        let alone = ["--omit=optional", "--legacy-peer-deps"];
        Ok(Self {
            python: self::python(&python),
            node: node(&NODE, &[]),
            types: node(&types, &alone),
        })
    }

    fn missing(&self) -> Vec<&anyhow::Error> {
        [&self.python, &self.node, &self.types]
            .into_iter()
            .filter_map(|made| made.as_ref().err())
            .collect()
    }

    fn python(&self) -> Result<&Path> {
        made(&self.python)
    }

    fn node(&self) -> Result<&Path> {
        made(&self.node)
    }

    fn types(&self) -> Result<&Path> {
        made(&self.types)
    }
}

fn made(path: &Result<PathBuf>) -> Result<&Path> {
    path.as_deref()
        .map_err(|error| anyhow!("what the client needs cannot be made: {error:#}"))
}

#[expect(clippy::print_stderr, reason = "prints to the log of the tests")]
fn say(line: &str) {
    eprintln!("{line}");
}

fn root() -> Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("the root")
}

fn cached(name: &str, packages: &[&str]) -> PathBuf {
    packages::cached_packages(Path::new(env!("CARGO_TARGET_TMPDIR")), name, packages)
}

/// A virtual environment's Python with `packages`.
fn python(packages: &[&str]) -> Result<PathBuf> {
    let directory = cached("python", packages);
    made_once(&directory, |directory| {
        packages::python(directory, packages)
    })?;
    Ok(directory.join("bin/python"))
}

/// A directory with the node `packages`.
fn node(packages: &[&str], options: &[&str]) -> Result<PathBuf> {
    let directory = cached("node", packages);
    made_once(&directory, |directory| {
        packages::npm(directory, options, packages)
    })?;
    Ok(directory)
}

/// A world with `agent-bash` and `misbehave` on the PATH.
fn world() -> Result<World> {
    World::new()?
        .with_program(product::agent_bash()?)?
        .with_program(Path::new(env!("CARGO_BIN_EXE_misbehave")))
}

fn ran_well(world: World, command: Command) -> Result<String> {
    let ran = product::run(command, None)?;
    ensure!(
        ran.code == 0,
        "exit code {}\n{}{}",
        ran.code,
        ran.stdout,
        ran.stderr
    );
    let left = world.end(PATIENCE);
    ensure!(left.is_empty(), "left behind:\n{left}");
    Ok(ran.stdout)
}

fn mcp_sdk(tools: &Tools) -> Result<()> {
    let world = world()?;
    let mut command = world.command(tools.python()?);
    command
        .arg(root()?.join("tests/clients/mcp_sdk.py"))
        .env("AGENT_BASH_MCP_STRUCTURED", "on");
    match environment("AGENT_BASH_TEST_LONG_JOB") {
        Some(seconds) => command.arg(seconds),
        None => command.arg("6").env("AGENT_BASH_MCP_HANDLE_AFTER", "2s"),
    };
    let printed = ran_well(world, command)?;
    ensure!(printed.ends_with("long_job ok\n"), "{printed}");
    Ok(())
}

fn mcp_asking(tools: &Tools) -> Result<()> {
    for mode in ["legacy", "auto", "2026-07-28"] {
        let world = world()?;
        std::fs::create_dir(world.cwd().join(".git"))?;
        let mut command = world.command(tools.python()?);
        command
            .arg(root()?.join("tests/clients/mcp_asking.py"))
            .args([world.home().join("outside").as_os_str(), mode.as_ref()])
            .env("AGENT_BASH_MCP_STRUCTURED", "on");
        let printed = ran_well(world, command)?;
        ensure!(
            printed.matches(" ok\n").count() == 10 && printed.ends_with("leave None ok\n"),
            "{mode}: {printed}"
        );
    }
    Ok(())
}

fn mcp_asking_typescript(tools: &Tools) -> Result<()> {
    let world = world()?;
    std::fs::create_dir(world.cwd().join(".git"))?;
    let script = std::fs::read_to_string(root()?.join("tests/clients/mcp_asking.ts"))?;
    let mut command = typescript(&world, tools, "mcp-asking", &script)?;
    command
        .env("AGENT_BASH_MCP_STRUCTURED", "on")
        .env("AGENT_BASH_SANDBOX_LEVEL", "off");
    let printed = ran_well(world, command)?;
    ensure!(
        printed.matches(" ok\n").count() == 12 && printed.ends_with("modern none ok\n"),
        "{printed}"
    );
    Ok(())
}

fn mcp_tasks(tools: &Tools) -> Result<()> {
    let world = world()?;
    let mut command = world.command(tools.python()?);
    command
        .arg(root()?.join("tests/clients/mcp_tasks.py"))
        .env("AGENT_BASH_MCP_HANDLE_AFTER", "1s");
    let said = ran_well(world, command)?;
    ensure!(said == "ok\n", "{said}");
    Ok(())
}

fn mcp_tasks_typescript(tools: &Tools) -> Result<()> {
    let world = world()?;
    let script = std::fs::read_to_string(root()?.join("tests/clients/mcp_tasks.ts"))?;
    let mut command = typescript(&world, tools, "mcp-tasks", &script)?;
    command
        .env("AGENT_BASH_MCP_STRUCTURED", "on")
        .env("AGENT_BASH_MCP_HANDLE_AFTER", "1s");
    let printed = ran_well(world, command)?;
    ensure!(printed == "ok\n", "{printed}");
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test program is a user of its own environment"
)]
fn environment(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name)
}

fn plain_rpc(tools: &Tools) -> Result<()> {
    let world = world()?;
    let mut command = world.command(tools.python()?);
    command
        .arg(root()?.join("tests/clients/rpc_plain.py"))
        .arg(root()?.join("docs/schema"));
    let printed = ran_well(world, command)?;
    ensure!(printed == "schemas: held\n", "{printed}");
    Ok(())
}

fn mcp_sdk_typescript(tools: &Tools) -> Result<()> {
    let world = world()?;
    let script = std::fs::read_to_string(root()?.join("tests/clients/mcp_sdk.ts"))?;
    let mut command = typescript(&world, tools, "mcp-sdk", &script)?;
    command.env("AGENT_BASH_MCP_STRUCTURED", "on");
    let printed = ran_well(world, command)?;
    ensure!(printed == "ok\n", "{printed}");
    Ok(())
}

/// The command that runs a TypeScript script.
fn typescript(world: &World, tools: &Tools, name: &str, script: &str) -> Result<Command> {
    // In the directory of its packages, where node looks for them.
    let packages = tools.node()?;
    let file = packages.join(format!("{name}.ts"));
    std::fs::write(&file, script)?;
    let mut command = world.command(packages.join("node_modules/.bin/tsx"));
    // Node's compile cache would be a leftover in the world's temporary directory.
    command.arg(file).env("TSX_DISABLE_CACHE", "1");
    Ok(command)
}

/// Runs the example at this path, and checks for the expected output.
fn example(path: &str, tools: &Tools, want: &[&str]) -> Result<()> {
    let script = root()?.join(path);
    let world = world()?;
    let mut command;
    if script.extension().is_some_and(|end| end == "py") {
        command = world.command(tools.python()?);
        command.arg(script);
    } else {
        let script = std::fs::read_to_string(script)?;
        command = typescript(&world, tools, "example", &script)?;
    }
    let printed = ran_well(world, command)?;
    for line in want {
        ensure!(printed.contains(line), "{line:?} is not in:\n{printed}");
    }
    Ok(())
}
