//! A hostile target: it cannot make the product write other files than the user has named, nor
//! control the terminal.

use super::{SOON, on};
use agent_bash_tests::conformance::shake_hands;
use agent_bash_tests::product::{self, CommandResult};
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::targets::{NAME, command};
use agent_bash_tests::tmux::Tmux;
use agent_bash_tests::world::World;
use anyhow::{Result, ensure};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A world in which `hostile.py` is the target.
fn world() -> Result<World> {
    let world = World::new()?.with_program(product::agent_bash()?)?;
    let config = world.home().join(".config/agent-bash");
    fs::create_dir_all(&config)?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/targets/hostile.py");
    let words = json!(["python3", script, "{script}"]);
    let text = format!("[targets.{NAME}]\ntransport = \"command\"\ncommand = {words}\n");
    fs::write(config.join("config.toml"), text)?;
    Ok(world)
}

/// The files of a world, except the product's own.
fn files(directory: &Path, found: &mut BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() {
            files(&path, found)?;
        } else {
            found.insert(path);
        }
    }
    Ok(())
}

fn all(world: &World) -> Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    for directory in [world.cwd(), world.home(), world.temp()] {
        files(&directory, &mut found)?;
    }
    Ok(found)
}

fn cp(world: &World, from: &str, to: &str) -> Result<CommandResult> {
    let mut command = world.command(product::agent_bash()?);
    command.args(["cp", &format!("{NAME}:{from}"), to]);
    product::run(command, None)
}

#[test]
fn copy_writes_only_the_named_file() -> Result<()> {
    let world = world()?;
    let directory = world.cwd().join("place");
    fs::create_dir(&directory)?;
    let before = all(&world)?;
    for (from, name, content) in [
        // Only the announced number of bytes is written, whatever else the target sends.
        ("./more", "more", "xxxxxxxxxx"),
        // A name that the target sends is not used.
        ("./elsewhere", "elsewhere", "elsewhere!"),
    ] {
        let ran = cp(&world, from, "place")?;
        ensure!(ran.code == 0, "{from}: {ran:?}");
        let path = directory.join(name);
        ensure!(fs::read_to_string(&path)? == content, "{from}");
        let mode = fs::metadata(&path)?.permissions().mode();
        ensure!(mode & 0o7000 == 0, "{from}: lends rights: {mode:o}");
    }
    for (from, printed) in [
        ("./stuck", "stopped sending ./stuck"),
        ("./missing", "there is no such thing"),
    ] {
        let ran = cp(&world, from, "place")?;
        ensure!(
            ran.code == 125 && ran.stderr.contains(printed),
            "{from}: {ran:?}"
        );
        ensure!(!ran.stderr.contains(['\u{1b}', '\u{7}']), "{from}: {ran:?}");
    }
    let new: Vec<PathBuf> = all(&world)?.difference(&before).cloned().collect();
    ensure!(
        new == [directory.join("elsewhere"), directory.join("more")],
        "{new:?}"
    );
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn target_output_cannot_control_the_terminal() -> Result<()> {
    let world = world()?;
    let tmux = Tmux::start(&world, 100, 30)?;
    let before = tmux.title()?;
    for words in [
        format!("artifact list --on {NAME}"),
        format!("jobs output 1 --follow --on {NAME}"),
        format!("cp {NAME}:./missing ."),
        format!("run --on {NAME} true"),
    ] {
        tmux.enters(&format!("clear; agent-bash {words}; echo ended: $?"))?;
        tmux.shows("ended: ")?;
        ensure!(tmux.title()? == before, "{words}");
    }
    // Control: the same bytes unchanged.
    tmux.enters("clear; printf '\\033]0;taken over\\007'; echo ended: $?")?;
    tmux.shows("ended: 0")?;
    ensure!(tmux.title()? == "taken over", "{:?}", tmux.title()?);
    drop(tmux);
    world.assert_nothing_left(SOON);
    Ok(())
}

/// A client of the Model Context Protocol may open listed resources by itself.
#[test]
fn remote_artifact_is_never_a_local_file() -> Result<()> {
    let world = world()?;
    let mut server = ServerClient::start(command(&world, &["mcp"])?)?;
    shake_hands(&mut server)?;
    let id = server.new_id();
    server.send(&json!({"jsonrpc": "2.0", "id": id, "method": "resources/list"}))?;
    let answer = server.next_where(SOON, |line| line["id"] == id)?;
    let listed = &answer["result"]["resources"][0];
    ensure!(listed["uri"] == "artifact://3", "{answer}");
    let printed = answer.to_string();
    ensure!(
        !printed.contains("passwd") && !printed.contains("\\u001b"),
        "{printed}"
    );
    drop(server);
    // Control: the content comes from the target.
    let plain = on(&world, &["artifact", "list"])?;
    ensure!(plain.stdout.contains("\u{1b}]0;taken over"), "{plain:?}");
    world.assert_nothing_left(SOON);
    Ok(())
}
