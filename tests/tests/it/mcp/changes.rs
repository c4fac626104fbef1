//! `bash_changes`, and change sets as resources.

use super::{SOON, ask, call, server, text, world};
use agent_bash_tests::conformance::shake_hands;
use agent_bash_tests::product;
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::fs;

/// A server in a repository, with this environment.
fn server_with(world: &World, environment: &[(&str, &str)]) -> Result<ServerClient> {
    fs::create_dir_all(world.cwd().join(".git"))?;
    let mut command = world.command(product::agent_bash()?);
    command.arg("mcp").envs(environment.iter().copied());
    let mut server = ServerClient::start(command)?;
    shake_hands(&mut server)?;
    Ok(server)
}

fn changes(server: &mut ServerClient, arguments: &Value) -> Result<Value> {
    call(server, "bash_changes", arguments)
}

fn uris(server: &mut ServerClient) -> Result<Vec<String>> {
    let listed = ask(server, "resources/list", &json!({}))?;
    let listed = listed["result"]["resources"]
        .as_array()
        .context("resources")?
        .iter();
    let uris = listed.filter_map(|one| one["uri"].as_str());
    Ok(uris.map(str::to_owned).collect())
}

#[test]
fn model_lists_and_undoes_changes_of_a_call() -> Result<()> {
    let world = world()?;
    fs::create_dir_all(world.cwd().join(".git"))?;
    fs::write(world.cwd().join("old"), "old\n")?;
    fs::write(world.cwd().join("kept"), "a\n")?;
    let mut server = server(&world, "50s")?;
    let ran = call(
        &mut server,
        "bash",
        &json!({"command": "rm old; echo b >> kept"}),
    )?;
    assert_eq!(
        text(&ran),
        "(no output)\n\n[Files: 1 deleted, 1 changed: old (deleted), kept changes://1]"
    );
    call(&mut server, "bash", &json!({"command": "true"}))?;
    let list = changes(&mut server, &json!({"action": "list"}))?;
    assert_eq!(
        text(&list),
        "1  done  1 changed, 1 deleted  rm old; echo b >> kept\n"
    );
    let show = changes(&mut server, &json!({"action": "show", "id": "1"}))?;
    assert!(text(&show).contains("  deleted   old\n"), "{show}");
    assert_eq!(show["structuredContent"]["changes"]["counts"]["deleted"], 1);
    assert_eq!(uris(&mut server)?, ["changes://1"]);
    let read = ask(
        &mut server,
        "resources/read",
        &json!({"uri": "changes://1"}),
    )?;
    assert_eq!(read["result"]["contents"][0]["text"], text(&show));
    let diff = json!({"action": "diff", "id": "changes://1", "paths": ["kept"]});
    let diff = changes(&mut server, &diff)?;
    assert_eq!(
        text(&diff),
        "--- a/kept\n+++ b/kept\n@@ -1 +1,2 @@\n a\n+b\n"
    );

    // Another process has saved one of the files: the file is named, and nothing changes.
    fs::write(world.cwd().join("kept"), "somebody's\n")?;
    let refused = changes(&mut server, &json!({"action": "undo", "id": 1}))?;
    assert_eq!(refused["isError"], true);
    assert_eq!(
        text(&refused),
        "[Not undone: kept was changed since. The other one can be undone alone.]"
    );
    assert_eq!(refused["structuredContent"]["conflicts"][0]["path"], "kept");
    assert!(!world.cwd().join("old").exists());
    let partly = json!({"action": "undo", "id": 1, "partial": true});
    let partly = changes(&mut server, &partly)?;
    assert_eq!(
        text(&partly),
        "[Undone: 1 file as before call 1.]\nleft as it is, as it was changed since: kept"
    );
    assert_eq!(fs::read_to_string(world.cwd().join("old"))?, "old\n");
    assert_eq!(
        fs::read_to_string(world.cwd().join("kept"))?,
        "somebody's\n"
    );
    let again = changes(&mut server, &json!({"action": "redo", "id": 1}))?;
    assert_eq!(text(&again), "[Done again: 1 file as after call 1.]");
    assert!(!world.cwd().join("old").exists());
    for (wrong, printed) in [
        (json!({"action": "show"}), "`id` is missing"),
        (json!({"action": "show", "id": "x"}), "named by its number"),
        (
            json!({"action": "show", "id": 77}),
            "changes 77 do not exist",
        ),
        (
            json!({"action": "show", "id": 1, "paths": ["a"]}),
            "leave them out",
        ),
        (
            json!({"action": "diff", "id": 1, "paths": ["a"]}),
            "did nothing to `a`",
        ),
    ] {
        let answer = changes(&mut server, &wrong)?;
        assert_eq!(answer["isError"], true, "{answer}");
        assert!(text(&answer).contains(printed), "{answer}");
    }
    assert!(server.end()?.status.success());
    world.assert_nothing_left(SOON);
    Ok(())
}

/// A call may commit a trial of another call if the setting lets the model; otherwise nothing
/// changes.
#[test]
fn model_commits_a_trial_only_if_the_setting_allows_it() -> Result<()> {
    for (by, refusal) in [
        ("model", None),
        ("ask", Some("no approver is available here")),
        ("user", Some("can be committed by the user")),
    ] {
        let world = world()?;
        let mut server = server_with(&world, &[("AGENT_BASH_CHANGES_COMMIT", by)])?;
        let trial = json!({"command": "echo new > new", "trial": true});
        let held = call(&mut server, "bash", &trial)?;
        assert!(text(&held).contains("[Trial 1: nothing applied yet."));
        let answer = changes(&mut server, &json!({"action": "commit", "id": 1}))?;
        assert_eq!(world.cwd().join("new").exists(), refusal.is_none(), "{by}");
        match refusal {
            None => assert_eq!(text(&answer), "[Trial 1 applied: 1 created.]"),
            Some(why) => {
                assert_eq!(answer["isError"], true);
                let printed = text(&answer);
                assert!(printed.contains(why), "{printed}");
                assert!(printed.contains("The user can commit trial 1 of the conversation mcp-"));
                // A model would run a command that the refusal shows.
                assert!(!printed.contains("commit 1"), "{printed}");
                // A discard needs no permission to commit.
                let gone = changes(&mut server, &json!({"action": "discard", "id": 1}))?;
                assert!(text(&gone).contains("its changes are discarded"), "{gone}");
            }
        }
        assert!(server.end()?.status.success());
    }
    Ok(())
}

/// A server whose client declares whether it can ask its user.
fn server_of(world: &World, capabilities: &Value) -> Result<ServerClient> {
    fs::create_dir_all(world.cwd().join(".git"))?;
    let mut command = world.command(product::agent_bash()?);
    command.arg("mcp");
    let mut server = ServerClient::start(command)?;
    server.send(&json!({
        "jsonrpc": "2.0", "id": "hello", "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        },
    }))?;
    server.next_where(SOON, |line| line["id"] == "hello")?;
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
    Ok(server)
}

/// `changes.commit` is `ask` by default: the client's user is asked, if the client can.
#[test]
fn commit_by_the_model_asks_the_user() -> Result<()> {
    let form = json!({"elicitation": {"form": {}}});
    let forms = json!({"elicitation": {}});
    let links = json!({"elicitation": {"url": {}}});
    for (capabilities, answer, expect) in [
        (
            &form,
            Some(json!({"action": "accept", "content": {}})),
            None,
        ),
        (&forms, Some(json!({"action": "accept"})), None),
        (
            &form,
            Some(json!({"action": "decline"})),
            Some("the user was asked, and declined committing it"),
        ),
        (
            &form,
            Some(json!({"action": "cancel"})),
            Some("gave no answer"),
        ),
        (&links, None, Some("no approver is available here")),
        (&json!({}), None, Some("no approver is available here")),
    ] {
        let world = world()?;
        fs::write(world.cwd().join("old"), "old\n")?;
        let mut server = server_of(&world, capabilities)?;
        let command = "echo new > $'new\\e[2J'; rm old";
        let trial = json!({"command": command, "trial": true});
        let held = call(&mut server, "bash", &trial)?;
        assert!(
            text(&held).contains("[Trial 1: nothing applied yet."),
            "{held}"
        );
        let commit = json!({"name": "bash_changes", "arguments": {"action": "commit", "id": 1}});
        server.send(
            &json!({"jsonrpc": "2.0", "id": "commit", "method": "tools/call", "params": commit}),
        )?;
        if let Some(answer) = answer {
            let request = server.next_where(SOON, |line| line["method"] == "elicitation/create")?;
            let message = request["params"]["message"].as_str().unwrap_or_default();
            let expected = format!(
                "Apply what trial 1 held back to {}? 1 created, 1 deleted:\ndeleted old\ncreated new<U+001B>[2J",
                world.cwd().canonicalize()?.display()
            );
            assert_eq!(message, expected);
            assert_eq!(request["params"]["requestedSchema"]["type"], "object");
            // Nothing changes before the answer.
            assert!(world.cwd().join("old").exists());
            server.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": answer}))?;
        }
        let done = server.next_where(SOON, |line| line["id"] == "commit")?;
        let done = &done["result"];
        assert_eq!(world.cwd().join("old").exists(), expect.is_some(), "{done}");
        match expect {
            None => assert_eq!(text(done), "[Trial 1 applied: 1 created, 1 deleted.]"),
            Some(why) => {
                assert!(text(done).contains(why), "{done}");
                assert!(
                    text(done).contains("The user can commit trial 1 of the conversation mcp-")
                );
            }
        }
        assert!(server.end()?.status.success());
    }
    Ok(())
}

/// A refused command can be tried if the host lets trials pass: the kernel holds its changes back.
#[test]
fn refusal_offers_a_trial_if_one_can_run() -> Result<()> {
    for passes in ["true", "false"] {
        let world = world()?;
        let mut server = server_with(&world, &[("AGENT_BASH_CHANGES_TRIAL_PASSES_RULES", passes)])?;
        let tools = ask(&mut server, "tools/list", &json!({}))?;
        let fields = &tools["result"]["tools"][0]["inputSchema"]["properties"];
        assert_eq!(fields["trial"]["enum"], json!([true, "atomic"]), "{tools}");
        let command = "rm -rf .git";
        let refused = call(&mut server, "bash", &json!({ "command": command }))?;
        let offer = "\nOr see what it would do: {\"trial\": true}\n";
        assert_eq!(
            text(&refused).contains(offer),
            passes == "true",
            "{refused}"
        );
        let tried = json!({"command": format!("{command} && ls -A"), "trial": true});
        let tried = call(&mut server, "bash", &tried)?;
        assert!(world.cwd().join(".git").exists());
        if passes == "true" {
            let held = "(no output)\n\n[Trial 1: nothing applied yet. 1 deleted: .git. Details: changes://1]";
            assert_eq!(text(&tried), held);
        } else {
            assert!(text(&tried).starts_with("Blocked: "), "{tried}");
        }
        assert!(server.end()?.status.success());
        world.assert_nothing_left(SOON);
    }
    Ok(())
}

#[test]
fn changes_tool_is_absent_without_recording() -> Result<()> {
    let world = world()?;
    let mut server = server_with(&world, &[("AGENT_BASH_CHANGES_LEVEL", "off")])?;
    let tools = ask(&mut server, "tools/list", &json!({}))?;
    assert!(!tools.to_string().contains("bash_changes"), "{tools}");
    assert!(!tools.to_string().contains("\"trial\""), "{tools}");
    let params = json!({"name": "bash_changes", "arguments": {"action": "list"}});
    let answer = ask(&mut server, "tools/call", &params)?;
    let error = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(error.starts_with("there is no tool `bash_changes`"));
    let templates = ask(&mut server, "resources/templates/list", &json!({}))?;
    assert!(!templates.to_string().contains("changes://"), "{templates}");
    Ok(())
}

/// For programs: the change sets as data, in the form of `changes.list` over RPC and `changes list
/// --json` in a terminal.
#[test]
fn change_sets_are_available_as_structured_data() -> Result<()> {
    let world = world()?;
    let mut server = server_with(&world, &[("AGENT_BASH_MCP_STRUCTURED", "on")])?;
    for command in ["echo a > one", "echo b > two; rm one"] {
        call(&mut server, "bash", &json!({ "command": command }))?;
    }
    changes(&mut server, &json!({"action": "undo", "id": 2}))?;
    let listed = changes(&mut server, &json!({"action": "list"}))?;
    let sets = listed["structuredContent"]["sets"]
        .as_array()
        .with_context(|| listed.to_string())?;
    // The newest first.
    let of = |set: &Value| {
        let changes = &set["changes"];
        let counts = ["created", "deleted"].map(|key| changes["counts"][key].clone());
        json!([changes["id"], changes["state"], counts, set["undoes"]])
    };
    let answer: Vec<Value> = sets.iter().map(of).collect();
    assert_eq!(
        answer,
        [
            json!(["3", "done", [1, 1], "2"]),
            json!(["2", "undone", [1, 1], null]),
            json!(["1", "done", [1, 0], null]),
        ]
    );
    assert!(server.end()?.status.success());
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the file system's time has to pass"
)]
#[test]
fn model_undoes_and_redoes_a_turn_as_one() -> Result<()> {
    let world = world()?;
    let mut server = server_with(&world, &[])?;
    for (turn, script) in [
        ("t1", "echo 1 >> new"),
        ("t2", "echo 2 >> new"),
        ("t2", "echo 3 >> b"),
    ] {
        std::thread::sleep(std::time::Duration::from_millis(20));
        let params = json!({
            "name": "bash", "arguments": {"command": script}, "_meta": {"agent-bash/turn": turn}
        });
        ask(&mut server, "tools/call", &params)?;
    }
    let list = changes(&mut server, &json!({"action": "list"}))?;
    assert!(text(&list).contains("1 created; turn t2"), "{list}");
    let undone = changes(&mut server, &json!({"action": "undo", "turn": "last"}))?;
    assert_eq!(text(&undone), "[Undone: turn t2, 2 files of changes 3, 2.]");
    assert_eq!(fs::read_to_string(world.cwd().join("new"))?, "1\n");
    let redone = changes(&mut server, &json!({"action": "redo", "since": 2}))?;
    assert_eq!(text(&redone), "[Done again: 2 files of changes 2, 3.]");
    fs::write(world.cwd().join("b"), "theirs")?;
    let refused = changes(&mut server, &json!({"action": "undo", "since": "10m"}))?;
    assert_eq!(
        text(&refused),
        "[Nothing was undone. In the way:]\nchanges 3: b was changed since"
    );
    let usage = changes(
        &mut server,
        &json!({"action": "undo", "since": "1", "id": 1}),
    )?;
    assert_eq!(
        text(&usage),
        "`since` and `turn` are for `undo` and `redo`, without `id` and `paths`"
    );
    Ok(())
}

/// Tells the hook of Kimi Code that the user has typed a prompt. The calling program, as of the
/// server, is this test.
fn prompt_by_hook(world: &World) -> Result<()> {
    let mut command = world.command(product::agent_bash()?);
    command.args(["hook", "kimi"]);
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "cwd": world.cwd(), "prompt": "x"});
    let ran = product::run(command, Some(&prompt.to_string()))?;
    assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (0, "", ""));
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the file system's time has to pass"
)]
#[test]
fn calls_belong_to_the_prompts_that_the_agent_reports() -> Result<()> {
    let world = world()?;
    let mut server = server_with(&world, &[("AGENT_BASH_MCP_STRUCTURED", "on")])?;
    let mut run = |script: &str, meta: Value| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        let params = json!({"name": "bash", "arguments": {"command": script}, "_meta": meta});
        ask(&mut server, "tools/call", &params)
    };
    run("echo 0 > none", json!({}))?;
    prompt_by_hook(&world)?;
    run("echo 1 > first", json!({}))?;
    run("echo 2 > second", json!({}))?;
    prompt_by_hook(&world)?;
    run("echo 3 > third", json!({}))?;
    // As Codex names its prompts.
    let codex = json!({"x-codex-turn-metadata": {"turn_id": "01a2-9b"}});
    run("echo 4 > fourth", codex.clone())?;
    run("echo 5 > fifth", codex)?;
    let list = changes(&mut server, &json!({"action": "list"}))?;
    let turns = list["structuredContent"]["sets"].as_array();
    let turns = turns.with_context(|| list.to_string())?.iter();
    let turns: Vec<&Value> = turns.map(|set| &set["turn"]).collect();
    assert_eq!(
        json!(turns),
        json!(["3", "3", "2", "1", "1", null]),
        "{list}"
    );
    let undone = changes(&mut server, &json!({"action": "undo", "turn": "1"}))?;
    assert_eq!(text(&undone), "[Undone: turn 1, 2 files of changes 3, 2.]");
    assert!(!world.cwd().join("second").exists() && world.cwd().join("third").exists());
    assert!(server.end()?.status.success());
    Ok(())
}
