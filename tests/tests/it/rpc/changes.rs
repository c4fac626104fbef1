//! `changes.*`: the change sets of calls, for programs.

use super::{SOON, ask, data, world};
use agent_bash_tests::poll::until;
use agent_bash_tests::product;
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use anyhow::Result;
use serde_json::{Value, json};
use std::fs;

/// A server in a repository with a file.
fn server(world: &World, commit: &str) -> Result<ServerClient> {
    fs::create_dir_all(world.cwd().join(".git"))?;
    fs::write(world.cwd().join("old"), "old\n")?;
    let mut command = world.command(product::agent_bash()?);
    command.arg("rpc").env("AGENT_BASH_CHANGES_COMMIT", commit);
    ServerClient::start(command)
}

fn run(server: &mut ServerClient, request: &Value) -> Result<Value> {
    data(server, json!({"type": "tool_call", "request": request}))
}

#[test]
fn changes_of_a_call_are_listed_previewed_undone_and_redone() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "ask")?;
    run(&mut server, &json!("rm old; echo new > new"))?;
    let list = data(&mut server, json!({"type": "changes.list"}))?;
    assert_eq!(list["sets"][0]["changes"]["id"], "1", "{list}");
    let show = data(&mut server, json!({"type": "changes.show", "changes": 1}))?;
    assert_eq!(show["files"].as_array().map(Vec::len), Some(2), "{show}");
    let diff = json!({"type": "changes.diff", "changes": "changes://1", "paths": ["new"]});
    let diff = data(&mut server, diff)?;
    assert_eq!(
        diff["files"][0]["diff"],
        "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+new\n"
    );
    let preview = data(
        &mut server,
        json!({"type": "changes.preview", "changes": "1"}),
    )?;
    assert_eq!(preview["conflicts"], json!([]));
    assert_eq!(
        (&preview["counts"]["created"], &preview["counts"]["deleted"]),
        (&json!(1), &json!(1))
    );
    assert!(!world.cwd().join("old").exists(), "a preview does nothing");
    let undone = data(&mut server, json!({"type": "changes.undo", "changes": "1"}))?;
    assert_eq!(undone["text"], "[Undone: 2 files as before call 1.]");
    assert!(world.cwd().join("old").exists() && !world.cwd().join("new").exists());
    data(&mut server, json!({"type": "changes.redo", "changes": "1"}))?;
    assert!(!world.cwd().join("old").exists());

    fs::write(world.cwd().join("new"), "somebody's\n")?;
    let refused = ask(&mut server, json!({"type": "changes.undo", "changes": "1"}))?;
    assert_eq!(refused["code"], "conflict", "{refused}");
    assert_eq!(
        refused["error"],
        "[Not undone: new was changed since. The other one can be undone alone.]"
    );
    let preview = data(
        &mut server,
        json!({"type": "changes.preview", "changes": "1"}),
    )?;
    assert_eq!(preview["conflicts"][0]["path"], "new");
    assert!(!world.cwd().join("old").exists());
    let unknown = ask(&mut server, json!({"type": "changes.show", "changes": "x"}))?;
    assert!(unknown["error"].to_string().contains("named by its number"));
    assert!(server.end()?.status.success());
    world.assert_nothing_left(SOON);
    Ok(())
}

/// The change set of a background process names the call that left it running.
#[test]
fn change_set_of_background_process_names_its_call() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "ask")?;
    run(
        &mut server,
        &json!(
            "rm old; setsid sh -c 'until [ -e ../go ]; do sleep 0.02; done; echo x > late' > /dev/null 2>&1 &"
        ),
    )?;
    fs::write(world.cwd().join("../go"), "")?;
    let late = || {
        let list = data(&mut server, json!({"type": "changes.list"})).ok()?;
        (list["sets"][1]["after"] == "1" && list["sets"][0]["after"].is_null()).then_some(())
    };
    assert!(until(SOON, late).is_some(), "no set says so");
    assert!(server.end()?.status.success());
    Ok(())
}

/// In one shell: a process of the first call writes during the second call.
#[test]
fn change_set_excludes_background_processes_of_earlier_calls() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "ask")?;
    let mut call = |command: &str| run(&mut server, &json!({"command": command, "session": "a"}));
    call("(until [ -e ../go ]; do sleep 0.02; done; echo S > surv) > /dev/null 2>&1 &")?;
    let innocent = call("touch ../go; until [ -e surv ]; do sleep 0.02; done; echo mine > own")?;
    let counts = &innocent["changes"]["counts"];
    assert_eq!(
        (&counts["created"], &innocent["changes"]["files"][0]["path"]),
        (&json!(1), &json!("own"))
    );
    let after = || {
        let list = data(&mut server, json!({"type": "changes.list"})).ok()?;
        let sets = list["sets"].as_array()?;
        let late = sets
            .iter()
            .find(|set| set["changes"]["files"][0]["path"] == "surv")?;
        (late["after"] == "1" && late["maybe_earlier"].is_null()).then_some(())
    };
    assert!(until(SOON, after).is_some(), "no set says so");
    assert!(server.end()?.status.success());
    // The first call has no change set, as it changed nothing: its command comes from the journal.
    let printed = |words: &[&str]| -> Result<String> {
        let mut command = world.command(product::agent_bash()?);
        Ok(String::from_utf8(command.args(words).output()?.stdout)?)
    };
    let record: Value = serde_json::from_str(&printed(&["log", "--list", "--json"])?)?;
    let session = record["session"].as_str().unwrap_or_default();
    let list = printed(&["changes", "list", "--state", session])?;
    let late = list.lines().find(|line| line.contains("after 1"));
    assert!(
        late.is_some_and(|line| line.contains("(until [ -e ../go ]")),
        "{list}"
    );
    let id = late
        .and_then(|line| line.split_whitespace().next())
        .unwrap_or_default();
    let show = printed(&["changes", "show", id, "--state", session])?;
    assert!(
        show.contains("of: background processes of: (until [ -e ../go ]"),
        "{show}"
    );
    Ok(())
}

/// The client's commits need no permission; the setting decides about those for a model.
#[test]
fn trial_is_committed_by_client_and_by_permitted_model() -> Result<()> {
    for (commit, for_model, is_done) in [
        ("user", false, true),
        ("user", true, false),
        ("ask", true, false),
        ("model", true, true),
    ] {
        let world = world()?;
        let mut server = server(&world, commit)?;
        let held = run(&mut server, &json!({"command": "rm old", "trial": true}))?;
        assert_eq!(held["changes"]["state"], "held", "{held}");
        let request = json!({"type": "changes.commit", "changes": "1", "for_model": for_model});
        let answer = ask(&mut server, request)?;
        assert_eq!(answer["success"], is_done, "{answer}");
        assert_eq!(world.cwd().join("old").exists(), !is_done, "{answer}");
        if !is_done {
            assert_eq!(answer["code"], "permission_denied");
        }
        assert!(server.end()?.status.success());
    }
    Ok(())
}

/// All changes of a turn, and since a number, are previewed, undone and redone as one.
#[expect(
    clippy::disallowed_methods,
    reason = "the file system's time has to pass"
)]
#[test]
fn turn_is_previewed_undone_and_redone_as_one() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "ask")?;
    let call = |server: &mut ServerClient, turn: &str, script: &str| {
        let call = json!({"type": "tool_call", "request": script, "turn": turn});
        data(server, call)
    };
    call(&mut server, "first", "echo 1 >> new")?;
    std::thread::sleep(std::time::Duration::from_millis(20));
    call(&mut server, "second", "echo 2 >> new; echo 2 > other")?;
    call(&mut server, "second", "rm old; echo 3 >> new")?;
    let text = |name: &str| fs::read_to_string(world.cwd().join(name)).ok();
    let list = data(&mut server, json!({"type": "changes.list"}))?;
    let turns: Vec<&Value> = [0, 1, 2].map(|at| &list["sets"][at]["turn"]).to_vec();
    assert_eq!(turns, ["first", "second", "second"], "{list}");
    let preview = json!({"type": "changes.preview_all", "turn": "last"});
    let preview = data(&mut server, preview)?;
    assert_eq!(preview["turn"], "second");
    assert_eq!(
        (&preview["sets"][0]["id"], &preview["sets"][1]["id"]),
        (&json!("3"), &json!("2"))
    );
    assert_eq!(preview["blocked"], json!([]));
    assert_eq!(
        text("new").as_deref(),
        Some("1\n2\n3\n"),
        "a preview does nothing"
    );
    let undone = data(
        &mut server,
        json!({"type": "changes.undo_all", "turn": "last"}),
    )?;
    assert_eq!(
        undone["text"],
        "[Undone: turn second, 3 files of changes 3, 2.]"
    );
    assert_eq!(undone["sets"], json!(["3", "2"]));
    assert_eq!(text("new").as_deref(), Some("1\n"));
    assert!(text("old").is_some() && text("other").is_none());
    data(&mut server, json!({"type": "changes.redo_all", "since": 2}))?;
    assert_eq!(text("new").as_deref(), Some("1\n2\n3\n"));
    fs::write(world.cwd().join("other"), "theirs\n")?;
    let refused = ask(
        &mut server,
        json!({"type": "changes.undo_all", "since": "10m"}),
    )?;
    assert_eq!(refused["code"], "conflict", "{refused}");
    assert_eq!(
        refused["error"],
        "[Nothing was undone. In the way:]\nchanges 2: other was changed since"
    );
    assert_eq!(text("new").as_deref(), Some("1\n2\n3\n"));
    let partial = json!({"type": "changes.undo_all", "since": "10m", "partial": true});
    data(&mut server, partial)?;
    assert_eq!(
        (text("new"), text("other").as_deref()),
        (None, Some("theirs\n"))
    );
    for bad in [
        json!({}),
        json!({"since": 1, "turn": "last"}),
        json!({"since": "soon"}),
    ] {
        let mut request = bad.clone();
        request["type"] = json!("changes.undo_all");
        let refused = ask(&mut server, request)?;
        assert_eq!(refused["success"], false, "{bad}");
    }
    Ok(())
}

/// If each file of a change set was changed since, the change set is skipped: the text names its
/// file, and not the change set as undone.
#[test]
fn partial_undo_of_all_names_files_of_skipped_change_sets() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "ask")?;
    for name in ["a", "b", "c"] {
        run(&mut server, &json!(format!("echo {name} > {name}")))?;
    }
    fs::write(world.cwd().join("b"), "theirs\n")?;
    let partial = json!({"type": "changes.undo_all", "since": 1, "partial": true});
    let undone = data(&mut server, partial)?;
    assert_eq!(
        undone["text"],
        "[Undone: 2 files of changes 3, 1.]\nleft as it is, as it was changed since: b"
    );
    assert_eq!(undone["sets"], json!(["3", "1"]));
    let exists = |name: &str| world.cwd().join(name).exists();
    assert!(!exists("a") && exists("b") && !exists("c"));
    Ok(())
}
