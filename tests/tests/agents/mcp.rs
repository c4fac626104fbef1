//! `agent-bash mcp` with real agents: the text for a model reaches it.

use crate::Check;
use crate::agent::{Agent, Shown, Way};
use crate::model::Ask;
use crate::run::{end, measured, play, world};
use anyhow::{Context, Result, ensure};
use regex::Regex;
use serde_json::{Value, json};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        name: "the text of a call is ours, to the character",
        of: |_| true,
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
            let returned = returned(agent, "echo hi", Way::Structured)?;
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
        of: |_| true,
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
        of: |_| true,
        run: |agent| {
            let returned = returned(agent, "seq 50000", Way::Stranger)?;
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
        name: "a failure is an error, and says so in our words",
        of: |_| true,
        run: |agent| {
            let (shown, reads) = call(agent, "echo before; exit 3")?;
            measured(agent, &format!("a failure reads {reads:?}"));
            let text = "before\n\nCommand exited with code 3";
            ensure!(shown.text == text, "{shown:?}");
            ensure!(
                shown.error != Some(false),
                "not marked as an error: {reads}"
            );
            Ok(())
        },
    },
];

/// The result of a call as the model sees it, and all texts that it reads.
fn call(agent: &Agent, script: &str) -> Result<(Shown, String)> {
    let returned = returned(agent, script, Way::Mcp)?;
    Ok(((agent.inside)(&returned)?, (agent.reads)(&returned)))
}

fn returned(agent: &Agent, script: &str, way: Way) -> Result<Value> {
    let world = world()?;
    let ask = Ask {
        tool: agent.tool,
        input: json!({"command": script}),
    };
    let returned = play(agent, way, &world, ask)?;
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
