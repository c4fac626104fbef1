//! `agent-bash mcp` with real agents: the text for a model reaches it.

use crate::Check;
use crate::agent::{Agent, Integration, Shown};
use crate::model::Ask;
use crate::run::{end, measured, play, play_all, world};
use agent_bash_tests::product;
use anyhow::{Context, Result, ensure};
use regex::Regex;
use serde_json::{Value, json};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        name: "the text of a call is ours, to the character",
        of: has_server,
        run: |agent| {
            let (shown, reads) = call(agent, "echo hi")?;
            measured(
                agent,
                &format!("`echo hi` is {} bytes: {reads:?}", reads.len()),
            );
            is_ours(&shown)
        },
    },
    Check {
        name: "control: with structured content the text is not ours",
        // The other agents show the text in any case.
        of: |agent| ["claude-code", "codex"].contains(&agent.hook),
        run: |agent| {
            let returned = returned(agent, "echo hi", Integration::Structured)?;
            measured(
                agent,
                &format!("with structured content {:?}", (agent.reads)(&returned)),
            );
            let ours = (agent.inside)(&returned).and_then(|shown| is_ours(&shown));
            ensure!(ours.is_err(), "the test would not have noticed");
            Ok(())
        },
    },
    Check {
        name: "of a long output the tail, the counts and the link arrive",
        of: has_server,
        run: |agent| {
            let (shown, reads) = call(agent, "seq 50000")?;
            let first = end_is_whole(&shown.text)?;
            measured(
                agent,
                &format!(
                    "of `seq 50000` {} bytes arrive, lines {first} to 50000",
                    reads.len()
                ),
            );
            Ok(())
        },
    },
    Check {
        name: "control: of a long output of a server that does not know the agent some is lost",
        of: has_server,
        run: |agent| {
            let returned = returned(agent, "seq 50000", Integration::Stranger)?;
            let reads = (agent.reads)(&returned);
            let whole = (agent.inside)(&returned).and_then(|shown| end_is_whole(&shown.text));
            measured(
                agent,
                &format!(
                    "of `seq 50000` of any server {} bytes arrive: {}",
                    reads.len(),
                    ends(&reads)
                ),
            );
            ensure!(whole.is_err(), "the test would not have noticed");
            Ok(())
        },
    },
    Check {
        name: "a failure says so in our words, also after long output",
        of: has_server,
        run: |agent| {
            let (shown, reads) = call(agent, "echo before; exit 3")?;
            measured(agent, &format!("a failure reads {reads:?}"));
            let text = "before\n\nCommand exited with code 3";
            ensure!(shown.text == text, "{shown:?}");
            ensure!(
                shown.error != Some(false),
                "not marked as an error: {reads}"
            );
            let (shown, _) = call(agent, "seq 50000; exit 3")?;
            let is_whole = shown.text.ends_with("Command exited with code 3");
            ensure!(is_whole, "the end is missing: {}", ends(&shown.text));
            Ok(())
        },
    },
    Check {
        name: "the user is asked about a commit in the answer to the call, and decides",
        of: |agent| ["claude-code", "copilot"].contains(&agent.hook),
        run: |agent| {
            // Without a terminal, Copilot CLI declines in the name of its user.
            if agent.hook == "copilot" {
                return committed(agent, "decline", "declined committing it");
            }
            committed(agent, "accept", "[Trial 1 applied: 1 created.]")?;
            committed(agent, "decline", "declined committing it")?;
            committed(agent, "cancel", "gave no answer")
        },
    },
];

fn has_server(agent: &Agent) -> bool {
    !agent.tool.is_empty()
}

/// Commits a trial, about which the user answers with `action`. Checks what the model reads.
fn committed(agent: &Agent, action: &'static str, expected: &str) -> Result<()> {
    let world = world()?;
    let mut repository = world.command("git");
    repository.args(["init", "--quiet"]);
    product::run(repository, None)?;
    let trial = json!({"command": "echo new > new", "trial": true});
    let commit = json!({"action": "commit", "id": 1});
    let asks = vec![
        Ask::new(agent.tool, trial),
        Ask::new(format!("{}_changes", agent.tool), commit),
    ];
    let (returned, _) = play_all(agent, Integration::McpWithUser(action), &world, asks)?;
    let reads = (agent.reads)(&returned);
    ensure!(reads.contains(expected), "{action}: {reads}");
    let is_made = world.cwd().join("new").exists();
    ensure!(is_made == (action == "accept"), "{action}: {reads}");
    // Only clients of revision 2026-07-28 repeat a call with the answer.
    let sent = std::fs::read_to_string(world.home().join("sent"))?;
    let answer = format!(r#""approval":{{"action":"{action}""#);
    ensure!(sent.contains(&answer), "{action}: {sent}");
    end(world)
}

/// The result of a call as the model sees it, and all texts that it reads.
fn call(agent: &Agent, script: &str) -> Result<(Shown, String)> {
    let returned = returned(agent, script, Integration::Mcp)?;
    Ok(((agent.inside)(&returned)?, (agent.reads)(&returned)))
}

fn returned(agent: &Agent, script: &str, integration: Integration) -> Result<Value> {
    let world = world()?;
    let ask = Ask::new(agent.tool, json!({"command": script}));
    let returned = play(agent, integration, &world, ask)?;
    end(world)?;
    Ok(returned)
}

fn is_ours(shown: &Shown) -> Result<()> {
    ensure!(shown.text == "hi\n", "the model reads {shown:?}");
    ensure!(shown.error != Some(true), "marked as an error: {shown:?}");
    Ok(())
}

/// Checks for consecutive lines up to the last one, followed by the notice. Returns the first
/// line's number.
fn end_is_whole(text: &str) -> Result<u32> {
    let notice = Regex::new(
        r"(?s)^(.*)\n\n\[Showing lines (\d+)-50000 of 50000(?: \(.* limit\))?\. Full: artifact://\d+\]$",
    )?;
    let shape = || format!("no notice at the end: {}", ends(text));
    let parts = notice.captures(text).with_context(shape)?;
    let first: u32 = parts[2].parse()?;
    let shown = parts[1].lines().map(str::parse);
    let shown: Vec<u32> = shown
        .collect::<Result<_, _>>()
        .context("what is no line of the output")?;
    let whole: Vec<u32> = (first..=50000).collect();
    ensure!(
        shown == whole,
        "lines are missing between {first} and 50000"
    );
    Ok(first)
}

/// Beginning and end of a text, on one line.
fn ends(text: &str) -> String {
    let first: String = text.chars().take(150).collect();
    let last: Vec<char> = text.chars().rev().take(150).collect();
    let last: String = last.into_iter().rev().collect();
    format!("{first:?} … {last:?}")
}
