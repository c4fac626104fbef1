//! `check` and `explain`: with the definitions of the shell that would run the script.

use super::{SOON, answer, data, server, world};
use agent_bash_tests::poll;
use agent_bash_tests::server_client::ServerClient;
use anyhow::{Context, Result};
use serde_json::{Value, json};

/// The names of the definitions that a response lists.
fn names(response: &Value) -> Vec<&str> {
    let definitions = response["definitions"].as_array();
    let definitions = definitions.into_iter().flatten();
    definitions.filter_map(|one| one["name"].as_str()).collect()
}

#[test]
fn check_and_explain_show_the_definitions_of_file_and_git() -> Result<()> {
    let world = world()?;
    // bash expands aliases in the function's text.
    let rc = "alias g=git\nship() { g pf origin; }\n";
    std::fs::write(world.home().join(".bashrc"), rc)?;
    let config = "[alias]\n\tpf = push --force\n";
    std::fs::write(world.home().join(".gitconfig"), config)?;
    let mut server = server(&world)?;
    let checked = data(&mut server, json!({"type": "check", "command": "ship"}))?;
    assert_eq!(checked["rule"], "no_force_push", "{checked}");
    assert_eq!(names(&checked), ["ship", "pf"]);
    assert_eq!(checked["definitions"][1]["kind"], "git alias");
    let explained = data(
        &mut server,
        json!({"type": "explain", "command": "g status; ls"}),
    )?;
    assert_eq!(explained["verdict"]["verdict"], "allow", "{explained}");
    assert_eq!(names(&explained), ["g"]);
    let text = explained["text"].as_str().unwrap_or_default();
    assert!(text.contains("alias g: git"), "{text}");
    let commands = explained["commands"].as_array();
    let read = commands.into_iter().flatten();
    let read = read
        .filter(|command| command["text"] == "git status" && command["through"] == json!(["g"]));
    assert_eq!(read.count(), 1, "{explained}");
    let plain = data(
        &mut server,
        json!({"type": "check", "command": "git status"}),
    )?;
    assert_eq!((&plain["rule"], names(&plain).len()), (&Value::Null, 0));
    Ok(())
}

#[test]
fn check_and_explain_use_functions_and_directory_of_a_session() -> Result<()> {
    let world = world()?;
    std::fs::create_dir(world.home().join(".ssh"))?;
    let mut server = server(&world)?;
    let mut check = |kind: &str, command: &str, session: Value| {
        data(
            &mut server,
            json!({"type": kind, "command": command, "session": session}),
        )
    };
    for session in [json!("s"), Value::Null] {
        let checked = check("check", "publish --force", session)?;
        assert_eq!(checked["verdict"], "allow", "{checked}");
    }
    let script = "publish() { git push \"$@\"; }; cd ~";
    let call = json!({"command": script, "session": "s"});
    data(&mut server, json!({"type": "tool_call", "request": call}))?;
    let mut check = |kind: &str, command: &str, session: Value| {
        data(
            &mut server,
            json!({"type": kind, "command": command, "session": session}),
        )
    };
    let in_session = check("check", "publish --force", json!("s"))?;
    assert_eq!(in_session["rule"], "no_force_push", "{in_session}");
    assert_eq!(names(&in_session), ["publish"]);
    let elsewhere = check("check", "publish --force", Value::Null)?;
    assert_eq!(elsewhere["verdict"], "allow", "{elsewhere}");
    // The directory of the shell, not the directory of the conversation.
    let in_session = check("explain", "rm -rf .ssh", json!("s"))?;
    assert_eq!(in_session["verdict"]["verdict"], "block", "{in_session}");
    let elsewhere = check("explain", "rm -rf .ssh", Value::Null)?;
    assert_eq!(elsewhere["verdict"]["verdict"], "allow", "{elsewhere}");
    let call = json!({"command": "rm -rf .ssh", "session": "s"});
    let refused = data(&mut server, json!({"type": "tool_call", "request": call}))?;
    assert_eq!(refused["status"]["kind"], "blocked", "{refused}");
    assert!(world.home().join(".ssh").exists());
    // A shell that expands aliases, with an alias of the script.
    let call = json!({"command": "shopt -s expand_aliases", "session": "t"});
    data(&mut server, json!({"type": "tool_call", "request": call}))?;
    for (session, verdict) in [("t", "block"), ("s", "allow")] {
        let script = "alias g=git\ng push --force";
        let checked = json!({"type": "check", "command": script, "session": session});
        let checked = data(&mut server, checked)?;
        assert_eq!(checked["verdict"], verdict, "{checked}");
    }
    // The shell of the user's own commands.
    let own = json!({"type": "bash", "command": "upload() { git push \"$@\"; }"});
    data(&mut server, own)?;
    let checked = json!({"type": "check", "command": "upload --force", "session": "!"});
    let checked = data(&mut server, checked)?;
    assert_eq!(checked["rule"], "no_force_push", "{checked}");
    Ok(())
}

/// Returns the responses with these ids, which arrive in any order.
pub(super) fn answers<const N: usize>(server: &ServerClient, ids: [&str; N]) -> Result<[Value; N]> {
    let mut answers = ids.map(|_| Value::Null);
    while answers.contains(&Value::Null) {
        let line = server.next(SOON)?;
        let at = ids.iter().position(|id| line["id"] == *id);
        if let Some(at) = at {
            answers[at] = line;
        }
    }
    Ok(answers)
}

/// Requests that are sent while a call of their session runs.
#[test]
fn calls_and_checks_are_decided_after_the_earlier_calls_of_their_session() -> Result<()> {
    let world = world()?;
    std::fs::create_dir(world.home().join(".ssh"))?;
    std::fs::create_dir(world.cwd().join(".ssh"))?;
    let mut server = server(&world)?;
    let first = "shopt -s expand_aliases; until [ -e go ]; do sleep 0.02; done; \
                 cd ~; alias g=git; publish() { git push \"$@\"; }";
    let call = |id: &str, mut request: Value| {
        request["session"] = json!("s");
        json!({"id": id, "type": "tool_call", "request": request})
    };
    let check = |id: &str, kind: &str, command: &str| json!({"id": id, "type": kind, "command": command, "session": "s"});
    for request in [
        call("first", json!({"command": first})),
        call("cancelled", json!({"command": "echo cancelled"})),
        check("uncheckable", "check", "true"),
        call("directory", json!({"command": "rm -rf .ssh"})),
        call("function", json!({"command": "publish --force"})),
        call("alias", json!({"command": "g push --force"})),
        check("check", "check", "publish --force"),
        check("explain", "explain", "rm -rf .ssh"),
        json!({"id": "now", "type": "check", "command": "rm -rf .ssh"}),
    ] {
        server.send(&request)?;
    }
    // These do not wait: a check without a session, a call without one, and cancelled requests.
    let now = answer(&server, &json!("now"))?;
    assert_eq!(now["data"]["verdict"], "allow", "{now}");
    let isolated =
        json!({"type": "tool_call", "request": {"command": "[ ! -e go ] && echo isolated"}});
    let isolated = data(&mut server, isolated)?;
    assert_eq!(isolated["text"], "isolated\n", "{isolated}");
    for id in ["cancelled", "uncheckable"] {
        server.send(&json!({"type": "cancel", "target": id}))?;
    }
    let ended = answers(&server, ["cancelled", "uncheckable"])?;
    let [cancelled, uncheckable] = &ended;
    let status = &cancelled["data"]["status"]["kind"];
    assert_eq!(status, "cancelled", "{cancelled}");
    assert_eq!(uncheckable["success"], false, "{uncheckable}");
    std::fs::write(world.cwd().join("go"), "")?;
    let [first, refused @ .., check, explain] = answers(
        &server,
        [
            "first", "directory", "function", "alias", "check", "explain",
        ],
    )?;
    assert_eq!(first["data"]["status"]["code"], 0, "{first}");
    for refused in refused {
        assert_eq!(refused["data"]["status"]["kind"], "blocked", "{refused}");
    }
    assert!(world.home().join(".ssh").exists());
    assert_eq!(check["data"]["rule"], "no_force_push", "{check}");
    let verdict = &explain["data"]["verdict"]["verdict"];
    assert_eq!(verdict, "block", "{explain}");
    // The directory of the request counts, not the directory of the shell.
    let cwd = world.cwd().to_str().context("a path in UTF-8")?.to_owned();
    let request = json!({"command": "rm -rf .ssh", "session": "s", "cwd": cwd});
    let removed = data(
        &mut server,
        json!({"type": "tool_call", "request": request}),
    )?;
    assert_eq!(removed["status"]["code"], 0, "{removed}");
    assert!(!world.cwd().join(".ssh").exists());
    assert!(server.end()?.status.success());
    world.assert_nothing_left(SOON);
    Ok(())
}

/// A session is reset while one call runs in its shell and another one waits.
#[test]
fn waiting_call_is_checked_for_the_new_shell_of_a_reset_session() -> Result<()> {
    let world = world()?;
    std::fs::create_dir(world.home().join(".ssh"))?;
    let mut server = server(&world)?;
    let call = |id: &str, command: &str| {
        let request = json!({"command": command, "session": "s"});
        json!({"id": id, "type": "tool_call", "request": request})
    };
    server.send(&call(
        "running",
        "touch started; until [ -e go ]; do sleep 0.02; done",
    ))?;
    poll::exists(&world.cwd().join("started"), SOON)?;
    for request in [
        call("waiting", "pwd; rm -rf .ssh"),
        json!({"id": "reset", "type": "session.reset", "session": "s"}),
        call("moving", "cd ~"),
        call("later", "rm -rf .ssh"),
    ] {
        server.send(&request)?;
    }
    // The call in the discarded shell still runs.
    let [waiting, reset, moving, later] =
        answers(&server, ["waiting", "reset", "moving", "later"])?;
    assert_eq!(reset["data"]["reset"], true, "{reset}");
    let cwd = format!("{}\n", world.cwd().display());
    assert_eq!(waiting["data"]["text"], cwd, "{waiting}");
    assert_eq!(moving["data"]["status"]["code"], 0, "{moving}");
    assert_eq!(later["data"]["status"]["kind"], "blocked", "{later}");
    assert!(world.home().join(".ssh").exists());
    std::fs::write(world.cwd().join("go"), "")?;
    let running = answer(&server, &json!("running"))?;
    assert_eq!(running["data"]["status"]["code"], 0, "{running}");
    assert!(server.end()?.status.success());
    world.assert_nothing_left(SOON);
    Ok(())
}
