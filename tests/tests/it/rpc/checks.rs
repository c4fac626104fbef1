//! `check` and `explain`: with the definitions of the shell that would run the script.

use super::{data, server, world};
use anyhow::Result;
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
    let mut asked = |kind: &str, command: &str, session: Value| {
        data(
            &mut server,
            json!({"type": kind, "command": command, "session": session}),
        )
    };
    for session in [json!("s"), Value::Null] {
        let checked = asked("check", "publish --force", session)?;
        assert_eq!(checked["verdict"], "allow", "{checked}");
    }
    let script = "publish() { git push \"$@\"; }; cd ~";
    let call = json!({"command": script, "session": "s"});
    data(&mut server, json!({"type": "tool_call", "request": call}))?;
    let mut asked = |kind: &str, command: &str, session: Value| {
        data(
            &mut server,
            json!({"type": kind, "command": command, "session": session}),
        )
    };
    let in_session = asked("check", "publish --force", json!("s"))?;
    assert_eq!(in_session["rule"], "no_force_push", "{in_session}");
    assert_eq!(names(&in_session), ["publish"]);
    let elsewhere = asked("check", "publish --force", Value::Null)?;
    assert_eq!(elsewhere["verdict"], "allow", "{elsewhere}");
    // The directory of the shell, not the directory of the conversation.
    let in_session = asked("explain", "rm -rf .ssh", json!("s"))?;
    assert_eq!(in_session["verdict"]["verdict"], "block", "{in_session}");
    let elsewhere = asked("explain", "rm -rf .ssh", Value::Null)?;
    assert_eq!(elsewhere["verdict"]["verdict"], "allow", "{elsewhere}");
    let call = json!({"command": "rm -rf .ssh", "session": "s"});
    let refused = data(&mut server, json!({"type": "tool_call", "request": call}))?;
    assert_eq!(refused["status"]["kind"], "blocked", "{refused}");
    assert!(world.home().join(".ssh").exists());
    Ok(())
}
