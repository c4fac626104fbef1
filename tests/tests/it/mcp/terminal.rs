//! Calls with `pty: true`: the model reads the screen, types, and presses keys.

use super::{SOON, call, server, text, world};
use agent_bash_tests::server_client::ServerClient;
use anyhow::{Result, ensure};
use serde_json::{Value, json};

/// Waits until a line of the screen matches, and returns the answer.
fn shown(server: &mut ServerClient, line: &str) -> Result<Value> {
    let arguments = json!({"job": "call-1", "until": {"line": line}, "wait": 50});
    let answer = call(server, "bash_output", &arguments)?;
    ensure!(
        text(&answer).contains("Waited until a line matches"),
        "{answer}"
    );
    Ok(answer)
}

#[test]
fn prompt_is_answered_with_text_and_keys() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "0")?;
    let script = r#"read -rp 'Name: ' name; echo "Hello $name"
        read -rsn1 -p 'Key? ' key; printf 'got %q\n' "$key"; stty size
        echo "yes=${npm_config_yes-unset} pager=${PAGER-unset} term=$TERM"
        read -rp 'Interrupt me'"#;
    let arguments = json!({"command": script, "pty": true, "size": "60x12"});
    call(&mut server, "bash", &arguments)?;
    let prompt = shown(&mut server, "^Name:")?;
    ensure!(
        text(&prompt).contains("call-1 runs on a terminal of 60x12, cursor in row 1, column 7."),
        "{prompt}"
    );
    // A key that does not exist: nothing is typed.
    let typo = json!({"job": "call-1", "text": "Bob", "keys": ["Entr"]});
    let refused = call(&mut server, "bash_input", &typo)?;
    ensure!(refused["isError"] == true, "{refused}");
    ensure!(
        text(&refused).starts_with("\"Entr\" names no key"),
        "{refused}"
    );
    call(
        &mut server,
        "bash_input",
        &json!({"job": "call-1", "text": "Ann\n"}),
    )?;
    let hello = shown(&mut server, "^Key")?;
    ensure!(
        text(&hello).starts_with("Name: Ann\nHello Ann\nKey?"),
        "{hello}"
    );
    let resized = json!({"job": "call-1", "size": "70x20", "keys": ["C-a"]});
    call(&mut server, "bash_input", &resized)?;
    let more = shown(&mut server, "^Interrupt")?;
    ensure!(text(&more).contains("got $'\\001'\n20 70\n"), "{more}");
    // The client answers prompts: nothing answers them for it.
    ensure!(
        text(&more).contains("yes=unset pager=unset term=xterm-256color"),
        "{more}"
    );
    ensure!(more["structuredContent"]["screen"]["cols"] == 70, "{more}");
    let keys = json!({"job": "call-1", "keys": ["C-c"], "wait": 50});
    let ended = call(&mut server, "bash_input", &keys)?;
    ensure!(text(&ended).contains("Hello Ann"), "{ended}");
    ensure!(
        ended["structuredContent"]["result"]["status"]["kind"] == "signaled"
            || ended["structuredContent"]["result"]["status"]["code"] == 130,
        "{ended}"
    );
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn full_screen_program_is_read_driven_and_killed() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "0")?;
    let script = r"printf '\e]0;a title\a\e[?1049h\e[2J\e[3;5Hdrawn\e[?25l'
        while read -rsn1 key; do printf '\e[5;1Hkey %q ' $key; done";
    call(
        &mut server,
        "bash",
        &json!({"command": script, "pty": true}),
    )?;
    let drawn = shown(&mut server, "^    drawn$")?;
    ensure!(text(&drawn).starts_with("\n\n    drawn\n"), "{drawn}");
    ensure!(
        text(&drawn).contains("[call-1 runs on a terminal of 80x24, title \"a title\"."),
        "{drawn}"
    );
    let screen = &drawn["structuredContent"]["screen"];
    ensure!(
        screen["full_screen"] == true && screen["cursor_visible"] == false,
        "{drawn}"
    );
    let press = json!({"job": "call-1", "keys": ["q"], "until": {"line": "key q"}});
    let pressed = call(&mut server, "bash_input", &press)?;
    ensure!(text(&pressed).contains("\nkey q\n"), "{pressed}");
    let quiet = json!({"job": "call-1", "until": {"quiet_ms": 100}});
    let quiet = call(&mut server, "bash_output", &quiet)?;
    ensure!(
        text(&quiet).contains("nothing was printed for 100ms"),
        "{quiet}"
    );
    let jobs = call(&mut server, "bash_jobs", &json!({}))?;
    ensure!(
        text(&jobs).contains("call-1  is running on a terminal"),
        "{jobs}"
    );
    let killed = call(&mut server, "bash_kill", &json!({"job": "call-1"}))?;
    ensure!(text(&killed).contains("[call-1 has ended.]"), "{killed}");
    let after = call(
        &mut server,
        "bash_input",
        &json!({"job": "call-1", "text": "x"}),
    )?;
    ensure!(
        text(&after).contains("nothing was typed: the command has ended"),
        "{after}"
    );
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn keys_and_sizes_need_a_terminal() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "0")?;
    let size = json!({"command": "true", "size": "80x24"});
    let refused = call(&mut server, "bash", &size)?;
    ensure!(text(&refused).contains("give `pty: true` too"), "{refused}");
    let size = json!({"command": "true", "pty": true, "size": "wide"});
    let refused = call(&mut server, "bash", &size)?;
    ensure!(
        text(&refused).contains("such as \"80x24\", got \"wide\""),
        "{refused}"
    );
    let job = json!({"command": "cat", "mode": "background", "stdin": "pipe"});
    call(&mut server, "bash", &job)?;
    let keys = json!({"job": "1", "keys": ["Enter"]});
    let refused = call(&mut server, "bash_input", &keys)?;
    ensure!(
        text(&refused).contains("job 1 has no terminal"),
        "{refused}"
    );
    // A command that ends at once answers like any other, and policy holds.
    let ended = json!({"command": "echo hi; exit 3", "pty": true});
    let ended = call(&mut server, "bash", &ended)?;
    ensure!(
        text(&ended) == "hi\n\nCommand exited with code 3",
        "{ended}"
    );
    let blocked = json!({"command": "rm -rf /", "pty": true});
    let blocked = call(&mut server, "bash", &blocked)?;
    ensure!(text(&blocked).starts_with("Blocked: "), "{blocked}");
    call(&mut server, "bash_kill", &json!({"job": "1"}))?;
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn call_that_waits_has_no_handle_and_no_time_limit() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "50ms")?;
    let until = "until [ -e go ]; do sleep 0.02; done; echo done";
    let moved = call(&mut server, "bash", &json!({"command": until}))?;
    ensure!(text(&moved).contains("goes on as call-1"), "{moved}");
    std::fs::write(world.cwd().join("go"), "")?;
    let waited = call(
        &mut server,
        "bash",
        &json!({"command": "sleep 0.5; echo done", "wait": true}),
    )?;
    ensure!(text(&waited) == "done\n", "{waited}");
    call(
        &mut server,
        "bash_output",
        &json!({"job": "call-1", "wait": 50}),
    )?;
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}
