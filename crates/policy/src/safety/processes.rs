//! `no_kill_all`: signalling all processes. `no_agent_kill`: ending the agent by its name.

use super::command_line::{has_any, has_option};
use super::path::{PathDanger, danger};
use super::rule::{RuleFinding, RuleInput};
use crate::syntax::CommandHost;
use crate::syntax::run::{Field, ResolvedCommand, is_shell};
use crate::syntax::value::{UnknownCause, Value};
use regex::RegexBuilder;

pub(super) fn check(command: &ResolvedCommand, _: &RuleInput<'_>) -> Option<RuleFinding> {
    let name = command.name().filter(|_| !command.is_function)?;
    // In a container, these signals only stop the container.
    if command.host.is_container() {
        return None;
    }
    let arguments = command.arguments();
    let all = match name {
        "kill" => kills_all(arguments),
        // Without a pattern, these programs signal all processes of the user.
        "pkill" | "skill" | "killall" => names_all(arguments),
        "killall5" => true,
        _ => false,
    };
    (all && !has_any(arguments, &["--help"])).then(|| RuleFinding::on(command, arguments))
}

/// True if `kill` signals all processes, or ends the first process (pid 1).
fn kills_all(arguments: &[Field]) -> bool {
    let mut words = arguments
        .iter()
        .filter_map(|field| field.value.literal())
        .peekable();
    let signal = match words.peek() {
        Some(&"-l" | &"-L" | &"--list" | &"--table") => return false,
        Some(&"-s" | &"-n" | &"--signal") => words.nth(1),
        // A first word with a dash is a signal, not a process group: `kill -1` alone is signal 1
        // without a process.
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
/// Options with a value that do not select processes.
const OTHER_VALUED_OPTIONS: [&str; 4] = ["--signal", "-s", "-n", "-d"];

/// The processes that the arguments of `pkill`, `pgrep` or `killall` select.
#[derive(Default)]
struct SelectedProcesses<'f> {
    patterns: Vec<&'f Field>,
    /// True if processes are selected by their owner.
    is_owned: bool,
    /// True if processes are selected by their parent, group or terminal.
    is_narrowed: bool,
}

impl<'f> SelectedProcesses<'f> {
    fn of(arguments: &'f [Field]) -> Self {
        let mut selected = Self::default();
        let mut words = arguments.iter();
        while let Some(field) = words.next() {
            let text = field.value.prefix();
            let is_owner = OWNER_OPTIONS.contains(&text);
            // `killall -s KILL`; `pkill -s` has a session.
            let value = words.as_slice().first().map(|next| next.value.prefix());
            let is_by_letters = value.is_some_and(|value| value.starts_with(char::is_uppercase));
            let is_narrowing =
                SELECTING_OPTIONS.contains(&text) && !(text == "-s" && is_by_letters);
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
    let matches_every_name = |field: &&Field| {
        matches!(
            field.value.literal(),
            Some("." | ".*" | "" | "^" | ".+" | "^.*" | "^.*$" | "*")
        )
    };
    match selected.patterns.as_slice() {
        [] => selected.is_owned && !selected.is_narrowed,
        patterns => patterns.iter().any(matches_every_name),
    }
}

/// Signals that end no process, and `--help`.
const HARMLESS_SIGNALS: [&str; 6] = ["-0", "-CONT", "-SIGCONT", "-WINCH", "-SIGWINCH", "--help"];

/// The smallest number of letters in a pattern that selects lines of `ps` by name. Shorter patterns
/// select by state (`grep '[dD]'`).
const MIN_NAME_LETTERS: usize = 3;

/// The function of `no_agent_kill`.
pub(super) fn check_agent(command: &ResolvedCommand, input: &RuleInput<'_>) -> Option<RuleFinding> {
    let name = command.name().filter(|_| !command.is_function)?;
    if command.host != CommandHost::Local || has_any(command.arguments(), &HARMLESS_SIGNALS) {
        return None;
    }
    let ends_agent = match name {
        "pkill" | "skill" | "killall" => names_agent(command, input),
        "kill" => {
            // A number is `$!`, a process of the script.
            let number = Value::unknown(UnknownCause::Number);
            let is_computed =
                |field: &Field| field.value.has_unknown() && field.value.quoted() != number;
            let is_by_xargs = command.started_by.iter().any(|program| program == "xargs");
            let is_parent = |field: &Field| {
                let word = source(field, input);
                word.contains("$PPID") || word.contains("${PPID}")
            };
            // In an inner shell, the parent is the script's shell, not the agent.
            let is_outer_shell = || !command.started_by.iter().any(|program| is_shell(program));
            command.arguments().iter().any(is_parent) && is_outer_shell()
                || (is_by_xargs || command.arguments().iter().any(is_computed))
                    && input.commands.iter().any(|other| names_agent(other, input))
        }
        _ => false,
    };
    ends_agent.then(|| RuleFinding::on(command, command.arguments()))
}

/// Returns the text of a word in the script.
fn source<'i>(field: &Field, input: &RuleInput<'i>) -> &'i str {
    let text = input.text.get(field.span.start..field.span.end);
    text.unwrap_or_default()
}

/// True if the text between two commands contains no end of a pipeline.
fn is_within_pipeline(text: &str) -> bool {
    let mut before_last = text.lines().rev().skip(1);
    before_last.all(|line| line.trim_end().ends_with(['|', '\\']))
}

/// True if a command selects the agent or one of the agent's parent processes by a name or pattern.
fn names_agent(command: &ResolvedCommand, input: &RuleInput<'_>) -> bool {
    let arguments = command.arguments();
    let has = |option: &str| has_option(arguments, option);
    let is_own = |field: &Field| source(field, input).contains("$$");
    let follows_ps = || {
        let is_before = |other: &ResolvedCommand| {
            let between = input.text.get(other.span.end..command.span.start);
            // Commands of a nested text have the span of the text.
            let follows = || between.is_some_and(is_within_pipeline);
            other.name() == Some("ps") && (other.span == command.span || follows())
        };
        command.reads_pipe && input.commands.iter().any(is_before)
    };
    let (is_full, is_exact, is_filter) = match command.name() {
        Some("pkill" | "skill" | "pgrep") => (has("-f") || has("--full"), has("-x"), false),
        Some("killall") => (false, !(has("-r") || has("--regexp")), false),
        Some("pidof") => (false, true, false),
        // `ps -o ppid= -p $$`
        Some("ps") if arguments.iter().any(is_own) => {
            let mut words = arguments.iter();
            return words.any(|field| field.value.prefix().contains("ppid"));
        }
        // The names follow `-C`.
        Some("ps") if has("-C") => (false, true, true),
        // The agent has its working directory open.
        Some("lsof") => {
            let base = input.path_base(command);
            let mut paths = arguments
                .iter()
                .filter_map(|field| danger(&field.value, &base));
            return paths.any(|danger| danger != PathDanger::Unknown);
        }
        Some("grep" | "egrep" | "rg" | "awk" | "gawk" | "mawk") if follows_ps() => {
            (true, has("-v"), true)
        }
        _ => return false,
    };
    let selected = SelectedProcesses::of(arguments);
    let ignores_case = has("-i") || has("-I") || has("--ignore-case");
    let known = selected
        .patterns
        .iter()
        .filter(|field| !field.value.has_unknown());
    let mut patterns = known.map(|field| field.value.script());
    !selected.is_narrowed
        && patterns.any(|pattern| {
            // `awk '/name/ { … }'`
            let is_awk = command.name().is_some_and(|name| name.ends_with("awk"));
            let in_slashes = pattern.split('/').nth(1);
            let in_slashes = in_slashes.filter(|_| is_awk && pattern.starts_with('/'));
            let pattern = in_slashes.unwrap_or(&pattern);
            let letters = pattern.bytes().filter(u8::is_ascii_alphanumeric).count();
            let is_name = letters >= MIN_NAME_LETTERS || !is_filter;
            is_name && matches_agent(pattern, is_full, is_exact, ignores_case, input)
        })
}

/// The longest name of a process in bytes, without the terminating NUL (`TASK_COMM_LEN` of Linux).
const MAX_NAME_BYTES: usize = 15;

/// True if a pattern matches the name (with `is_full`, the command line) of the agent or of one of
/// its parent processes. With `is_exact`, the whole name must equal the pattern.
fn matches_agent(
    pattern: &str,
    is_full: bool,
    is_exact: bool,
    ignores_case: bool,
    input: &RuleInput<'_>,
) -> bool {
    let mut builder = RegexBuilder::new(pattern);
    let regex = builder.case_insensitive(ignores_case).build();
    let is_match = |name: &str, command_line: &str| {
        // A process with this script as an argument matches every pattern in the script.
        if is_full && command_line.contains(input.text.trim()) {
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
    let mut protected = input.context.protected.iter();
    // `/usr/bin/agent-bash mcp`
    let program = pattern.rsplit('/').next().unwrap_or(pattern);
    let names_agent_bash =
        is_full && (program == "agent-bash" || program.starts_with("agent-bash "));
    names_agent_bash
        || is_match("agent-bash", "agent-bash")
        || protected.any(|process| is_match(&process.name, &process.command_line))
}

/// True if an option is a signal: `-9`, `-KILL`, `-SIGTERM`.
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
    fn kill_by_name_is_refused_if_it_matches_the_agent_or_a_parent() {
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
            ("killall -s KILL node", true),
            ("pkill -s 1234 node", false),
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
            ("kill $(lsof -ti :3000 -sTCP:LISTEN)", false),
            ("kill $(lsof -ti :3000)", false),
            ("pgrep node; kill 1234", false),
            ("ssh host pkill node", false),
            ("docker exec web pkill node", false),
            ("echo pkill node", false),
            (
                "kill \"$(ps | grep webpack | cut -c1-5)\"\nclaude --version | grep node\nps",
                false,
            ),
            (
                "ps aux |\n  grep node |\n  awk '{print $2}' | xargs kill",
                true,
            ),
        ] {
            let refused = |context| check_safety(&Script::read(script, context), &rules).refuses();
            assert_eq!(refused(&context), is_refused, "{script}");
            // The same script where no agent is above.
            assert!(!refused(&alone), "{script}");
        }
    }
}
