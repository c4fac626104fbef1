//! The user answers password prompts of real programs in the middle of a call, over MCP with a page
//! and over RPC with a request. The model and the records never have the answer.

use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::targets::Sshd;
use agent_bash_tests::world::World;
use agent_bash_tests::{product, prompt_page};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::thread;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(60);

const SECRET: &str = "correct horse battery";

/// Prints the public key, for which `ssh-keygen` asks for the passphrase.
const PUBLIC_KEY: &str = "ssh-keygen -y -f key";

fn world() -> Result<World> {
    let world = World::new()?;
    let mut keygen = world.command("ssh-keygen");
    keygen
        .args(["-q", "-t", "ed25519", "-N", SECRET, "-C", "c", "-f", "key"])
        .current_dir(world.cwd());
    let ran = product::run(keygen, None)?;
    ensure!(ran.code == 0, "ssh-keygen: {ran:?}");
    Ok(world)
}

fn start(world: &World, surface: &str, is_on: bool) -> Result<ServerClient> {
    let mut command = world.command(product::agent_bash()?);
    command
        .arg(surface)
        .env(
            "AGENT_BASH_PROMPTS_ASK_USER",
            if is_on { "on" } else { "off" },
        )
        .env("AGENT_BASH_OUTPUT_MASK_SECRETS", "known")
        .env("AGENT_BASH_MCP_STRUCTURED", "on")
        .env("AGENT_BASH_CHANGES_LEVEL", "undo")
        .env("AGENT_BASH_JOURNAL_LEVEL", "full");
    ServerClient::start(command)
}

/// A server of a client whose user can be asked as `elicitation` says.
fn mcp(world: &World, is_on: bool, elicitation: &Value) -> Result<ServerClient> {
    let mut server = start(world, "mcp", is_on)?;
    server.send(
        &json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {"elicitation": elicitation},
            "clientInfo": {"name": "test", "version": "1"},
        }}),
    )?;
    server.next_where(SOON, |line| line["id"] == "hello")?;
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
    Ok(server)
}

fn begin(server: &mut ServerClient, command: &str) -> Result<Value> {
    let id = json!(server.new_id());
    server.send(
        &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "bash", "arguments": {"command": command},
        }}),
    )?;
    Ok(id)
}

/// Waits for a question, and answers that the user opens the page, or with another action.
fn question(server: &mut ServerClient, action: &str) -> Result<Value> {
    let request = server.next_where(SOON, |line| line["method"] == "elicitation/create")?;
    server.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": {"action": action}}))?;
    Ok(request["params"].clone())
}

fn end_of(server: &ServerClient, id: &Value) -> Result<(String, Value)> {
    let answer = server.next_where(SOON, |line| {
        line["id"] == *id || line["method"] == "elicitation/create"
    })?;
    ensure!(answer["id"] == *id, "another question: {answer}");
    let text = answer["result"]["content"][0]["text"].as_str();
    Ok((text.context("a text")?.to_owned(), answer))
}

/// Sends a request to the page of a question.
fn http(url: &Value, method: &str, body: &str) -> Result<String> {
    prompt_page::request(url.as_str().context("a URL")?, method, body)
}

/// True if a file below the directory has the answer.
fn is_stored_in(directory: &Path) -> Result<bool> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let is_found = if path.is_dir() && !path.is_symlink() {
            is_stored_in(&path)?
        } else {
            let bytes = fs::read(&path).unwrap_or_default();
            bytes
                .windows(SECRET.len())
                .any(|part| part == SECRET.as_bytes())
        };
        if is_found {
            return Ok(true);
        }
    }
    Ok(false)
}

#[test]
fn passphrase_is_typed_on_a_page_and_is_in_no_result_and_no_file() -> Result<()> {
    let world = world()?;
    let mut server = mcp(&world, true, &json!({"url": {}}))?;
    // The second question shows that an answer which a command prints is masked.
    let id = begin(
        &mut server,
        &format!("{PUBLIC_KEY}; \"$SUDO_ASKPASS\" 'again\u{1b}[2J'; touch made"),
    )?;
    let request = question(&mut server, "accept")?;
    assert_eq!(request["mode"], "url");
    let message = request["message"].as_str().context("a message")?;
    assert!(
        message.contains("passphrase") && message.contains(PUBLIC_KEY),
        "{message}"
    );
    let page = http(&request["url"], "GET", "")?;
    assert!(
        page.contains("ssh-keygen (") || page.contains("/ssh-keygen, pid"),
        "{page}"
    );
    http(&request["url"], "POST", "answer=correct+horse+battery")?;
    let request = question(&mut server, "accept")?;
    let page = http(&request["url"], "GET", "")?;
    assert!(page.contains("again") && !page.contains('\u{1b}'), "{page}");
    http(&request["url"], "POST", "answer=correct+horse+battery")?;
    let (text, answer) = end_of(&server, &id)?;
    assert!(text.contains("ssh-ed25519 "), "{text}");
    assert!(text.contains("‹PROMPT_ANSWER›"), "{text}");
    assert!(!answer.to_string().contains(SECRET), "{answer}");
    // The host that answers is no process that changes files.
    let changes = &answer["result"]["structuredContent"]["changes"];
    assert_eq!(changes["exact"], true, "{changes}");
    assert!(server.end()?.status.success());
    assert!(world.state().exists());
    assert!(!is_stored_in(&world.state())?);
    assert_eq!(fs::read_dir(world.temp())?.count(), 0);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn declined_prompt_fails_the_program_and_the_call_asks_no_more() -> Result<()> {
    let world = world()?;
    let mut server = mcp(&world, true, &json!({"url": {}}))?;
    let twice = format!("{PUBLIC_KEY}; {PUBLIC_KEY}; echo end");
    let id = begin(&mut server, &twice)?;
    question(&mut server, "decline")?;
    let (text, _) = end_of(&server, &id)?;
    assert!(
        !text.contains("ssh-ed25519 ") && text.contains("end"),
        "{text}"
    );
    let id = begin(&mut server, &twice)?;
    let request = question(&mut server, "accept")?;
    http(
        &request["url"],
        "POST",
        "answer=correct+horse+battery&refuse=1",
    )?;
    let (text, _) = end_of(&server, &id)?;
    assert!(
        !text.contains("ssh-ed25519 ") && text.contains("end"),
        "{text}"
    );
    // The call that waits for an answer ends at its time limit.
    let id = json!(server.new_id());
    server.send(
        &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "bash", "arguments": {"command": PUBLIC_KEY, "timeout": 8},
        }}),
    )?;
    let request = question(&mut server, "accept")?;
    let (text, _) = end_of(&server, &id)?;
    assert!(text.contains("timed out"), "{text}");
    assert!(http(&request["url"], "GET", "").is_err());
    Ok(())
}

#[test]
fn nothing_is_set_without_the_setting_or_a_client_that_can_ask_with_a_page() -> Result<()> {
    let world = world()?;
    for (is_on, elicitation, is_set) in [
        (true, json!({"url": {}}), true),
        (true, json!({"form": {}}), false),
        (true, json!({}), false),
        (false, json!({"url": {}}), false),
    ] {
        let mut server = mcp(&world, is_on, &elicitation)?;
        let id = begin(&mut server, "echo \"$SSH_ASKPASS:$SSH_ASKPASS_REQUIRE\"")?;
        let (text, _) = end_of(&server, &id)?;
        let is_found = text.contains("/agent-bash-askpass:force");
        assert_eq!(is_found, is_set, "{elicitation}: {text}");
        assert!(is_set || text.starts_with("/usr/bin/false:\n"), "{text}");
    }
    // Since that revision, a server cannot ask in the middle of a call.
    let mut server = start(&world, "mcp", true)?;
    let id = json!(server.new_id());
    server.send(
        &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "bash", "arguments": {"command": "echo \"$SSH_ASKPASS\""},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"url": {}}},
                "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            },
        }}),
    )?;
    let (text, _) = end_of(&server, &id)?;
    assert!(text.starts_with("/usr/bin/false\n"), "{text}");
    Ok(())
}

/// A server of a client that answers `prompt` lines.
fn rpc(world: &World) -> Result<ServerClient> {
    let mut server = start(world, "rpc", true)?;
    server.send(&json!({"id": "hello", "type": "hello", "prompts": true}))?;
    server.next_where(SOON, |line| line["id"] == "hello")?;
    Ok(server)
}

/// Runs a command, and answers each of its prompts with the next of `answers`. Returns the prompts
/// and the result.
fn run(
    server: &mut ServerClient,
    command: &str,
    answers: &[Option<&str>],
) -> Result<(Vec<Value>, Value)> {
    let id = json!(server.new_id());
    server.send(&json!({"id": id, "type": "tool_call", "request": command}))?;
    let mut prompts = Vec::new();
    for answer in answers {
        let prompt = server.next_where(SOON, |line| line["type"] == "prompt")?;
        assert_eq!(prompt["id"], id);
        let own = json!(server.new_id());
        server.send(
            &json!({"id": own, "type": "prompt.answer", "prompt": prompt["prompt"], "answer": answer}),
        )?;
        let done = server.next_where(SOON, |line| line["id"] == own)?;
        ensure!(done["success"] == true, "{done}");
        prompts.push(prompt);
    }
    let answer = server.next_where(SOON, |line| line["id"] == id || line["type"] == "prompt")?;
    ensure!(answer["type"] == "response", "another prompt: {answer}");
    Ok((prompts, answer["data"].clone()))
}

/// Answers one request without credentials with 401, and returns the credentials of the next one.
fn http_with_password(listener: &TcpListener) -> Result<String> {
    loop {
        let (mut stream, _) = listener.accept()?;
        let mut bytes = Vec::new();
        while !bytes.windows(4).any(|part| part == b"\r\n\r\n") {
            let mut part = [0; 4096];
            let length = stream.read(&mut part)?;
            ensure!(length > 0, "a request that ends early");
            bytes.extend_from_slice(&part[..length]);
        }
        let head = String::from_utf8(bytes)?;
        let mut lines = head.lines();
        let found = lines.find_map(|line| line.strip_prefix("Authorization: Basic "));
        let status = if found.is_some() {
            "404 Not Found"
        } else {
            "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"r\""
        };
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )?;
        if let Some(credentials) = found {
            return Ok(credentials.to_owned());
        }
    }
}

#[test]
fn git_gets_user_name_and_password_over_rpc() -> Result<()> {
    let world = world()?;
    let mut server = rpc(&world)?;
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    let serving = thread::spawn(move || http_with_password(&listener));
    let command = format!("git ls-remote http://127.0.0.1:{port}/x.git");
    let (prompts, result) = run(&mut server, &command, &[Some("ann"), Some(SECRET)])?;
    let credentials = serving
        .join()
        .map_err(|_| anyhow::anyhow!("the HTTP server"))??;
    // "ann:correct horse battery"
    assert_eq!(credentials, "YW5uOmNvcnJlY3QgaG9yc2UgYmF0dGVyeQ==");
    let text = |prompt: &Value| prompt["text"].as_str().unwrap_or_default().to_owned();
    assert!(text(&prompts[0]).starts_with("Username for 'http://127.0.0.1:"));
    assert!(text(&prompts[1]).starts_with("Password for 'http://ann@127.0.0.1:"));
    assert!(
        prompts[0]["askers"].to_string().contains("git"),
        "{}",
        prompts[0]
    );
    assert_eq!(prompts[0]["command"], json!(command));
    assert!(!result.to_string().contains(SECRET), "{result}");
    assert!(!is_stored_in(&world.state())?);
    Ok(())
}

/// The user names the link as `pinentry-program` of gpg-agent. gpg passes the variable on.
#[test]
fn passphrase_for_gpg_agent_is_answered_by_its_pinentry_over_rpc() -> Result<()> {
    let world = world()?;
    std::os::unix::fs::symlink(
        product::agent_bash()?,
        world.cwd().join("pinentry-agent-bash"),
    )?;
    let mut server = rpc(&world)?;
    let command = "printf 'SETDESC Unlock%%0Athe key\\nSETPROMPT Passphrase:\\nGETPIN\\nGETPIN\\nBYE\\n' \
                   | ./pinentry-agent-bash --display :0";
    let (prompts, result) = run(&mut server, command, &[Some(SECRET), None])?;
    assert_eq!(prompts[0]["text"], "Unlock⏎the key⏎Passphrase:");
    let text = result["text"].as_str().context("a text")?;
    let expected = "OK agent-bash\nOK\nOK\nD ‹PROMPT_ANSWER›\nOK\nERR 83886179 ";
    assert!(text.starts_with(expected), "{text}");
    // A gpg outside of such a call gets the usual pinentry.
    world.script("pinentry", "echo usual \"$@\"\n")?;
    let mut outside = world.command(world.cwd().join("pinentry-agent-bash"));
    outside.arg("--ttyname=x");
    let ran = product::run(outside, Some(""))?;
    assert_eq!(ran.stdout, "usual --ttyname=x\n", "{ran:?}");
    Ok(())
}

#[test]
fn ssh_logs_in_with_the_passphrase_of_a_key_over_rpc() -> Result<()> {
    let world = world()?;
    let sshd = Sshd::start(&world, None)?;
    let mut keygen = world.command("ssh-keygen");
    keygen
        .args(["-q", "-p", "-P", "", "-N", SECRET, "-f"])
        .arg(world.home().join(".sshd/user"));
    let ran = product::run(keygen, None)?;
    ensure!(ran.code == 0, "ssh-keygen: {ran:?}");
    let mut server = rpc(&world)?;
    let command = "ssh -o BatchMode=no box echo in";
    let (prompts, result) = run(&mut server, command, &[Some("wrong one"), Some(SECRET)])?;
    let text = result["text"].as_str().context("a text")?;
    assert!(text.starts_with("in\n"), "{result} {}", sshd.log()?);
    let asker = prompts[0]["askers"][0].as_str().context("an asker")?;
    assert!(
        asker.starts_with("ssh ") || asker.contains("/ssh -F "),
        "{asker}"
    );
    assert!(
        prompts[1]["text"].to_string().contains("passphrase"),
        "{prompts:?}"
    );
    // The control: without an answer, the key is not used, and there is one question only.
    let (_, result) = run(&mut server, command, &[None])?;
    assert!(
        result["text"].to_string().contains("Permission denied"),
        "{result}"
    );
    Ok(())
}

#[test]
fn rpc_client_without_prompts_gets_none_and_closed_prompts_are_errors() -> Result<()> {
    let world = world()?;
    let mut server = start(&world, "rpc", true)?;
    let (_, result) = run(&mut server, "echo \"$SSH_ASKPASS\"", &[])?;
    assert_eq!(result["text"], "/usr/bin/false\n");
    server.send(&json!({"id": "a", "type": "prompt.answer", "prompt": 1, "answer": "x"}))?;
    let error = server.next_where(SOON, |line| line["id"] == "a")?;
    assert!(
        error["error"].to_string().contains("`hello` has not"),
        "{error}"
    );
    let mut server = rpc(&world)?;
    for (request, is_set) in [
        (json!({"command": "echo \"$SSH_ASKPASS\""}), true),
        (
            json!({"command": "echo \"$SSH_ASKPASS\"", "env": {"SSH_ASKPASS": "own"}}),
            false,
        ),
    ] {
        let id = json!(server.new_id());
        server.send(&json!({"id": id, "type": "tool_call", "request": request}))?;
        let answer = server.next_where(SOON, |line| line["id"] == id)?;
        let text = answer["data"]["text"].to_string();
        assert_eq!(text.contains("/agent-bash-askpass"), is_set, "{text}");
    }
    // A job outlives its call.
    let id = json!(server.new_id());
    let request = json!({"command": "echo \"$SSH_ASKPASS\"", "mode": "background"});
    server.send(&json!({"id": id, "type": "tool_call", "request": request}))?;
    let answer = server.next_where(SOON, |line| line["id"] == id)?;
    assert!(
        !answer.to_string().contains("agent-bash-askpass"),
        "{answer}"
    );
    server.send(&json!({"id": "b", "type": "prompt.answer", "prompt": 7, "answer": "x"}))?;
    let error = server.next_where(SOON, |line| line["id"] == "b")?;
    assert!(
        error["error"].to_string().contains("prompt 7 is not open"),
        "{error}"
    );
    Ok(())
}
