//! Results that outlive a call: jobs, full outputs, named shells.

use super::{SOON, answer, ask, data, server, world};
use agent_bash_tests::poll;
use anyhow::{Context, Result};
use serde_json::{Value, json};

#[test]
fn job_can_be_started_written_to_read_awaited_and_ended() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    let script = "while read -r line; do echo \"got $line\"; done; echo bye; exit 4";
    let call = json!({"command": script, "mode": "background", "stdin": "pipe"});
    let started = data(&mut server, json!({"type": "tool_call", "request": call}))?;
    let job = started["status"]["job"].clone();
    let waited = data(
        &mut server,
        json!({"type": "jobs.wait", "job": job, "timeout": "10ms"}),
    )?;
    assert_eq!(
        (&waited["over"], &waited["job"]["state"]["kind"]),
        (&json!(false), &json!("running"))
    );
    // A numeric id works too, and a wait can be cancelled.
    let number: u64 = job.as_str().context("a text")?.parse()?;
    server.send(&json!({"id": "wait", "type": "jobs.wait", "job": number}))?;
    server.send(&json!({"type": "cancel", "target": "wait"}))?;
    assert_eq!(answer(&server, &json!("wait"))?["data"]["over"], false);
    data(
        &mut server,
        json!({"type": "jobs.input", "job": job, "text": "one\n"}),
    )?;
    let read = poll::until(SOON, || {
        let read = data(&mut server, json!({"type": "jobs.output", "job": job})).ok()?;
        (read["text"] == "got one\n").then_some(read)
    });
    let read = read.context("the job has not read its input")?;
    assert_eq!(
        (&read["at_end"], &read["complete"]),
        (&json!(true), &json!(false))
    );
    data(
        &mut server,
        json!({"type": "jobs.input", "job": job, "text": "two\n", "close": true}),
    )?;
    let waited = data(&mut server, json!({"type": "jobs.wait", "job": job}))?;
    assert_eq!(waited["over"], true);
    assert_eq!(
        waited["job"]["state"]["ending"],
        json!({"kind": "exited", "code": 4})
    );
    let rest = data(
        &mut server,
        json!({"type": "jobs.output", "job": job, "offset": read["next"]}),
    )?;
    assert!(
        rest["text"]
            .as_str()
            .unwrap_or_default()
            .starts_with("got two\nbye\n"),
        "{rest}"
    );
    let tail = data(
        &mut server,
        json!({"type": "jobs.output", "job": job, "tail": 1}),
    )?;
    assert_eq!(tail["complete"], true);
    for (request, error) in [
        (
            json!({"type": "jobs.show", "job": "99"}),
            "there is no job `99`",
        ),
        (
            json!({"type": "jobs.input", "job": job, "text": "x"}),
            "takes no input",
        ),
        (
            json!({"type": "jobs.wait", "job": job, "timeout": "soon"}),
            "`timeout`",
        ),
    ] {
        let refusal = ask(&mut server, request)?;
        assert!(
            refusal["error"]
                .as_str()
                .unwrap_or_default()
                .contains(error),
            "{refusal}"
        );
    }
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn only_jobs_accept_input_later() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    for call in [
        json!({"command": "cat", "stdin": "pipe"}),
        json!({"command": "cat", "stdin": "pipe", "session": "s"}),
    ] {
        let result = data(&mut server, json!({"type": "tool_call", "request": call}))?;
        let reason = result["status"]["reason"].as_str();
        let says_why = |reason: &str| reason.starts_with("only a background job has an input");
        assert!(reason.is_some_and(says_why), "{result}");
    }
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn line_longer_than_a_page_continues_at_the_named_byte() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    let line = "head -c 600000 /dev/zero | tr '\\0' x; echo needle; printf '\\n'";
    data(&mut server, json!({"type": "tool_call", "request": line}))?;
    let mut bytes = 0;
    let mut show = json!({"type": "artifact.show", "artifact": 0});
    loop {
        let page = data(&mut server, show.clone())?;
        bytes += page["text"].as_str().unwrap_or_default().len();
        match &page["next_byte"] {
            Value::Null => break,
            next => {
                let hint = page["hint"].as_str().unwrap_or_default();
                assert!(hint.contains(&format!("byte={next}")), "{hint}");
                show["byte"] = next.clone();
            }
        }
    }
    assert!((600_007..600_100).contains(&bytes), "{bytes}");
    let found = data(
        &mut server,
        json!({"type": "artifact.grep", "artifact": 0, "pattern": "needle$"}),
    )?;
    let text = found["text"].as_str().unwrap_or_default();
    assert!(text.starts_with("1:[from byte ") && text.ends_with("xxneedle\n"));
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn outputs_are_paged_and_searched_and_shells_reset() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    let call = data(
        &mut server,
        json!({"type": "tool_call", "request": "seq 30000"}),
    )?;
    let artifact = &call["artifacts"][0];
    let list = data(&mut server, json!({"type": "artifact.list"}))?;
    assert_eq!(
        (
            &list["artifacts"][0]["artifact"],
            &list["artifacts"][0]["command"]
        ),
        (artifact, &json!("seq 30000"))
    );
    for name in [&artifact["id"], &artifact["uri"], &artifact["path"]] {
        let page = data(
            &mut server,
            json!({"type": "artifact.show", "artifact": name, "offset": 10, "limit": 2}),
        )?;
        assert_eq!(
            (&page["text"], &page["lines"], &page["next"]),
            (&json!("10\n11\n"), &json!([10, 11]), &json!(12))
        );
    }
    let found = data(
        &mut server,
        json!({"type": "artifact.grep", "artifact": 0, "pattern": "^777$", "context": 1}),
    )?;
    assert_eq!(
        (&found["text"], &found["total_matches"]),
        (&json!("776-776\n777:777\n778-778\n"), &json!(1))
    );
    let foreign = ask(
        &mut server,
        json!({"type": "artifact.show", "artifact": "/etc/passwd"}),
    )?;
    assert_eq!(foreign["success"], false, "only what is the session's");
    let in_shell = |command: &str| json!({"type": "tool_call", "request": {"command": command, "session": "s"}});
    data(&mut server, in_shell("cd /usr; x=1"))?;
    assert_eq!(
        data(&mut server, in_shell("pwd; echo x=$x"))?["text"],
        "/usr\nx=1\n"
    );
    let list = data(&mut server, json!({"type": "session.list"}))?;
    assert_eq!(
        list["sessions"],
        json!([{"name": "s", "busy": false, "cwd": "/usr"}])
    );
    assert_eq!(
        data(
            &mut server,
            json!({"type": "session.reset", "session": "s"})
        )?["reset"],
        true
    );
    assert_eq!(
        data(
            &mut server,
            json!({"type": "session.close", "session": "s"})
        )?["reset"],
        false
    );
    assert_eq!(data(&mut server, in_shell("echo x=$x"))?["text"], "x=\n");
    let verdict = data(
        &mut server,
        json!({"type": "check", "command": "git push --force"}),
    )?;
    assert_eq!(
        (&verdict["verdict"], &verdict["rule"]),
        (&json!("block"), &json!("no_force_push"))
    );
    assert_eq!(
        data(&mut server, json!({"type": "schema"}))?["name"],
        "bash"
    );
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn jobs_name_their_ports_and_are_found_by_them() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    let call = json!({"command": "misbehave listen port", "mode": "background"});
    let started = data(&mut server, json!({"type": "tool_call", "request": call}))?;
    let job = &started["status"]["job"];
    let other = json!({"command": "sleep 1000", "mode": "background"});
    data(&mut server, json!({"type": "tool_call", "request": other}))?;
    let file = world.cwd().join("port");
    let port = poll::until(SOON, || std::fs::read_to_string(&file).ok());
    let port: u16 = port.context("no port")?.parse()?;
    let listens_on = json!([format!("127.0.0.1:{port}")]);
    for request in ["jobs.show", "jobs.output"] {
        let answer = data(&mut server, json!({"type": request, "job": job}))?;
        let shown = answer.get("job").unwrap_or(&answer);
        assert_eq!(shown["listens_on"], listens_on, "{answer}");
    }
    let all = data(&mut server, json!({"type": "jobs.list"}))?;
    assert_eq!(all["jobs"].as_array().map(Vec::len), Some(2));
    assert!(all["jobs"][1].get("listens_on").is_none(), "{all}");
    for (port, want) in [(port, json!([job])), (1, json!([]))] {
        let found = data(&mut server, json!({"type": "jobs.list", "port": port}))?;
        let found = found["jobs"].as_array().context("jobs")?.iter();
        let ids: Vec<&Value> = found.map(|job| &job["id"]).collect();
        assert_eq!(json!(ids), want);
    }
    for id in ["1", "2"] {
        data(&mut server, json!({"type": "jobs.kill", "job": id}))?;
    }
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn wait_ends_with_the_first_condition_that_is_met() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    let script = "echo up; until [ -e go ]; do sleep 0.02; done; printf '\\033[32mready\\033[0m in 5 ms\\n'; \
                  misbehave listen port & wait";
    let call = json!({"command": script, "mode": "background"});
    data(&mut server, json!({"type": "tool_call", "request": call}))?;
    let line = json!({"line": r"^ready in \d+ ms$"});
    let wait = |until: &Value, timeout: &str| json!({"type": "jobs.wait", "job": "1", "until": until, "timeout": timeout});
    data(&mut server, wait(&json!({"line": "^up$"}), "60s"))?;
    let waited = data(&mut server, wait(&line, "100ms"))?;
    assert_eq!(
        (&waited["over"], waited.get("met"), &waited["output"]),
        (&json!(false), None, &json!("up\n"))
    );
    // The condition is met while the request waits.
    server.send(&{
        let mut request = wait(&line, "60s");
        request["id"] = json!("line");
        request
    })?;
    std::fs::write(world.cwd().join("go"), "")?;
    let waited = &answer(&server, &json!("line"))?["data"];
    assert_eq!(
        waited["met"],
        json!({"kind": "line", "line": "ready in 5 ms"}),
        "{waited}"
    );
    assert_eq!(waited["output"], "up\nready in 5 ms\n");

    let waited = data(&mut server, wait(&json!({"file": "port"}), "60s"))?;
    let file = world.cwd().join("port");
    assert_eq!(waited["met"], json!({"kind": "file", "path": file}));
    let port: u16 = std::fs::read_to_string(&file)?.parse()?;
    let waited = data(
        &mut server,
        wait(&json!({"port": port, "file": "none"}), "60s"),
    )?;
    let address = format!("127.0.0.1:{port}");
    let met = json!({"kind": "port", "address": address, "of_job": true});
    assert_eq!(
        (&waited["met"], &waited["job"]["listens_on"]),
        (&met, &json!([address]))
    );

    let other = json!({"command": "until [ -e end ]; do sleep 0.02; done; printf last", "mode": "background"});
    data(&mut server, json!({"type": "tool_call", "request": other}))?;
    let of_other =
        |until: &Value| json!({"type": "jobs.wait", "job": "2", "until": until, "id": "end"});
    // A port of another job answers, too, and the answer says so.
    let waited = data(&mut server, of_other(&json!({"port": port})))?;
    assert_eq!(waited["met"]["of_job"], false, "{waited}");
    server.send(&of_other(&json!({"line": "none"})))?;
    std::fs::write(world.cwd().join("end"), "")?;
    let waited = &answer(&server, &json!("end"))?["data"];
    assert_eq!(
        (&waited["over"], &waited["met"]["kind"]),
        (&json!(true), &json!("end"))
    );
    // Output before the end still counts, from `offset` on.
    for (offset, want) in [(0, "line"), (4, "end")] {
        let mut request = of_other(&json!({"line": "^last$"}));
        request["offset"] = json!(offset);
        assert_eq!(data(&mut server, request)?["met"]["kind"], want);
    }
    let waited = data(&mut server, of_other(&json!("end")))?;
    assert_eq!(
        (&waited["met"]["kind"], waited.get("output")),
        (&json!("end"), None)
    );
    for (until, error) in [
        (json!({"line": "("}), "invalid pattern"),
        (json!({"prot": 1}), "`line`, `port`, `file` or `quiet_ms`"),
    ] {
        let refusal = ask(&mut server, wait(&until, "1s"))?;
        let text = refusal["error"].as_str().unwrap_or_default();
        assert!(text.contains(error), "{refusal}");
    }
    data(&mut server, json!({"type": "jobs.kill", "job": "1"}))?;
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}
