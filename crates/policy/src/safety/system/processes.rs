//! `no_kill_all`: signalling all processes. `no_agent_kill`: ending the agent by a name.

use super::super::command_line::{has_any, has_option};
use super::super::path::{PathDanger, danger};
use super::super::rule::{RuleFinding, RuleInput};
use crate::syntax::CommandHost;
use crate::syntax::run::{Field, ResolvedCommand, is_shell};
use regex::RegexBuilder;

pub(in super::super) fn check(ran: &ResolvedCommand, _: &RuleInput<'_>) -> Option<RuleFinding> {
    let name = ran.name().filter(|_| !ran.is_function)?;
    // All processes of a container end with it, and its first process is meant to be stopped.
    if matches!(
        ran.host,
        CommandHost::Container | CommandHost::Disposable(_)
    ) {
        return None;
    }
    let arguments = ran.arguments();
    let all = match name {
        "kill" => kills_all(arguments),
        // Without a pattern, all of the user's processes are meant.
        "pkill" | "skill" | "killall" => names_all(arguments),
        "killall5" => true,
        _ => false,
    };
    (all && !has_any(arguments, &["--help"])).then(|| RuleFinding::on(ran, arguments))
}

/// True if all processes, or the first one (pid 1), are signalled.
fn kills_all(arguments: &[Field]) -> bool {
    let mut words = arguments
        .iter()
        .filter_map(|field| field.value.literal())
        .peekable();
    let signal = match words.peek() {
        Some(&"-l" | &"-L" | &"--list" | &"--table") => return false,
        Some(&"-s" | &"-n" | &"--signal") => words.nth(1),
        // A first word with a dash is a signal, not a process group: `kill -1` alone sends signal 1
        // to no process.
        Some(text) if text.len() > 1 && text.starts_with('-') && *text != "--" => {
            words.next().map(|text| &text[1..])
        }
        _ => None,
    };
    let ends = matches!(
        signal.map(|name| name.trim_start_matches("SIG")),
        None | Some("9" | "KILL" | "15" | "TERM")
    );
    signal != Some("0") && words.any(|text| text == "-1" || ends && text == "1")
}

/// Options of `pkill` and `killall` that select processes by their owner.
const OWNER_OPTIONS: [&str; 5] = ["-u", "-U", "--euid", "--uid", "--user"];

/// Further options with a value that select processes.
const SELECTING_OPTIONS: [&str; 9] = [
    "-P", "-g", "-G", "-s", "-t", "--parent", "--pgroup", "--session", "--terminal",
];
const OTHER_VALUED_OPTIONS: [&str; 3] = ["--signal", "-n", "-d"];

/// The processes that the arguments of `pkill`, `pgrep` or `killall` select.
#[derive(Default)]
struct SelectedProcesses<'f> {
    patterns: Vec<&'f Field>,
    /// All processes of a user.
    is_owned: bool,
    /// Only some: those of a parent, a group, a terminal.
    is_narrowed: bool,
}

impl<'f> SelectedProcesses<'f> {
    fn of(arguments: &'f [Field]) -> Self {
        let mut selected = Self::default();
        let mut words = arguments.iter();
        while let Some(field) = words.next() {
            let text = field.value.prefix();
            let is_owner = OWNER_OPTIONS.contains(&text);
            let is_narrowing = SELECTING_OPTIONS.contains(&text);
            selected.is_owned |= is_owner
                || has_any(std::slice::from_ref(field), &OWNER_OPTIONS) && !is_signal(text);
            selected.is_narrowed |= is_narrowing;
            if is_owner || is_narrowing || OTHER_VALUED_OPTIONS.contains(&text) {
                words.next();
            } else if text.len() < 2 || !text.starts_with('-') {
                selected.patterns.push(field);
            }
        }
        selected
    }
}

/// True if the arguments select processes by user alone, or by a pattern that matches every name.
fn names_all(arguments: &[Field]) -> bool {
    let selected = SelectedProcesses::of(arguments);
    let everything = |field: &&Field| {
        matches!(
            field.value.literal(),
            Some("." | ".*" | "" | "^" | ".+" | "^.*" | "^.*$" | "*")
        )
    };
    match selected.patterns.as_slice() {
        [] => selected.is_owned && !selected.is_narrowed,
        patterns => patterns.iter().any(everything),
    }
}

/// Options with which no process ends.
const HARMLESS_SIGNALS: [&str; 6] = ["-0", "-CONT", "-SIGCONT", "-WINCH", "-SIGWINCH", "--help"];

/// The least letters of a pattern that selects lines of `ps` by a name, not by a state.
const MIN_NAME_LETTERS: usize = 3;

/// `no_agent_kill`
pub(in super::super) fn check_agent(
    ran: &ResolvedCommand,
    scene: &RuleInput<'_>,
) -> Option<RuleFinding> {
    let name = ran.name().filter(|_| !ran.is_function)?;
    if ran.host != CommandHost::Local || has_any(ran.arguments(), &HARMLESS_SIGNALS) {
        return None;
    }
    let ends_agent = match name {
        "pkill" | "skill" | "killall" => names_agent(ran, scene),
        "kill" => {
            let is_computed = |field: &Field| field.value.has_unknown();
            let by_list = ran.through.iter().any(|program| program == "xargs");
            let is_parent = |field: &Field| {
                let word = scene.text.get(field.span.start..field.span.end);
                word.is_some_and(|word| word.contains("$PPID") || word.contains("${PPID}"))
            };
            let is_ours = || !ran.through.iter().any(|program| is_shell(program));
            ran.arguments().iter().any(is_parent) && is_ours()
                || (by_list || ran.arguments().iter().any(is_computed))
                    && scene.all.iter().any(|other| names_agent(other, scene))
        }
        _ => false,
    };
    ends_agent.then(|| RuleFinding::on(ran, ran.arguments()))
}

/// True if a command selects, by its names or patterns, the agent or a process above it.
fn names_agent(ran: &ResolvedCommand, scene: &RuleInput<'_>) -> bool {
    let arguments = ran.arguments();
    let is_on = |option: &str| has_option(arguments, option);
    let follows_ps = || ran.piped && scene.all.iter().any(|other| other.name() == Some("ps"));
    let (is_full, is_exact) = match ran.name() {
        Some("pkill" | "skill" | "pgrep") => (is_on("-f") || is_on("--full"), is_on("-x")),
        Some("killall") => (false, !(is_on("-r") || is_on("--regexp"))),
        Some("pidof") => (false, true),
        // The names follow `-C`.
        Some("ps") if is_on("-C") => (false, true),
        // The working directory of the agent is open.
        Some("lsof") => {
            let base = scene.path_base(ran);
            let mut paths = arguments
                .iter()
                .filter_map(|field| danger(&field.value, &base));
            return paths.any(|danger| danger != PathDanger::Unknown);
        }
        Some("grep" | "egrep" | "rg" | "awk" | "gawk" | "mawk") if follows_ps() => {
            (true, is_on("-v"))
        }
        _ => return false,
    };
    let is_filter = !matches!(
        ran.name(),
        Some("pkill" | "skill" | "pgrep" | "killall" | "pidof")
    );
    let selected = SelectedProcesses::of(arguments);
    let ignores_case = is_on("-i") || is_on("-I") || is_on("--ignore-case");
    let known = selected
        .patterns
        .iter()
        .filter(|field| !field.value.has_unknown());
    let mut patterns = known.map(|field| field.value.script());
    !selected.is_narrowed
        && patterns.any(|pattern| {
            // `awk '/name/ { … }'`
            let in_slashes = pattern
                .split('/')
                .nth(1)
                .filter(|_| pattern.starts_with('/'));
            let pattern = in_slashes.unwrap_or(&pattern);
            let letters = pattern.bytes().filter(u8::is_ascii_alphanumeric).count();
            let names = letters >= MIN_NAME_LETTERS || !is_filter;
            names && matches_agent(pattern, is_full, is_exact, ignores_case, scene)
        })
}

/// The longest name of a process in bytes, without the terminating NUL.
const MAX_NAME_BYTES: usize = 15;

fn matches_agent(
    pattern: &str,
    is_full: bool,
    is_exact: bool,
    ignores_case: bool,
    scene: &RuleInput<'_>,
) -> bool {
    let mut builder = RegexBuilder::new(pattern);
    let regex = builder.case_insensitive(ignores_case).build();
    let is_match = |name: &str, command_line: &str| {
        // A process that got this script as an argument matches every pattern in the script.
        if is_full && command_line.contains(scene.text.trim()) {
            return false;
        }
        let text = if is_full { command_line } else { name };
        if is_exact {
            return text == pattern
                || name.len() == MAX_NAME_BYTES && !is_full && pattern.starts_with(name);
        }
        match &regex {
            Ok(regex) => regex.is_match(text),
            Err(_) => text.contains(pattern),
        }
    };
    let mut protected = scene.context.protected.iter();
    let names_us = is_full && pattern.starts_with("agent-bash ");
    names_us
        || is_match("agent-bash", "agent-bash")
        || protected.any(|process| is_match(&process.name, &process.command_line))
}

/// `-9`, `-KILL`, `-SIGTERM`
fn is_signal(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|name| {
        !name.is_empty()
            && (name.bytes().all(|byte| byte.is_ascii_digit())
                || name.len() > 2 && name.bytes().all(|byte| byte.is_ascii_uppercase()))
    })
}

#[cfg(test)]
mod tests {
    use crate::{Context, ProtectedProcess, RuleSelection, Script, check_safety};

    #[test]
    fn a_kill_by_name_is_refused_if_it_matches_the_agent_or_a_parent() {
        let process = |name: &str, command_line: &str| ProtectedProcess {
            name: name.to_owned(),
            command_line: command_line.to_owned(),
        };
        let alone = Context::new("/w");
        let context = Context {
            protected: [
                process("node", "node /usr/bin/claude --continue"),
                process("bash", "-bash"),
                process(
                    "sh",
                    "sh -c agent-bash run 'pkill -f vite; kill $(pgrep -f vite)'",
                ),
                process("gnome-terminal-", "/usr/libexec/gnome-terminal-server"),
            ]
            .into(),
            ..Context::new("/w")
        };
        let mut rules = RuleSelection::none();
        for name in ["no_agent_kill", "no_dangerous_inline_code"] {
            assert!(rules.switch(name, true).is_ok());
        }
        for (script, is_refused) in [
            ("pkill node", true),
            ("pkill -9 'nod.'", true),
            ("sudo pkill -f claude", true),
            ("pkill -fi CLAUDE", true),
            ("killall node", true),
            ("killall -9 -r 'no.*'", true),
            ("killall gnome-terminal-server", true),
            ("bash -c 'killall bash'", true),
            ("kill $(pgrep node)", true),
            ("kill -9 `pidof node`", true),
            ("p=$(pgrep -f claude); kill $p", true),
            ("pgrep node | xargs kill", true),
            ("for p in $(pgrep node); do kill $p; done", true),
            (
                "ps aux | grep '[c]laude' | awk '{print $2}' | xargs kill -9",
                true,
            ),
            ("ps aux | awk '/claude/{print $2}' | xargs kill", true),
            ("python3 -c 'import os; os.system(\"pkill node\")'", true),
            ("kill $(ps -C node -o pid=)", true),
            ("pkill -f 'vite --port 3000'", false),
            ("pkill -x nod", false),
            ("pkill -f vite; kill $(pgrep -f vite)", false),
            ("pkill -0 node", false),
            ("pkill -CONT bash", false),
            (
                "kill -9 $(ps -A -ostat,ppid | grep -e '[dD]' | awk '{ print $2 }')",
                false,
            ),
            ("pkill -P 1234 node", false),
            ("killall nod", false),
            ("killall vite", false),
            ("pgrep node", false),
            ("kill $(pgrep vite)", false),
            ("kill $(lsof -ti :3000)", false),
            ("pgrep node; kill 1234", false),
            ("ssh host pkill node", false),
            ("docker exec web pkill node", false),
            ("echo pkill node", false),
        ] {
            let refused = |context| check_safety(&Script::read(script, context), &rules).refuses();
            assert_eq!(refused(&context), is_refused, "{script}");
            // The same script where no agent is above.
            assert!(!refused(&alone), "{script}");
        }
    }
}
