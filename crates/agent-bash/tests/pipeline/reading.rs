//! Effects of analysing a command: lifted filters, better tools, safe mode.

use crate::scripted::{Scripted, builder, outcome, tool};
use agent_bash::core::{Cancel, NoticeKind, ScriptEnding, Status, StreamId, Streams};
use agent_bash::policy::{InterceptMode, Interceptor, SafeLevel, SafeMode};
use agent_bash::{BashTool, BashToolBuilder, profiles};
use serde_json::json;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

#[tokio::test]
async fn only_standard_lifts_trailing_filters() {
    let numbers = (StreamId::Stdout, b"1\n2\n3\n4\n".to_vec());
    let run = |profile| {
        let executor = Scripted::new(
            vec![numbers.clone()],
            Ok(outcome(ScriptEnding::Exited { code: 0 })),
        );
        let tool = tool(profile, &executor);
        async move {
            let call = json!(" seq 4 | head -n 3 | tail -2\n");
            (tool.execute(call, &Cancel::new()).await, executor.last())
        }
    };
    let (result, spec) = run(&profiles::STANDARD).await;
    assert_eq!(
        (spec.script.as_str(), spec.streams),
        ("seq 4", Streams::Split)
    );
    assert_eq!(result.text, "2\n3\n");
    let lifted = NoticeKind::Lifted {
        filter: "head -n 3 | tail -2".into(),
    };
    assert!(
        result.notices.iter().any(|notice| notice.kind == lifted),
        "{:?}",
        result.notices
    );

    let (result, spec) = run(&profiles::MODES).await;
    assert_eq!(spec.script, " seq 4 | head -n 3 | tail -2\n");
    assert!(result.notices.is_empty());
}

#[tokio::test]
async fn request_with_limits_keeps_its_filters() {
    let executor = Scripted::exits(0, b"");
    tool(&profiles::STANDARD, &executor)
        .execute(
            json!({"command": "seq 4 | head -n 3", "tail": 1}),
            &Cancel::new(),
        )
        .await;
    assert_eq!(executor.last().script, "seq 4 | head -n 3");
}

#[tokio::test]
async fn lifted_filter_shows_failures_but_not_exit_1_results() {
    for (command, code, want) in [
        ("make | tail -5", 2, 2),
        ("make | tail -5", 1, 1),
        ("grep -rn x src | head -5", 1, 0),
        ("grep -rn x src | head -5", 2, 2),
        // Nothing was lifted, so the exit code is the command's own.
        ("grep -rn x src", 1, 1),
    ] {
        let executor = Scripted::exits(code, b"");
        let result = tool(&profiles::STANDARD, &executor)
            .execute(json!(command), &Cancel::new())
            .await;
        assert_eq!(result.status, Status::Exited { code: want }, "{command}");
    }
}

fn intercepting(mode: InterceptMode, tools: Option<&[&str]>, executor: &Arc<Scripted>) -> BashTool {
    let names = tools.map(|tools| tools.iter().map(|tool| (*tool).to_owned()).collect());
    builder(&profiles::STANDARD, executor, Path::new("/"))
        .tools(names)
        .interceptor(mode, Interceptor::default())
        .build()
}

#[tokio::test]
async fn interceptor_blocks_or_advises_if_the_model_has_the_tool() {
    for (mode, tools, blocked, advised) in [
        (InterceptMode::Block, Some(&["read"][..]), true, false),
        (InterceptMode::Advise, Some(&["read"]), false, true),
        (InterceptMode::Off, Some(&["read"]), false, false),
        (InterceptMode::Block, Some(&["grep"]), false, false),
        (InterceptMode::Block, None, false, false),
    ] {
        let executor = Scripted::exits(0, b"text");
        let result = intercepting(mode, tools, &executor)
            .execute(json!("cat notes.txt"), &Cancel::new())
            .await;
        assert_eq!(executor.runs() == 0, blocked, "{mode:?} {tools:?}");
        assert_eq!(result.suggested_tool.as_deref(), blocked.then_some("read"));
        let is_advice = |kind: &NoticeKind| matches!(kind, NoticeKind::Advice { suggested_tool, .. } if suggested_tool == "read");
        assert_eq!(
            result.notices.iter().any(|notice| is_advice(&notice.kind)),
            advised
        );
        if blocked {
            assert_eq!(
                result.text,
                "Blocked: Use the `read` tool instead of cat/head/tail/less.\n\nOriginal command: cat notes.txt"
            );
        }
    }
}

fn safe(builder: BashToolBuilder) -> BashTool {
    let level = SafeLevel::Listed;
    let mode = SafeMode {
        level,
        ..SafeMode::default()
    };
    builder.safe_mode(mode).build()
}

#[tokio::test]
async fn safe_mode_refuses_unlisted_commands_with_the_fixed_text() {
    for (command, want) in [
        ("rm x", "Error: Command not allowed in safe mode"),
        (
            "echo 'unclosed",
            "Error: Invalid command syntax in safe mode",
        ),
    ] {
        let executor = Scripted::exits(0, b"");
        let result = safe(builder(&profiles::WORKSPACE, &executor, Path::new("/")))
            .execute(json!(command), &Cancel::new())
            .await;
        assert_eq!(executor.runs(), 0);
        assert_eq!(result.text, want);
        assert!(matches!(result.status, Status::Blocked { .. }));
    }
}

#[tokio::test]
async fn safe_mode_refusal_names_the_word_and_the_list() {
    for profile in [&profiles::STANDARD, &profiles::MODES, &profiles::PAGED] {
        for level in [SafeLevel::Listed, SafeLevel::ReadOnly] {
            let mode = SafeMode {
                level,
                ..SafeMode::default()
            };
            let executor = Scripted::exits(0, b"");
            let result = builder(profile, &executor, Path::new("/"))
                .safe_mode(mode)
                .build()
                .execute(json!({"command": "foo --bar"}), &Cancel::new())
                .await;
            assert_eq!(executor.runs(), 0);
            assert!(
                result.text.contains(
                    "Error: Command not allowed in safe mode\n`foo` is not on the list of what may run: git, grep, rg,"
                ),
                "{}",
                result.text
            );
        }
    }
}

#[tokio::test]
async fn safe_mode_runs_the_unchanged_command_in_bash() {
    let executor = Scripted::exits(0, b"");
    let tool = safe(builder(&profiles::WORKSPACE, &executor, Path::new("/")));
    tool.execute(json!("git diff"), &Cancel::new()).await;
    let spec = executor.last();
    assert!(spec.shell.is_bash && !spec.snapshot);
    assert_eq!(spec.script, "git diff");
    assert_eq!(spec.env.get("GIT_OPTIONAL_LOCKS"), Some(OsStr::new("0")));
    // The variables of a call could name other programs.
    let call = json!({"command": "git diff", "env": {"GIT_EXTERNAL_DIFF": "evil"}});
    let result = tool.execute(call, &Cancel::new()).await;
    let blocked = Status::Blocked {
        rule: "environment".to_owned(),
        suggested_tool: None,
    };
    assert_eq!(result.status, blocked);
    assert_eq!(executor.runs(), 1);
}

#[tokio::test]
async fn safe_mode_is_refused_without_a_sandbox() {
    let executor = Scripted::exits(0, b"");
    let builder = builder(&profiles::STANDARD, &executor, Path::new("/"));
    let tool = builder.safe_mode(SafeMode::default()).build();
    let result = tool.execute(json!("git diff"), &Cancel::new()).await;
    assert_eq!(executor.runs(), 0);
    for part in [
        "safe mode runs commands in the sandbox `read_only`, but the sandbox needs",
        "--safe-mode=listed",
    ] {
        assert!(result.text.contains(part), "{}", result.text);
    }
    let schema = tool.schema().description;
    assert!(
        schema.contains("Commands run in a sandbox (read_only)"),
        "{schema}"
    );
}

/// A shell with this name that is never started.
fn shell_called(name: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, "").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    (dir, path)
}

#[tokio::test]
async fn modes_and_paged_ignore_the_users_shell() {
    let (_dir, named) = shell_called("zsh");
    for (profile, is_named) in [
        (&profiles::MODES, false),
        (&profiles::PAGED, false),
        // Control: with these the user may choose.
        (&profiles::STANDARD, true),
        (&profiles::WORKSPACE, true),
    ] {
        let executor = Scripted::exits(0, b"");
        let tool = builder(profile, &executor, Path::new("/")).shell(named.clone());
        tool.build().execute(json!("true"), &Cancel::new()).await;
        let shell = executor.last().shell;
        assert_eq!(shell.path == named, is_named, "{:?}", profile.name);
        assert_eq!(shell.is_bash, !is_named, "{:?}", profile.name);
    }
}

#[tokio::test]
async fn command_is_parsed_in_the_dialect_of_its_shell() {
    let (_dir, zsh) = shell_called("zsh");
    for (shell, runs) in [(Some(zsh), 0), (None, 1)] {
        let executor = Scripted::exits(0, b"");
        let mut tool = builder(&profiles::STANDARD, &executor, Path::new("/"));
        if let Some(shell) = shell {
            tool = tool.shell(shell);
        }
        let tool = tool.build();
        // In bash this is the value of `$x` followed by a bracket expression, and harmless.
        let command = "rm -f $x[1]";
        let result = tool.execute(json!(command), &Cancel::new()).await;
        assert_eq!(executor.runs(), runs, "{}", result.text);
        assert_eq!(tool.check(command).refuses(), runs == 0);
        assert_eq!(
            result.text.contains("only zsh"),
            runs == 0,
            "{}",
            result.text
        );
    }
}
