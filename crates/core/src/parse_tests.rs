use super::*;
use crate::changes::TrialRequest;
use crate::request::StdinMode;
use serde_json::json;
use std::num::NonZeroU64;
use std::time::Duration;

fn parsed(value: &Value) -> Parsed {
    parse_request(value).unwrap()
}

fn refused(value: &Value) -> String {
    parse_request(value).unwrap_err().to_string()
}

#[test]
fn every_field_is_parsed() {
    let got = parsed(&json!({
        "command": "ls", "mode": "slow", "timeout": 1.5, "cwd": "src", "head": 3, "tail": 2.0, "session": "a",
        "pty": false, "env": {"A": "1", "B": null, "PORT": 80}, "stdin": "pipe", "description": "lists",
        "trial": "atomic"
    }));
    let request = got.request;
    assert!(got.notices.is_empty());
    assert_eq!(request.mode, Some(Mode::Slow));
    assert_eq!(request.timeout, Some(Duration::from_millis(1500)));
    assert_eq!(request.head.map(NonZeroU64::get), Some(3));
    assert_eq!(request.tail.map(NonZeroU64::get), Some(2));
    assert_eq!(request.env["A"].as_deref(), Some("1"));
    assert_eq!(request.env["B"], None);
    assert_eq!(request.env["PORT"].as_deref(), Some("80"));
    assert_eq!(request.stdin, StdinMode::Pipe);
    assert_eq!(request.trial, Some(TrialRequest::Atomic));
    let json = serde_json::to_value(&request).unwrap();
    assert_eq!(serde_json::from_value::<Request>(json).unwrap(), request);
}

#[test]
fn string_request_is_the_command() {
    assert_eq!(parsed(&json!("echo hi")).request, Request::new("echo hi"));
}

#[test]
fn alternative_names_are_accepted_with_a_notice() {
    for (given, used) in [
        (json!({"cmd": "ls"}), "command"),
        (json!({"command": "ls", "workdir": "x"}), "cwd"),
        (json!({"command": "ls", "working_directory": "x"}), "cwd"),
        (json!({"command": "ls", "dir_path": "x"}), "cwd"),
        (json!({"command": "ls", "run_in_background": true}), "mode"),
    ] {
        let got = parsed(&given);
        assert!(
            matches!(&got.notices[..], [Notice { kind: NoticeKind::FieldRenamed { used: u, .. }, .. }] if u == used),
            "{given}: {:?}",
            got.notices
        );
    }
    let quiet = parsed(&json!({"command": "ls", "run_in_background": false}));
    assert_eq!((quiet.request.mode, quiet.notices.len()), (None, 0));
}

#[test]
fn field_under_two_names_is_refused_unless_the_values_are_equal() {
    assert_eq!(
        refused(&json!({"command": "a", "cmd": "b"})),
        "`command` and `cmd` are the same field; give only `command`"
    );
    assert_eq!(
        parsed(&json!({"command": "a", "cmd": "a"})).request.command,
        "a"
    );
    assert!(
        refused(&json!({"command": "a", "mode": "slow", "run_in_background": true}))
            .contains("`mode`")
    );
}

#[test]
fn errors_name_the_field_and_the_accepted_values() {
    for (given, want) in [
        (json!({}), "`command` is missing"),
        (json!({"command": null}), "`command` is missing"),
        (json!({"command": " \n\t"}), "`command` is empty"),
        (json!(""), "`command` is empty"),
        (json!({"command": 5}), "`command` must be a string, got 5"),
        (json!({"command": "a\u{0}b"}), "NUL byte at offset 1"),
        (json!([1]), "got an array"),
        (
            json!({"command": "a", "timout": 5}),
            "unknown field `timout` (did you mean `timeout`?)",
        ),
        (
            json!({"command": "a", "zzz": 5}),
            "unknown field `zzz`; the fields are command",
        ),
        (
            json!({"command": "a", "mode": "fast"}),
            "`mode` must be `default`, `slow` or `background`, got \"fast\"",
        ),
        (
            json!({"command": "a", "timeout": -1}),
            "`timeout` must be zero or more seconds, got -1",
        ),
        (json!({"command": "a", "timeout": "-1s"}), "is negative"),
        (
            json!({"command": "a", "timeout": "soon"}),
            "`soon` is not a duration",
        ),
        (
            json!({"command": "a", "timeout": []}),
            "`timeout` must be a number of seconds",
        ),
        (
            json!({"command": "a", "head": 0}),
            "`head` must be a whole number of lines, 1 or more, got 0",
        ),
        (json!({"command": "a", "tail": -3}), "`tail` must be"),
        (json!({"command": "a", "tail": 1.5}), "`tail` must be"),
        (
            json!({"command": "a", "pty": "yes"}),
            "`pty` must be true or false",
        ),
        (
            json!({"command": "a", "session": ""}),
            "`session` must be a name",
        ),
        (
            json!({"command": "a", "stdin": "file"}),
            "`stdin` must be null or `pipe`",
        ),
        (
            json!({"command": "a", "env": {"A=B": "x"}}),
            "`A=B` cannot be a variable's name",
        ),
        (
            json!({"command": "a", "env": {"A": "x\u{0}"}}),
            "value of `A` has a NUL",
        ),
        (
            json!({"command": "a", "env": {"A": [1]}}),
            "`env.A` must be a string, or `null` to unset, got an array",
        ),
    ] {
        let got = refused(&given);
        assert!(got.contains(want), "{given}\n got: {got}\nwant: {want}");
    }
}

#[test]
fn huge_numbers_do_not_panic() {
    let got = parsed(&json!({"command": "a", "timeout": 1e300}));
    assert_eq!(got.request.timeout, Some(Duration::MAX));
    assert!(refused(&json!({"command": "a", "head": 1e300})).contains("`head`"));
}

#[test]
fn command_may_have_four_mebibytes_but_not_more_than_the_maximum() {
    let script = format!(": {}", "x".repeat(4 << 20));
    assert_eq!(
        parsed(&json!({ "command": script })).request.command.len(),
        (4 << 20) + 2
    );
    let over = "x".repeat(MAX_COMMAND_BYTES + 1);
    assert!(refused(&json!({ "command": over })).contains("more than the 16777216"));
}

#[test]
fn sandbox_request_needs_a_reason() {
    let parse = |sandbox: Value| parse_request(&json!({"command": "ls", "sandbox": sandbox}));
    let given = json!({"level": "workspace_write", "network": "on", "writable": ["/srv", "~/x"], "reason": "a build"});
    let request = parse(given.clone()).unwrap().request;
    assert_eq!(serde_json::to_value(&request.sandbox).unwrap(), given);
    let json = serde_json::to_value(&request).unwrap();
    assert_eq!(serde_json::from_value::<Request>(json).unwrap(), request);
    let least = parse(json!({"level": null, "reason": "why"})).unwrap();
    assert_eq!(least.request.sandbox.unwrap().level, None);
    assert_eq!(parse(Value::Null).unwrap().request.sandbox, None);
    for (given, want) in [
        (json!("off"), "`sandbox` must be an object"),
        (
            json!({"lvl": "off", "reason": "why"}),
            "`sandbox` must be an object",
        ),
        (
            json!({"level": "none", "reason": "why"}),
            "`sandbox.level` must be `read_only`",
        ),
        (
            json!({"network": true, "reason": "why"}),
            "`sandbox.network` must be `off`",
        ),
        (
            json!({"writable": "/a", "reason": "why"}),
            "`sandbox.writable` must be a list",
        ),
        (
            json!({"writable": ["a"], "reason": "why"}),
            "absolute or beginning with `~/`, got \"a\"",
        ),
        (
            json!({"writable": ["/a\0"], "reason": "why"}),
            "`sandbox.writable` must be",
        ),
        (
            json!({"level": "off", "reason": " "}),
            "`sandbox.reason` must be",
        ),
        (json!({"level": "off"}), "`sandbox.reason` must be"),
    ] {
        let error = parse(given.clone()).unwrap_err().to_string();
        assert!(error.contains(want), "{given}: {error}");
    }
}

#[test]
fn trial_accepts_true_false_and_atomic() {
    let parse = |trial: Value| parse_request(&json!({"command": "ls", "trial": trial}));
    let trial = |trial: Value| parse(trial).unwrap().request.trial;
    assert_eq!(trial(json!(true)), Some(TrialRequest::Hold));
    assert_eq!(trial(json!(false)), None);
    assert_eq!(trial(Value::Null), None);
    for wrong in [json!("hold"), json!(1), json!({})] {
        let error = parse(wrong).unwrap_err().to_string();
        assert!(
            error.starts_with("`trial` must be true, false or `atomic`, got"),
            "{error}"
        );
    }
}
