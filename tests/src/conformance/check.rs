//! Compares a reply with the expectation. Every difference is reported as a sentence.

use super::case::Expect;
use super::surface::Reply;
use super::text;
use crate::world::World;
use agent_bash_core::ToolResult;
use anyhow::Result;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Number of reported characters around the first difference of a long text.
const SHOWN_CHARS: usize = 400;

/// Returns all differences between a reply and the expectation.
///
/// # Errors
/// The expectation itself is invalid.
pub(super) fn differences(expect: &Expect, reply: &Reply, world: &World) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    check_text(expect, &reply.text, world, &mut faults)?;
    if let (Some(want), Some(got)) = (expect.exit_code, reply.exit_code)
        && want != got
    {
        faults.push(format!("exit code: expected {want}, got {got}"));
    }
    if let Some(result) = &reply.result {
        check_result(expect, result, world, &mut faults)?;
    }
    if let (Some(want), Some(got)) = (expect.is_error, reply.is_error)
        && want != got
    {
        faults.push(format!("is_error: expected {want}, got {got}"));
    }
    if let (Some(want), Some(got)) = (&expect.data, &reply.data) {
        compare(
            "data",
            &serde_json::to_value(want)?,
            got,
            world,
            &mut faults,
        )?;
    }
    if let (Some(want), Some(got)) = (&expect.structured, &reply.structured) {
        let want = serde_json::to_value(want)?;
        compare("structured", &want, got, world, &mut faults)?;
        // An unpublished field could be misread, or break a strict client.
        unexpected("structured", &want, got, &mut faults);
    }
    for (name, content) in &expect.files {
        let want = text::fill(content, world)?;
        match std::fs::read_to_string(world.cwd().join(name)) {
            Ok(got) if got == want => {}
            Ok(got) => faults.push(format!("file {name}: {}", difference(&want, &got))),
            Err(error) => faults.push(format!("file {name}: {error}")),
        }
    }
    for name in &expect.absent {
        if world.cwd().join(name).exists() {
            faults.push(format!("`{name}` is there and must not be"));
        }
    }
    Ok(faults)
}

fn check_text(expect: &Expect, got: &str, world: &World, faults: &mut Vec<String>) -> Result<()> {
    if let Some(want) = &expect.text
        && !text::matches(want, got, world)?
    {
        let want = text::fill_known(want, world);
        faults.push(format!("text: {}", difference(&want, got)));
    }
    for line in &expect.text_lines {
        let mut found = false;
        for candidate in got.lines() {
            found = found || text::matches(line, candidate, world)?;
        }
        if !found {
            faults.push(format!("text: no line is {line:?}; it is {}", excerpt(got)));
        }
    }
    for part in &expect.text_lacks {
        if got.contains(&text::fill(part, world)?) {
            faults.push(format!("text: has {part:?}, and must not"));
        }
    }
    Ok(())
}

fn check_result(
    expect: &Expect,
    result: &Value,
    world: &World,
    faults: &mut Vec<String>,
) -> Result<()> {
    // The object's form and consistency are checked for every case.
    match serde_json::from_value::<ToolResult>(result.clone()) {
        Ok(typed) if typed.is_error == typed.status.is_error() => {}
        Ok(_) => faults.push("result: `is_error` does not go with `status`".to_owned()),
        Err(error) => faults.push(format!("result: not a ToolResult: {error}")),
    }
    if let Some(part) = &expect.result {
        let part = serde_json::to_value(part)?;
        compare("result", &part, result, world, faults)?;
    }
    if let Some(want) = &expect.notices {
        let mut want: Vec<&str> = want.iter().map(String::as_str).collect();
        let mut got: Vec<&str> = result["notices"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|notice| notice["kind"].as_str())
            .collect();
        want.sort_unstable();
        got.sort_unstable();
        if want != got {
            faults.push(format!(
                "notices: expected {want:?}, got {}",
                result["notices"]
            ));
        }
    }
    if let Some(content) = &expect.artifact {
        check_artifact(&text::fill(content, world)?, result, faults)?;
    }
    Ok(())
}

fn check_artifact(want: &str, result: &Value, faults: &mut Vec<String>) -> Result<()> {
    let [artifact] = result["artifacts"]
        .as_array()
        .map_or(&[][..], Vec::as_slice)
    else {
        faults.push(format!(
            "artifacts: expected one, got {}",
            result["artifacts"]
        ));
        return Ok(());
    };
    let path = Path::new(artifact["path"].as_str().unwrap_or_default());
    let Ok(got) = std::fs::read(path) else {
        faults.push(format!("artifact: cannot be read at {}", path.display()));
        return Ok(());
    };
    if got != want.as_bytes() {
        let got = String::from_utf8_lossy(&got);
        faults.push(format!("artifact: {}", difference(want, &got)));
    }
    let mode = |path: &Path| -> Result<u32> { Ok(path.metadata()?.permissions().mode() & 0o777) };
    if mode(path)? != 0o600 {
        faults.push(format!("artifact: mode {:o}, not 600", mode(path)?));
    }
    if let Some(directory) = path.parent()
        && mode(directory)? != 0o700
    {
        faults.push(format!(
            "artifact's directory: mode {:o}, not 700",
            mode(directory)?
        ));
    }
    let lines = want.lines().count();
    for (field, want) in [("bytes", want.len()), ("lines", lines)] {
        if artifact[field] != want {
            faults.push(format!(
                "artifact: {field} {}, expected {want}",
                artifact[field]
            ));
        }
    }
    let id = &artifact["id"];
    if artifact["uri"] != format!("artifact://{id}") {
        faults.push(format!("artifact: id {id} has the uri {}", artifact["uri"]));
    }
    Ok(())
}

/// Reports differences. Objects may have additional fields; everything else must be equal.
fn compare(
    path: &str,
    want: &Value,
    got: &Value,
    world: &World,
    faults: &mut Vec<String>,
) -> Result<()> {
    match (want, got) {
        (Value::Object(want), Value::Object(got)) => {
            for (name, want) in want {
                let got = got.get(name).unwrap_or(&Value::Null);
                compare(&format!("{path}.{name}"), want, got, world, faults)?;
            }
        }
        (Value::Array(want), Value::Array(got)) if want.len() == got.len() => {
            for (index, (want, got)) in want.iter().zip(got).enumerate() {
                compare(&format!("{path}[{index}]"), want, got, world, faults)?;
            }
        }
        (Value::String(want), got) if want == "{{null}}" => {
            if !got.is_null() {
                faults.push(format!("{path}: expected null, got {got}"));
            }
        }
        (Value::String(want), Value::Number(_)) if text::is_number_wildcard(want) => {}
        (Value::String(want), Value::String(got)) => {
            if !text::matches(want, got, world)? {
                let want = text::fill_known(want, world);
                faults.push(format!("{path}: {}", difference(&want, got)));
            }
        }
        (Value::Number(want), Value::Number(got)) if want.as_f64() == got.as_f64() => {}
        (want, got) if want == got => {}
        (want, got) => faults.push(format!("{path}: expected {want}, got {got}")),
    }
    Ok(())
}

/// Reports fields that were not expected.
fn unexpected(path: &str, want: &Value, got: &Value, faults: &mut Vec<String>) {
    match (want, got) {
        (Value::Object(want), Value::Object(got)) => {
            for (name, got) in got {
                match want.get(name) {
                    Some(want) => unexpected(&format!("{path}.{name}"), want, got, faults),
                    None => faults.push(format!("{path}.{name}: not expected, and is {got}")),
                }
            }
        }
        (Value::Array(want), Value::Array(got)) => {
            for (index, (want, got)) in want.iter().zip(got).enumerate() {
                unexpected(&format!("{path}[{index}]"), want, got, faults);
            }
        }
        _ => {}
    }
}

/// Describes where two texts differ, with an excerpt of both.
fn difference(want: &str, got: &str) -> String {
    let same = want
        .chars()
        .zip(got.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let from = same.saturating_sub(40);
    let piece = |text: &str| -> String { text.chars().skip(from).take(SHOWN_CHARS).collect() };
    format!(
        "they part at character {same} (of {} expected, {} got)\n      expected …{:?}\n      got      …{:?}",
        want.chars().count(),
        got.chars().count(),
        piece(want),
        piece(got)
    )
}

fn excerpt(text: &str) -> String {
    format!("{:?}", text.chars().take(SHOWN_CHARS).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reply(text: &str) -> Reply {
        let result = json!({
            "status": {"kind": "exited", "code": 1}, "is_error": true, "text": text,
            "output": {"total_bytes": 3, "total_lines": 1, "shown_bytes": 3, "shown_lines": 1,
                       "shown_ranges": [[1, 1]], "dropped_bytes": 0, "dropped_lines": 0, "truncated": false,
                       "truncated_by": null, "direction": "tail", "binary": false},
            "duration_ms": 12.5, "cwd": "/", "stages": [], "survivors": [],
            "notices": [{"kind": "session_reset", "reason": "x", "text": "y"}],
            "artifacts": [], "suggested_tool": null, "rule": null, "started_at": "2026-01-01T00:00:00.000Z"
        });
        Reply {
            text: text.to_owned(),
            result: Some(result),
            exit_code: Some(1),
            is_error: Some(true),
            structured: Some(json!({"a": [{"b": 1, "c": "x 2"}]})),
            data: Some(json!({"d": 1, "e": 2})),
            stderr: String::new(),
        }
    }

    fn faults(expect: &str) -> Vec<String> {
        let world = World::new().unwrap();
        std::fs::write(world.cwd().join("there"), "content").unwrap();
        let expect: Expect = toml::from_str(expect).unwrap();
        differences(&expect, &reply("one\ntwo 2\n"), &world).unwrap()
    }

    #[test]
    fn equal_reply_has_no_difference() {
        for expect in [
            "",
            "text = \"one\\ntwo {{int}}\\n\"",
            "text_lines = ['two {{int}}']",
            "text_lacks = ['three']",
            "exit_code = 1",
            "result.status = { kind = 'exited', code = 1 }",
            "result = { duration_ms = '{{number}}', rule = '{{null}}', output.shown_ranges = [[1, 1]] }",
            "notices = ['session_reset']",
            "is_error = true",
            "structured.a = [{ b = 1, c = 'x {{int}}' }]",
            "data.d = 1",
            "files.there = 'content'",
            "absent = ['not-there']",
        ] {
            assert_eq!(faults(expect), Vec::<String>::new(), "{expect}");
        }
    }

    #[test]
    fn every_kind_of_difference_is_found() {
        for expect in [
            "text = 'one'",
            "text = \"one\\ntwo {{int}}\"",
            "text_lines = ['two']",
            "text_lacks = ['two']",
            "exit_code = 0",
            "result.status = { kind = 'exited', code = 0 }",
            "result.status = { kind = 'cancelled' }",
            "result.rule = 'x'",
            "result.cwd = '{{null}}'",
            "result.missing = 1",
            "result.output.shown_ranges = []",
            "notices = []",
            "notices = ['session_reset', 'survivors']",
            "is_error = false",
            "structured.a = [{ b = 2, c = 'x 2' }]",
            "structured.a = [{ b = 1 }]",
            "structured = { a = [{ b = 1, c = 'x 2' }], d = 1 }",
            "data.d = 2",
            "files.there = 'other'",
            "files.nowhere = ''",
            "absent = ['there']",
            "artifact = ''",
        ] {
            assert_eq!(faults(expect).len(), 1, "{expect}");
        }
    }

    #[test]
    fn inconsistent_result_is_found() {
        let world = World::new().unwrap();
        let mut reply = reply("");
        reply.result.as_mut().unwrap()["is_error"] = json!(false);
        let found = differences(&Expect::default(), &reply, &world).unwrap();
        assert!(found[0].contains("is_error"), "{found:?}");
        reply.result = Some(json!({"text": ""}));
        let found = differences(&Expect::default(), &reply, &world).unwrap();
        assert!(found[0].contains("not a ToolResult"), "{found:?}");
    }
}
