//! The sandbox of the real binary: from settings and options over every interface to the result.
//! `crates/sandbox/tests/attempts` tests the confinement; conformance cases test what a call may
//! ask for.

use agent_bash_tests::conformance::shake_hands;
use agent_bash_tests::product::{self, CommandResult, report_left_out};
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Time limit on a slow machine.
const SOON: Duration = Duration::from_secs(60);

const LEVEL: &str = "AGENT_BASH_SANDBOX_LEVEL";

fn agent_bash(world: &World, words: &[&str]) -> Result<CommandResult> {
    let mut command = world.command(product::agent_bash()?);
    command.args(words);
    product::run(command, None)
}

#[test]
fn sandbox_command_tries_every_promise() -> Result<()> {
    let world = World::new()?;
    let ran = agent_bash(&world, &["sandbox"])?;
    let held = ran.stdout.matches(" yes\n").count();
    ensure!(ran.code == 0 && held > 8, "{ran:?}");
    world.assert_nothing_left(SOON);
    Ok(())
}

/// A user who relies on a sandbox, in a project of another user.
#[test]
fn project_file_cannot_loosen_the_sandbox() -> Result<()> {
    let world = World::new()?;
    let config = world.home().join(".config/agent-bash");
    fs::create_dir_all(&config)?;
    fs::write(
        config.join("config.toml"),
        "[sandbox]\nlevel = \"read_only\"\nhidden = [\"/srv/keys\"]\n",
    )?;
    let project = world.cwd().join(".agent-bash.toml");
    for loosens in [
        "level = \"off\"",
        "level = \"workspace_write\"",
        "network = \"on\"",
        "writable = [\"/\"]",
        "readable = [\"~/.ssh\"]",
        "devices = [\"/dev/kvm\"]",
        "tmp = \"shared\"",
        "escalation = \"ask\"",
        "secrets = { A_TOKEN = { hosts = [] } }",
    ] {
        fs::write(&project, format!("[sandbox]\n{loosens}\n"))?;
        let ran = agent_bash(&world, &["run", "echo x > new; echo ran"])?;
        let key = loosens.split(' ').next().unwrap_or_default();
        ensure!(
            ran.code != 0 && ran.stderr.contains(&format!("sandbox.{key}")),
            "{loosens}: {ran:?}"
        );
        ensure!(!ran.stdout.contains("ran"), "{loosens}: {ran:?}");
    }
    // Control: a file that tightens the sandbox is accepted, and so are the user's options.
    fs::write(&project, "[sandbox]\nlevel = \"read_only\"\n")?;
    let ran = agent_bash(&world, &["run", "--json", "echo x > new; true"])?;
    let json: Value = serde_json::from_str(&ran.stdout)?;
    ensure!(json["sandbox"]["level"] == "read_only", "{ran:?}");
    ensure!(!world.cwd().join("new").exists(), "{ran:?}");
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn workspace_is_the_cwd_option_of_run() -> Result<()> {
    let world = World::new()?;
    for name in ["one/.git", "one/sub", "two/.git"] {
        fs::create_dir_all(world.cwd().join(name))?;
    }
    let write = "echo x > ../here; echo x > ../../two/there; ls ..";
    for (directory, here, there) in [("one/sub", true, false), ("two/.git", true, true)] {
        let words = [
            "run", "--sandbox", "workspace_write", "--cwd", directory, write,
        ];
        let ran = agent_bash(&world, &words)?;
        let root = world
            .cwd()
            .join(directory.split('/').next().unwrap_or_default());
        ensure!(root.join("here").exists() == here, "{directory}: {ran:?}");
        let other = world.cwd().join("two/there");
        ensure!(other.exists() == there, "{directory}: {ran:?}");
    }
    // A request's own directory comes from the model: the call runs there, but cannot write.
    let request = json!({"command": "pwd; echo x > new", "cwd": "one"}).to_string();
    let mut command = world.command(product::agent_bash()?);
    command.args(["run", "--sandbox", "workspace_write", "--request"]);
    command.current_dir(world.cwd().join("two"));
    let request = request.replace("\"one\"", &format!("{:?}", world.cwd().join("one")));
    let ran = product::run(command, Some(&request))?;
    ensure!(ran.stdout.contains("/one\n"), "{ran:?}");
    ensure!(!world.cwd().join("one/new").exists(), "{ran:?}");
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn trial_and_commit_and_redo_name_files_that_run_programs() -> Result<()> {
    let world = World::new()?;
    let mut command = world.command(product::agent_bash()?);
    command.arg("rpc").env(LEVEL, "workspace_write");
    command.env("AGENT_BASH_CHANGES_COMMIT", "model");
    let mut server = ServerClient::start(command)?;
    let make = "mkdir .vscode; echo x > .vscode/tasks.json; echo x > .envrc; echo x > other";
    let result = called(&mut server, &json!({"command": make, "trial": true}))?;
    let Some(id) = result["changes"]["id"].as_str() else {
        // The system does not support trials.
        ensure!(result["status"]["kind"] == "not_started", "{result}");
        return Ok(());
    };
    let is_named = |text: &Value| {
        let text = text.as_str().unwrap_or_default();
        text.contains(".vscode") && text.contains(".envrc") && !text.contains("other")
    };
    ensure!(is_named(&result["text"]), "{result}");
    let kinds = result["notices"].as_array().context("notices")?;
    let is_noticed = kinds.iter().any(|it| it["kind"] == "protected_in_trial");
    ensure!(is_noticed, "{result}");
    let commit = json!({"type": "changes.commit", "changes": id, "for_model": true});
    let committed = answer_to(&mut server, commit)?;
    ensure!(is_named(&committed["text"]), "{committed}");
    answer_to(&mut server, json!({"type": "changes.undo", "changes": id}))?;
    let redone = answer_to(&mut server, json!({"type": "changes.redo", "changes": id}))?;
    ensure!(is_named(&redone["text"]), "{redone}");
    // Control: a file that runs no program.
    let request = json!({"command": "echo y > other", "trial": true});
    let result = called(&mut server, &request)?;
    let text = result["text"].as_str().context("text")?;
    ensure!(!text.contains("outside of the sandbox"), "{result}");
    ensure!(server.end()?.status.success(), "its end");
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn sandboxed_call_runs_if_tmpdir_is_unusable() -> Result<()> {
    let world = World::new()?;
    let file = world.cwd().join("file");
    fs::write(&file, "")?;
    let missing = world.cwd().join("missing");
    let script = "new=$(mktemp) && echo ran && rm \"$new\"";
    for directory in [&missing, &file, Path::new("/proc"), Path::new("/dev/shm")] {
        let mut command = world.command(product::agent_bash()?);
        command.args(["run", "--sandbox", "read_only", "--timeout", "20s", script]);
        command.env("TMPDIR", directory);
        let ran = product::run(command, None)?;
        ensure!(ran.stdout == "ran\n", "{}: {ran:?}", directory.display());
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn secret_files_moved_by_variables_are_hidden() -> Result<()> {
    let world = World::new()?;
    let moved = world.home().join("moved");
    for (path, variable, value) in [
        ("gh/hosts.yml", "XDG_CONFIG_HOME", ""),
        ("cluster", "KUBECONFIG", "cluster"),
        ("typed", "HISTFILE", "typed"),
        ("credentials.toml", "CARGO_HOME", ""),
    ] {
        let secret = moved.join(path);
        fs::create_dir_all(secret.parent().context("a directory")?)?;
        fs::write(&secret, "kept\n")?;
        let read = format!("cat {}", secret.display());
        for (level, is_read) in [("off", true), ("read_only", false)] {
            let mut command = world.command(product::agent_bash()?);
            command.args(["run", "--sandbox", level, &read]);
            command.env(variable, moved.join(value));
            let ran = product::run(command, None)?;
            ensure!((ran.stdout == "kept\n") == is_read, "{variable}: {ran:?}");
        }
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

/// A model whose write to `.git/config` was refused tries again after the user has changed the
/// file.
#[test]
fn file_replaced_between_calls_stays_protected() -> Result<()> {
    let world = World::new()?;
    let config = world.cwd().join(".git/config");
    fs::create_dir_all(world.cwd().join(".git/hooks"))?;
    fs::write(&config, "first\n")?;
    let mut server = rpc(&world, "workspace_write")?;
    let write = "echo changed >> .git/config; true";
    for text in ["first\n", "second\n", "third\n"] {
        // `git config` replaces the file like this.
        let new = world.cwd().join("new");
        fs::write(&new, text)?;
        fs::rename(&new, &config)?;
        // Warm shells were started before.
        let result = called(&mut server, &json!({ "command": write }))?;
        let missing = &result["sandbox"]["missing"];
        let is_kept = !missing
            .as_array()
            .is_some_and(|it| it.contains(&json!("protected")));
        let is_changed = fs::read_to_string(&config)? != text;
        ensure!(is_changed != is_kept, "{text}: {result}");
        let named = result["notices"].as_array().context("notices")?;
        let named = named.iter().any(|it| it["kind"] == "protected_changed");
        ensure!(named == is_changed, "{text}: {result}");
    }
    ensure!(server.end()?.status.success(), "its end");
    world.assert_nothing_left(SOON);
    Ok(())
}

fn rpc(world: &World, level: &str) -> Result<ServerClient> {
    let mut command = world.command(product::agent_bash()?);
    command.arg("rpc").env(LEVEL, level);
    ServerClient::start(command)
}

/// The result of a call by the model.
fn called(server: &mut ServerClient, request: &Value) -> Result<Value> {
    answer_to(server, json!({"type": "tool_call", "request": request}))
}

fn answer_to(server: &mut ServerClient, mut request: Value) -> Result<Value> {
    let id = server.new_id();
    request["id"] = json!(id);
    server.send(&request)?;
    let answer = server.next_where(SOON, |line| line["id"] == id && line["type"] == "response")?;
    ensure!(answer["success"] == true, "{answer}");
    Ok(answer["data"].clone())
}

#[test]
fn rpc_confines_model_but_not_user() -> Result<()> {
    let world = World::new()?;
    let mut server = rpc(&world, "read_only")?;
    let write = "echo x > new";
    let result = called(&mut server, &json!({ "command": write }))?;
    ensure!(
        result["sandbox"]["denied"][0]["access"] == "write",
        "{result}"
    );
    let kinds = result["notices"].as_array().context("notices")?;
    ensure!(
        kinds.iter().any(|it| it["kind"] == "sandbox_denied"),
        "{result}"
    );
    // Also in a named session's shell, which has the same sandbox.
    for _ in 0..2 {
        let request = json!({"command": "echo x > new; x=1$x; echo $x", "session": "s"});
        let result = called(&mut server, &request)?;
        ensure!(result["sandbox"]["level"] == "read_only", "{result}");
    }
    let asked_for = json!({"command": write, "sandbox": {"level": "off", "reason": "r"}});
    let result = called(&mut server, &asked_for)?;
    ensure!(result["rule"] == "sandbox_escalation", "{result}");
    let in_session =
        json!({"command": write, "session": "s", "sandbox": {"level": "read_only", "reason": "r"}});
    let result = called(&mut server, &in_session)?;
    ensure!(result["status"]["kind"] == "not_started", "{result}");
    ensure!(!world.cwd().join("new").exists(), "{result}");
    // Control: the user's command.
    answer_to(&mut server, json!({"type": "bash", "command": write}))?;
    ensure!(world.cwd().join("new").exists(), "the user may write");
    ensure!(server.end()?.status.success(), "its end");
    world.assert_nothing_left(SOON);
    Ok(())
}

/// `perl` prints no path: the trace of a recorded call has seen it.
#[test]
fn failed_command_without_a_path_in_its_message_gets_the_refused_write() -> Result<()> {
    let world = World::new()?;
    let script = r#"open(my $f, ">", $ARGV[0]) or die "cannot open it\n"; print "opened\n""#;
    let command = |file: &str, rest: &str| format!("perl -e '{script}' {file}{rest}");
    fs::write(world.cwd().join("new"), "text\n")?;
    for (record, command, is_named) in [
        ("undo", command("$PWD/new", ""), true),
        ("off", command("$PWD/new", ""), true),
        ("undo", command("$PWD/new", " 2>/dev/null"), true),
        // vim prints nothing, and only asks whether it can write.
        ("off", "vim -es -u NONE -c wq $PWD/new".to_owned(), true),
        // Controls: the command succeeds; the write is allowed; the file is only read.
        ("undo", command("$PWD/new", " || true"), false),
        ("undo", command("$TMPDIR/new", "; false"), false),
        ("off", "grep -q nothing $PWD/new".to_owned(), false),
    ] {
        let mut run = world.command(product::agent_bash()?);
        run.args(["run", "--json", "--sandbox=read_only", "--changes", record])
            .arg(&command);
        let output = run.output()?;
        let result: Value = serde_json::from_slice(&output.stdout)?;
        let denied = &result["sandbox"]["denied"];
        let path = world.cwd().join("new").display().to_string();
        let want = json!([{"path": path, "access": "write", "basis": "observed"}]);
        let want = if is_named { want } else { json!([]) };
        ensure!(*denied == want, "{record} {command}: {result}");
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

/// In a call that is not recorded, recorded, or a trial, with each network that has a guard.
#[test]
fn unix_sockets_connect_processes_of_a_call_only() -> Result<()> {
    const SCRIPT: &str = r#"
import socket, threading
server = socket.socket(socket.AF_UNIX)
server.bind("own.sock")
server.listen()
threading.Thread(target=lambda: server.accept()[0].sendall(b"answered")).start()
client = socket.socket(socket.AF_UNIX)
client.connect("own.sock")
print(client.recv(99).decode())
print(open("outside").read())
socket.socket(socket.AF_UNIX).connect("outside.sock")
"#;
    let world = World::new()?;
    if !Path::new("/usr/bin/python3").exists() {
        report_left_out("there is no /usr/bin/python3");
        return Ok(());
    }
    fs::write(world.cwd().join("try.py"), SCRIPT)?;
    fs::write(world.cwd().join("outside"), "tried")?;
    let outside = std::os::unix::net::UnixListener::bind(world.cwd().join("outside.sock"))?;
    outside.set_nonblocking(true)?;
    for network in ["off", "loopback"] {
        for how in [&["--changes=off"][..], &["--changes=undo"], &["--trial"]] {
            let script = "/usr/bin/python3 try.py; rm own.sock";
            let words = [
                "run", "--json", "--sandbox", "workspace_write", "--network", network,
            ];
            let ran = agent_bash(&world, &[&words, how, &[script][..]].concat())?;
            let result: Value = serde_json::from_str(&ran.stdout)?;
            if result["sandbox"]["enforced"] != "full" {
                report_left_out(&format!("no namespaces, or no trials: {network} {how:?}"));
                continue;
            }
            let text = result["text"].as_str().context("a text")?;
            let is_refused = ["PermissionError", "ConnectionRefusedError"]
                .iter()
                .any(|error| text.contains(error));
            ensure!(
                text.contains("answered") && text.contains("tried") && is_refused,
                "{network} {how:?}: {ran:?}"
            );
            let changes = &result["changes"];
            ensure!(changes.is_null() || changes["exact"] == true, "{ran:?}");
            ensure!(outside.accept().is_err(), "{network} {how:?}: {ran:?}");
        }
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn mcp_describes_the_sandbox_and_reports_denials() -> Result<()> {
    let world = World::new()?;
    for profile in ["standard", "modes", "paged", "workspace"] {
        for level in ["off", "read_only"] {
            let mut command = world.command(product::agent_bash()?);
            command
                .args(["mcp", "--profile", profile])
                .env(LEVEL, level);
            command.env("AGENT_BASH_MCP_STRUCTURED", "on");
            let mut server = ServerClient::start(command)?;
            shake_hands(&mut server)?;
            let is_on = level != "off";
            let tools = request(&mut server, "tools/list", &json!({}))?;
            let tools = tools["tools"].as_array().context("tools")?;
            let properties =
                |tool: &&Value| tool["inputSchema"]["properties"]["command"].is_object();
            let tool = tools.iter().find(properties).context("the tool")?;
            let about = tool["description"].as_str().context("a description")?;
            let field = &tool["inputSchema"]["properties"]["sandbox"];
            ensure!(
                about.contains("in a sandbox (read_only)") == is_on,
                "{tool}"
            );
            ensure!(field.is_object() == is_on, "{tool}");
            let call =
                json!({"name": tool["name"], "arguments": {"command": "echo x > new; echo ran"}});
            let result = request(&mut server, "tools/call", &call)?;
            let text = result["content"][0]["text"].as_str().context("a text")?;
            let answer = &result["structuredContent"]["sandbox"];
            ensure!(text.contains("ran"), "{result}");
            ensure!(
                text.contains("this call may not write there") == is_on,
                "{result}"
            );
            ensure!((answer["level"] == level) == is_on, "{result}");
            ensure!(world.cwd().join("new").exists() != is_on, "{result}");
            if is_on {
                let asks =
                    json!({"command": "echo x > new", "sandbox": {"level": "off", "reason": "r"}});
                let call = json!({"name": tool["name"], "arguments": asks});
                let result = request(&mut server, "tools/call", &call)?;
                ensure!(
                    result["structuredContent"]["rule"] == "sandbox_escalation"
                        && result["isError"] == true,
                    "{result}"
                );
            }
            ensure!(server.end()?.status.success(), "its end");
            let _ = fs::remove_file(world.cwd().join("new"));
        }
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

fn request(server: &mut ServerClient, method: &str, params: &Value) -> Result<Value> {
    let id = server.new_id();
    server.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
    let answer = server.next_where(SOON, |line| line["id"] == id)?;
    ensure!(answer["result"].is_object(), "{answer}");
    Ok(answer["result"].clone())
}

/// The program trusts its state directory, and creates files in its temporary directory.
#[test]
fn sandboxed_call_can_write_neither_state_nor_temporary_directories_of_the_host() -> Result<()> {
    let world = World::new()?;
    fs::create_dir(world.cwd().join("tmp"))?;
    let run = |level: &str, variable: &str, name: &str, script: &str| {
        let mut command = world.command(product::agent_bash()?);
        command.args(["run", "--sandbox", level, script]);
        command.env(variable, world.cwd().join(name));
        product::run(command, None)
    };
    let within = format!("ran in {}", world.cwd().canonicalize()?.display());
    for (level, is_writable) in [("workspace_write", true), ("read_only", false)] {
        let ran = run(
            level, "AGENT_BASH_STATE_DIR", "state", "touch state/planted; :",
        )?;
        // Without mounts, the call is refused.
        let output = format!("{}{}", ran.stdout, ran.stderr);
        let is_refused = output.contains("which sandboxed calls may write");
        ensure!(
            ran.code == if is_refused { 125 } else { 0 },
            "{level}: {ran:?}"
        );
        ensure!(is_writable || !is_refused, "{level}: {ran:?}");
        let state = world.cwd().join("state");
        ensure!(!state.join("planted").exists(), "{level}: {ran:?}");
        ensure!(!output.contains("changed"), "{level}: {ran:?}");
        let ran = run(level, "TMPDIR", "tmp", "echo ran in $TMPDIR")?;
        ensure!(ran.code == 0, "{level}: {ran:?}");
        ensure!(
            ran.stdout.starts_with(&within) != is_writable,
            "{level}: {ran:?}"
        );
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

/// The store of change sets has copies of files that calls outside of the sandbox have changed.
#[test]
fn sandboxed_call_reads_no_former_contents_of_hidden_files() -> Result<()> {
    let world = World::new()?;
    let secret = world.cwd().join("secret");
    fs::write(&secret, "former-text\n")?;
    let hidden = format!("[sandbox]\nhidden = [{:?}]\n", secret.canonicalize()?);
    fs::write(world.cwd().join(".agent-bash.toml"), hidden)?;
    let changed = ["run", "--changes", "undo", "echo new > secret"];
    agent_bash(&world, &changed)?;
    let find = format!("grep -rlas 'former-te[x]t' '{}'", world.state().display());
    let is_found = |ran: &CommandResult| ran.stdout.contains("/changes/cli/");
    let outside = agent_bash(&world, &["run", &find])?;
    if !is_found(&outside) {
        report_left_out("this system records no changes");
        return Ok(());
    }
    for level in ["read_only", "workspace_write"] {
        let ran = agent_bash(&world, &["run", "--sandbox", level, &find])?;
        ensure!(!is_found(&ran), "{level}: {ran:?}");
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

/// Bash ignores zero bytes in a script.
#[test]
fn script_with_zero_bytes_on_stdin_of_shell_is_confined() -> Result<()> {
    let world = World::new()?;
    let script = world.cwd().join("script");
    fs::write(&script, "echo x > new # \0\n")?;
    for (level, is_confined) in [("read_only", true), ("off", false)] {
        let mut command = world.command(product::agent_bash()?);
        command.arg("shell").env(LEVEL, level);
        command.stdin(fs::File::open(&script)?);
        let ran = product::run(command, None)?;
        let is_written = world.cwd().join("new").exists();
        ensure!(is_written != is_confined, "{level}: {ran:?}");
    }
    world.assert_nothing_left(SOON);
    Ok(())
}
