//! Which calls run on a terminal, and what differs there.

use crate::scripted::{Scripted, Stopped, outcome};
use agent_bash::core::changes::{ChangesLevel, TraceState};
use agent_bash::core::{
    Cancel, Mode, NotStarted, Profile, Request, ScriptEnding, SessionName, Status, StdinSource,
    StreamId,
};
use agent_bash::{BashTool, BashToolBuilder, CallOptions, ChangesSettings, HostContext, profiles};
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A tool with a terminal, in an environment; and the executors without and with a terminal.
fn tool(
    profile: &Profile,
    env: &[(&str, &str)],
    on_terminal: &Arc<Scripted>,
    add: impl FnOnce(BashToolBuilder) -> BashToolBuilder,
) -> (BashTool, Arc<Scripted>) {
    let plain = Scripted::exits(0, b"plain\n");
    let mut vars: BTreeMap<_, _> = env.iter().map(|(k, v)| (k.into(), v.into())).collect();
    vars.insert("PATH".into(), "/usr/bin:/bin".into());
    vars.insert("PAGER".into(), "less".into());
    let host = HostContext {
        cwd: PathBuf::from("/"),
        home: None,
        env: Arc::new(vars),
        tools: None,
        processes: Arc::default(),
    };
    let clock = Arc::new(Stopped);
    let builder = BashTool::builder(profile.clone(), host, plain.clone(), clock)
        .sessions(true)
        .virtual_terminal(true)
        .terminal(on_terminal.clone());
    (add(builder).build(), plain)
}

#[tokio::test]
async fn terminal_of_a_call_is_used_unless_forbidden() {
    let none: &[(&str, &str)] = &[];
    for (env, is_allowed) in [(none, true), (&[("AGENT_BASH_NO_PTY", "1")], false)] {
        let brought = Scripted::exits(0, b"typed\r\n");
        // The tool offers none, because its profile does not allow it.
        let (tool, plain) = tool(&profiles::MODES, env, &Scripted::exits(0, b""), |builder| {
            builder
        });
        let options = CallOptions {
            terminal: Some(brought.clone()),
            ..CallOptions::default()
        };
        let request = Request::new("ls");
        let result = tool.execute_with(request, options, &Cancel::new()).await;
        assert_eq!((brought.runs() == 1, plain.runs()), (is_allowed, 0));
        if is_allowed {
            let spec = brought.last();
            let term = spec.env.get("TERM").and_then(|term| term.to_str());
            assert_eq!(term, Some("xterm-256color"), "as for a user at a terminal");
        } else {
            assert!(result.text.contains("AGENT_BASH_NO_PTY"), "{}", result.text);
        }
    }
}

#[tokio::test]
async fn terminal_needs_setting_profile_and_viewer() {
    let request = || Request::new("ls");
    let standard = &profiles::STANDARD;
    let none: &[(&str, &str)] = &[];
    for (profile, env, request, want) in [
        (standard, none, request(), true),
        (standard, &[("AGENT_BASH_NO_PTY", "1")], request(), false),
        (standard, &[("PI_NO_PTY", "1")], request(), false),
        (standard, &[("PI_NO_PTY", "0")], request(), true),
        (&profiles::MODES, none, request(), false),
        (&profiles::PAGED, none, request(), false),
        (&profiles::WORKSPACE, none, request(), false),
        (standard, none, request().pty(Some(true)), true),
        (standard, none, request().pty(Some(false)), false),
        (standard, none, request().head(NonZeroU64::new(1)), false),
        (standard, none, request().tail(NonZeroU64::new(1)), false),
        (standard, none, Request::new("ls | head -3"), false),
        (
            standard,
            none,
            request().session(Some(SessionName("a".into()))),
            false,
        ),
        (standard, none, request().mode(Some(Mode::Slow)), true),
    ] {
        let on_terminal = Scripted::exits(0, b"on a terminal\r\n");
        let (tool, plain) = tool(profile, env, &on_terminal, |builder| builder);
        tool.execute(request.clone(), &Cancel::new()).await;
        let runs = (on_terminal.runs(), plain.runs());
        let wanted = if want { (1, 0) } else { (0, 1) };
        assert_eq!(runs, wanted, "{:?} {env:?} {request:?}", profile.name);
    }
}

#[tokio::test]
async fn attended_terminal_has_no_time_limit() {
    const ASKED: Duration = Duration::from_secs(7);
    let usual = profiles::STANDARD.timeouts.default;
    for (is_attended, unlimited, pty, asked, wanted) in [
        (true, false, true, None, None),
        (true, false, true, Some(ASKED), Some(ASKED)),
        (true, false, false, None, Some(usual)),
        (false, false, true, None, Some(usual)),
        (false, true, true, None, None),
        (false, true, false, None, None),
        (false, true, false, Some(ASKED), Some(ASKED)),
    ] {
        let on_terminal = Scripted::exits(0, b"");
        let (tool, plain) = tool(&profiles::STANDARD, &[], &on_terminal, |builder| builder);
        let options = CallOptions {
            is_attended,
            unlimited,
            ..CallOptions::default()
        };
        let request = Request::new("vim").pty(Some(pty)).timeout(asked);
        tool.execute_with(request, options, &Cancel::new()).await;
        let ran = if pty { on_terminal } else { plain };
        let case = (is_attended, unlimited, pty, asked);
        assert_eq!(ran.last().timeout, wanted, "{case:?}");
    }
}

#[tokio::test]
async fn terminal_is_not_used_without_the_setting() {
    let on_terminal = Scripted::exits(0, b"");
    let (tool, plain) = tool(&profiles::STANDARD, &[], &on_terminal, |builder| {
        builder.virtual_terminal(false)
    });
    let request = Request::new("ls").pty(Some(true));
    tool.execute(request, &Cancel::new()).await;
    assert_eq!((on_terminal.runs(), plain.runs()), (0, 1));
}

#[tokio::test]
async fn command_with_the_callers_stdin_has_no_terminal() {
    let on_terminal = Scripted::exits(0, b"");
    let (tool, plain) = tool(&profiles::STANDARD, &[], &on_terminal, |builder| builder);
    let options = CallOptions {
        stdin: StdinSource::Inherit,
        ..CallOptions::default()
    };
    tool.execute_with(Request::new("cat"), options, &Cancel::new())
        .await;
    assert_eq!((on_terminal.runs(), plain.runs()), (0, 1));
}

#[tokio::test]
async fn environment_on_a_terminal_is_that_of_a_terminal() {
    let on_terminal = Scripted::exits(0, b"");
    let (tool, _) = tool(&profiles::STANDARD, &[], &on_terminal, |builder| builder);
    tool.execute(Request::new("env"), &Cancel::new()).await;
    let env = on_terminal.last().env;
    let value = |name: &str| {
        env.get(name)
            .map(|value| value.to_string_lossy().into_owned())
    };
    assert_eq!(value("TERM").as_deref(), Some("xterm-256color"));
    // A pager's prompts are not answered there either.
    assert_eq!(value("PAGER").as_deref(), Some("cat"));
    assert_eq!(value("GIT_TERMINAL_PROMPT").as_deref(), Some("0"));
}

#[tokio::test]
async fn carriage_returns_of_a_terminal_end_lines() {
    let on_terminal = Scripted::exits(0, b"10%\r50%\rdone\r\nend\r\n");
    let (tool, _) = tool(&profiles::STANDARD, &[], &on_terminal, |builder| builder);
    let result = tool.execute(Request::new("x"), &Cancel::new()).await;
    assert_eq!(result.text, "10%\n50%\ndone\nend\n");
}

#[tokio::test]
async fn errors_of_the_terminal_are_reported() {
    let reason = "PTY error: no terminals left";
    let on_terminal = Scripted::new(Vec::new(), Err(NotStarted::new(reason)));
    let (before, _) = tool(&profiles::STANDARD, &[], &on_terminal, |builder| builder);
    let result = before.execute(Request::new("x"), &Cancel::new()).await;
    assert_eq!(
        result.status,
        Status::NotStarted {
            reason: reason.to_owned()
        }
    );
    assert_eq!(result.text, reason);

    let lost = ScriptEnding::Lost {
        reason: "the terminal broke".to_owned(),
    };
    let printed = b"so far\r\nPTY error: the terminal broke\r\n".to_vec();
    let on_terminal = Scripted::new(vec![(StreamId::Merged, printed)], Ok(outcome(lost)));
    let (after, _) = tool(&profiles::STANDARD, &[], &on_terminal, |builder| builder);
    let result = after.execute(Request::new("x"), &Cancel::new()).await;
    assert_eq!(
        result.text,
        "so far\nPTY error: the terminal broke\n\nCommand failed: missing exit status"
    );
}

/// A call on a terminal is recorded as others are. If its executor cannot, the result says so if a
/// record was requested.
#[tokio::test]
async fn changes_of_a_call_on_a_terminal_are_recorded() {
    const SAID: &str =
        "The file changes of this call are not known: it ran where it cannot be traced";
    let temp = tempfile::tempdir().unwrap();
    let (root, state) = (temp.path().join("root"), temp.path().join("state"));
    std::fs::create_dir(&root).unwrap();
    let mut watched = outcome(ScriptEnding::Exited { code: 0 });
    watched.traced = Some(TraceState::complete());
    for (level, traced, is_said) in [
        (None, false, false),
        (Some(ChangesLevel::Off), false, false),
        (Some(ChangesLevel::Undo), false, true),
        (Some(ChangesLevel::Undo), true, false),
    ] {
        let settings = ChangesSettings {
            level,
            root: Some(root.clone()),
            ..ChangesSettings::default()
        };
        let brought = if traced {
            Scripted::new(Vec::new(), Ok(watched.clone()))
        } else {
            Scripted::exits(0, b"typed\r\n")
        };
        let (tool, _) = tool(&profiles::STANDARD, &[], &brought, |builder| {
            builder.changes(settings).changes_in(state.clone(), "s")
        });
        let options = CallOptions {
            terminal: Some(brought.clone()),
            ..CallOptions::default()
        };
        let request = Request::new("ls");
        let result = tool.execute_with(request, options, &Cancel::new()).await;
        assert_eq!(result.text.contains(SAID), is_said, "{}", result.text);
        assert_eq!(result.changes.is_some(), traced);
        let is_wanted = level == Some(ChangesLevel::Undo);
        assert_eq!(brought.last().trace.is_some(), is_wanted);
    }
}
