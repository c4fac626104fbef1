//! The codes of refused commands, and the processes that may use a code.

use super::*;
use agent_bash_policy::{Check, Span};
use agent_bash_process::SystemClock;
use std::sync::Mutex;

#[derive(Debug)]
struct ManualClock(Mutex<u64>);

#[async_trait::async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn wall(&self) -> Timestamp {
        Timestamp(*self.0.lock().unwrap())
    }

    async fn sleep(&self, _: Duration) {}
}

fn finding() -> Finding {
    Finding {
        check: Check::Safety,
        rule: "no_force_push".to_owned(),
        group: None,
        message: "no".to_owned(),
        suggestion: String::new(),
        span: Span::default(),
        words: Vec::new(),
        paths: Vec::new(),
        suggested_tool: None,
    }
}

fn process(pid: i32, name: &str) -> Ancestor {
    Ancestor {
        identity: ProcessIdentity::new(pid, 7),
        name: name.to_owned(),
        command_line: name.to_owned(),
        is_terminal_shell: name == "zsh",
    }
}

/// Returns a host whose process descends from an agent in the user's shell.
fn host() -> HostContext {
    HostContext {
        processes: ["agent-bash", "claude", "zsh", "tmux"]
            .iter()
            .zip([90, 80, 50, 40])
            .map(|(name, pid)| process(pid, name))
            .collect(),
        ..HostContext::bare("/w")
    }
}

#[test]
fn allowed_command_runs_once_in_its_directory() {
    let state = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock(Mutex::new(1_000_000)));
    let exceptions = Exceptions::new(state.path().to_owned(), Arc::clone(&clock) as _);
    let here = Path::new("/w");
    let take = |command: &str, cwd: &str| {
        exceptions.consume_permission(command, Path::new(cwd), CheckedBy::Call)
    };
    let add = || {
        exceptions
            .add("git push -f", here, &finding(), &host())
            .unwrap()
    };
    let code = add();
    // A sandboxed call can read the file, so it can hold the lock.
    let held = std::fs::File::open(state.path().join(LOCK)).unwrap();
    held.lock().unwrap();
    assert_eq!(
        exceptions.add("git push -f", here, &finding(), &host()),
        None
    );
    held.unlock().unwrap();
    assert_eq!(add(), code, "a repeated refusal has the same code");
    assert_eq!(code.len(), CODE_LENGTH);
    let itself = Finding {
        rule: SELF_EXCEPTION_RULE.to_owned(),
        ..finding()
    };
    assert_eq!(
        exceptions.add("agent-bash allow X", here, &itself, &host()),
        None
    );
    assert!(!take("git push -f", "/w"), "a code alone allows nothing");
    assert!(!exceptions.decide("AAAAAA", Some(Allowance::Once)).unwrap());
    assert!(exceptions.decide(&code, Some(Allowance::Once)).unwrap());
    assert!(!take("git push -f", "/other") && !take("git push -f x", "/w"));
    assert!(take("git push -f", "/w"));
    assert!(!take("git push -f", "/w"), "once");

    let code = add();
    exceptions.decide(&code, Some(Allowance::Once)).unwrap();
    *clock.0.lock().unwrap() += 10 * 60 * 1000;
    assert!(!take("git push -f", "/w"), "ten minutes are over");

    let code = add();
    exceptions.decide(&code, Some(Allowance::Always)).unwrap();
    *clock.0.lock().unwrap() += 365 * 24 * 60 * 60 * 1000;
    assert!(take("git push -f", "/w") && take("git push -f", "/w"));
    exceptions.decide(&code, None).unwrap();
    assert!(!take("git push -f", "/w"));
}

#[test]
fn permission_passes_one_hook_and_one_check_of_the_shell() {
    let state = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock(Mutex::new(1_000_000)));
    let exceptions = Exceptions::new(state.path().to_owned(), Arc::clone(&clock) as _);
    let take = |check| exceptions.consume_permission("x", Path::new("/w"), check);
    let allow = || {
        let code = exceptions.add("x", Path::new("/w"), &finding(), &host());
        exceptions
            .decide(&code.unwrap(), Some(Allowance::Once))
            .unwrap();
    };
    allow();
    assert!(take(CheckedBy::Hook));
    assert!(!take(CheckedBy::Hook));
    assert!(take(CheckedBy::Call));
    assert!(!take(CheckedBy::Call));
    allow();
    assert!(take(CheckedBy::HookBeforeCall) && take(CheckedBy::Call));
    allow();
    assert!(take(CheckedBy::Hook));
    *clock.0.lock().unwrap() += 30 * 1000;
    assert!(!take(CheckedBy::Call));
}

#[test]
fn no_process_below_the_agent_or_a_host_can_use_the_code() {
    let state = tempfile::tempdir().unwrap();
    let exceptions = Exceptions::new(state.path().to_owned(), Arc::new(SystemClock::new()));
    exceptions.add("x", Path::new("/w"), &finding(), &host());
    let refused = exceptions.list().unwrap().remove(0);
    let below = |above: &[(&str, i32)]| {
        let own = std::iter::once(process(99, "agent-bash"));
        let all: Vec<_> = own
            .chain(above.iter().map(|(name, pid)| process(*pid, name)))
            .collect();
        refused
            .model_controlled_ancestor(&all)
            .map(|process| process.identity.pid)
    };
    // The user, in the shell of the agent's terminal or in another one.
    assert_eq!(below(&[("zsh", 50), ("tmux", 40)]), None);
    assert_eq!(below(&[("bash", 60), ("tmux", 40)]), None);
    // The agent's own shell tool, also behind `script` or `setsid`.
    assert_eq!(
        below(&[("bash", 97), ("claude", 80), ("zsh", 50)]),
        Some(80)
    );
    assert_eq!(
        below(&[("script", 97), ("bash", 96), ("claude", 80)]),
        Some(80)
    );
    // A call of this or another host.
    assert_eq!(below(&[("bash", 97), ("agent-bash-sup", 96)]), Some(96));
    // A copy of the program under another name, below the same agent.
    assert_eq!(below(&[("x", 97), ("claude", 80)]), Some(80));
    // A process with the number of the agent is not the agent.
    let mut vim = process(80, "vim");
    vim.identity.start_time = 8;
    assert_eq!(
        refused.model_controlled_ancestor(&[process(99, "agent-bash"), vim]),
        None
    );
    // In another PID namespace, the ancestors are unknown.
    let mut hidden = process(2, "agent-bash");
    hidden.identity.namespace += 1;
    assert!(refused.model_controlled_ancestor(&[hidden]).is_some());
}
