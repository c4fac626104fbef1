//! Commands that start other commands: launchers, shells, `xargs`, `find -exec`, `parallel`, git.

mod git;
mod mount;
mod per_item;
mod shell;

use std::rc::Rc;

use super::super::command_host::{CommandHost, Mount};
use super::super::git::GitCommandLine;
use super::super::harmful::{HARMFUL_COMMANDS, SEARCHED_FIRST};
use super::super::state::{ShellState, VariableValue};
use super::super::value::{HOLE_CHAR, UnknownCause, Value};
use super::call::{Call, quote};
use super::expand::join;
use super::launcher::{self, CommandForm, LaunchHost, Launcher, ParsedLauncher, sets_variable};
use super::path::{absolute, lexical};
use super::{Field, Walker};

pub(super) use per_item::replaced;
pub use shell::ShellInvocation;

/// Shells, which run a script after `-c`, in a file, or on stdin.
const SHELLS: [&str; 28] = [
    "bash", "sh", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash", "ksh93", "yash", "posh",
    "tcsh", "csh", "nu", "xonsh", "elvish", "osh", "ysh", "oksh", "loksh", "brush", "murex",
    "lksh", "hush", "sash", "nushell", "oil",
];

/// True if a program is a shell.
pub fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

impl Walker<'_> {
    /// Follows a program by name; returns its output.
    pub(super) fn program(&mut self, name: &str, call: &Call, shell: &mut ShellState) -> Value {
        self.option_commands(name, call, shell);
        if let Some(out) = self.builtin(name, call, shell) {
            return out;
        }
        if is_shell(name) {
            return self.shell(name, call, shell);
        }
        if name != "git"
            && let Some(out) = self.find(name, call, shell)
        {
            return out;
        }
        match name {
            "xargs" | "gxargs" => return self.xargs(call, shell),
            "parallel" | "sem" => return self.parallel(call, shell),
            "git" => {
                self.git(call, shell);
                if lists_tracked(call) {
                    return Value::unknown(UnknownCause::Tracked);
                }
            }
            "crontab" => self.crontab_jobs(shell),
            _ => {}
        }
        if let Some(out) = self.launched(name, call, shell) {
            return out;
        }
        self.output(name, call, shell)
    }

    /// Follows the command that a launcher starts; `None` for other programs.
    fn launched(&mut self, name: &str, call: &Call, shell: &mut ShellState) -> Option<Value> {
        let mut launchers = launcher::find(name);
        let (launcher, parsed) = launchers.find_map(|launcher| {
            let parsed = launcher.parse(&call.words)?;
            let starts = parsed.command.is_some() || !parsed.scripts.is_empty();
            let starts = starts || parsed.entry.is_some() || parsed.starts_shell;
            starts.then_some((launcher, parsed))
        })?;
        let mut inner_state = launched_state(launcher, &parsed, call, shell);
        let inner = inner_state.as_mut().unwrap_or(shell);
        for position in parsed.scripts.iter().copied() {
            let Some(mut text) = attached(call, position) else {
                continue;
            };
            // `env -S` reads its text as arguments, and further words after it.
            if name == "env" {
                let arguments = std::mem::replace(&mut text, Value::text("env "));
                text.extend(&arguments);
                for value in call.values(position.0 + 1) {
                    text.push_text(" ");
                    text.extend(&quote(&value));
                }
            }
            self.script_with(&text, Vec::new(), name, inner);
        }
        if parsed.starts_shell {
            // The script is not the input of its own commands: `echo 'su x' | ssh host`.
            let mut shell_state = inner.clone();
            let text = shell_state.stdin.take()?;
            return Some(self.script_with(&text, Vec::new(), name, &shell_state));
        }
        let command_start = parsed.command.unwrap_or(call.words.len());
        let mut words = call.words.get(command_start..).unwrap_or_default().to_vec();
        let program = parsed.entry.or(parsed.begin_option);
        let program = program.and_then(|position| Some((attached(call, position)?, position.0)));
        // `docker run --entrypoint '' image git status`
        if let Some((value, index)) = program.filter(|(value, _)| !value.is_empty()) {
            let span = call.words.get(index)?.span;
            words.insert(0, Field { value, span });
        } else if let Some(program) = followed_program(launcher, call, command_start) {
            let span = call.words.first()?.span;
            let value = Value::text(program);
            words.insert(0, Field { value, span });
        }
        // `start-stop-daemon --exec program -- arguments`
        if words
            .get(1)
            .is_some_and(|field| field.value.literal() == Some("--"))
            && (launcher.begins() || launcher.is_package)
        {
            words.remove(1);
        }
        if words.is_empty() {
            return None;
        }
        match launcher.command_form {
            // ssh passes its words to a shell.
            CommandForm::Script | CommandForm::Dashes
                if parsed.begin_option.is_none()
                    && (launcher.command_form == CommandForm::Script
                        || launcher.host == LaunchHost::Remote) =>
            {
                let values: Vec<Value> = words.into_iter().map(|field| field.value).collect();
                let text = join(&values, " ");
                return Some(self.script_with(&text, Vec::new(), name, inner));
            }
            CommandForm::Search if !launcher.begins() => {
                words = self.searched_command(name, &parsed, call, inner)?;
            }
            _ => {}
        }
        if launcher.is_package {
            // `nix run nixpkgs#git`, `hatch run test:git`
            let name = words[0].value.literal()?.rsplit(['#', ':']).next()?;
            let program = package(name).to_owned();
            words[0].value = Value::text(program);
        }
        let mut started = call.with_words(words);
        if launcher.assigns {
            let values = call.values(1);
            let assigned = values.iter().take(command_start.saturating_sub(1));
            for value in assigned.filter(|value| sets_variable(value.prefix())) {
                let prefix = value.prefix();
                let equals = prefix.find('=').unwrap_or(0);
                let variable_value = value.without_prefix(equals + 1);
                started
                    .env
                    .push((prefix[..equals].to_owned(), variable_value));
            }
        }
        let out = self.start(&started, name, inner);
        if let Some(inner_state) = inner_state {
            shell.files = inner_state.files;
        }
        if launcher.host == LaunchHost::Local {
            self.start_with_mounts(&started, name, mounts(&parsed, call, shell), shell);
        }
        Some(out)
    }

    /// Follows a command of this machine a second time, with paths below these mounts: `apptainer
    /// exec -B /:/host` has the processes, devices and homes of this machine, and the mounts.
    fn start_with_mounts(
        &mut self,
        call: &Call,
        started_by: &str,
        mounts: Rc<[Mount]>,
        shell: &ShellState,
    ) {
        if !mounts.is_empty() {
            let mut mounted = ShellState {
                host: CommandHost::Disposable(mounts),
                ..shell.clone()
            };
            self.start(call, started_by, &mut mounted);
        }
    }

    /// Returns the command of a launcher with unknown options: the words from the first word that
    /// names a relevant program. Also follows words that are whole commands.
    fn searched_command(
        &mut self,
        name: &str,
        parsed: &ParsedLauncher,
        call: &Call,
        shell: &ShellState,
    ) -> Option<Vec<Field>> {
        let all = parsed.start..call.words.len();
        let word = |index: usize| package(call.literal(index).unwrap_or(""));
        let mut searched = all.clone();
        let found = searched
            .find(|index| SEARCHED_FIRST.contains(&word(*index)) || is_shell(word(*index)))
            .or_else(|| {
                all.clone()
                    .find(|index| HARMFUL_COMMANDS.contains(&word(*index)))
            });
        // A whole command in one word, as in `hyperfine 'rm -rf x'`.
        for index in all {
            let text = call.literal(index).unwrap_or("");
            // `screen -X stuff 'make\n'` types the Enter key, too.
            let text = text.trim_end().trim_end_matches(r"\n");
            let first = text.split_whitespace().next().unwrap_or("");
            let is_relevant = SEARCHED_FIRST.contains(&first) || HARMFUL_COMMANDS.contains(&first);
            if first.len() < text.len() && (is_relevant || is_shell(first)) {
                let text = Value::text(text);
                self.script_with(&text, Vec::new(), name, shell);
            }
        }
        let mut words = call.words.get(found?..)?.to_vec();
        let base = package(words[0].value.literal()?).to_owned();
        words[0].value = Value::text(base);
        Some(words)
    }

    /// Follows the jobs on the stdin of `crontab`. A line has five time fields, or a word such as
    /// `@daily`, and a command.
    fn crontab_jobs(&mut self, shell: &ShellState) {
        let text = shell
            .stdin
            .as_deref()
            .map(Value::script)
            .unwrap_or_default();
        // The output of `crontab -l` may be in front.
        for line in text.lines() {
            let line = line.trim_start_matches([' ', '\t', HOLE_CHAR]);
            let fields = if line.starts_with('@') { 1 } else { 5 };
            if let Some(command) = line.splitn(fields + 1, [' ', '\t']).nth(fields) {
                self.script_with(&Value::text(command), Vec::new(), "crontab", shell);
            }
        }
    }

    /// Follows the scripts that a shell runs: functions in its environment, its startup file, `-c`,
    /// its script file or its stdin. The shell has the variables of its environment.
    fn shell(&mut self, name: &str, call: &Call, shell: &ShellState) -> Value {
        let shell = &mut shell.for_child_shell();
        for (variable, value) in &call.env {
            // bash does not take these from its environment.
            if !matches!(variable.as_str(), "IFS" | "PWD") {
                shell.set(variable, VariableValue::Scalar(value.clone()));
                shell.export(variable);
            }
            if let Some(definition) = exported_function(variable, value) {
                self.script(&definition, shell);
            }
        }
        for variable in ["BASH_ENV", "ENV"] {
            let file = shell.literal(variable).map(Value::text);
            if let Some(text) = file.and_then(|file| Self::file(&file, shell)) {
                self.script_with(&text, Vec::new(), name, shell);
            }
        }
        let invocation = ShellInvocation::read(&call.words);
        let operands = invocation.operands;
        // `bash -n`
        if invocation.only_reads {
            return Value::default();
        }
        let mut start_file = invocation.start_file.iter();
        let start_file = start_file.find_map(|index| call.words.get(*index));
        if let Some(text) = start_file.and_then(|file| Self::file(&file.value, shell)) {
            self.script_with(&text, Vec::new(), name, shell);
        }
        if invocation.command {
            let Some(text) = call.words.get(operands) else {
                return Value::default();
            };
            // The operand after the script is `$0`.
            let (text, mut words) = (text.value.clone(), call.values(operands + 1).into_iter());
            shell.zeroth = words.next();
            return self.script_with(&text, words.collect(), name, shell);
        }
        let script = match call.words.get(operands) {
            Some(file) if !invocation.stdin => Self::file(&file.value, shell),
            _ => shell.stdin.as_deref().cloned(),
        };
        match script {
            Some(text) => {
                let mut inner = shell.clone();
                inner.stdin = None;
                // With `-s`, all operands are the script's arguments. Otherwise the first operand
                // is the script's name.
                let arguments = operands + usize::from(!invocation.stdin);
                self.script_with(&text, call.values(arguments), name, &inner)
            }
            None => Value::unknown(UnknownCause::Output),
        }
    }
}

/// Returns the program to which a launcher passes its arguments, if the arguments do not name the
/// program: git in `yadm push`, and the program of the image in `docker run alpine/git push`.
fn followed_program<'c>(launcher: &Launcher, call: &'c Call, start: usize) -> Option<&'c str> {
    if !launcher.program.is_empty() {
        return Some(launcher.program);
    }
    let image = call.literal(start.checked_sub(1)?)?;
    let first = package(call.literal(start)?);
    let is_program = SEARCHED_FIRST.contains(&first) || is_shell(first);
    if launcher.host != LaunchHost::Disposable || is_program || !image.contains('/') {
        return None;
    }
    let name = package(image).split(':').next()?;
    let name = name.strip_suffix("-cli").unwrap_or(name);
    HARMFUL_COMMANDS.contains(&name).then_some(name)
}

/// Returns the definition of the function that bash reads from a variable at its start.
fn exported_function(variable: &str, value: &Value) -> Option<Value> {
    let name = variable.strip_prefix("BASH_FUNC_")?.strip_suffix("%%")?;
    let mut definition = Value::text(format!("{name} "));
    definition.extend(value);
    value.prefix().starts_with("() {").then_some(definition)
}

/// Returns the value of an option. `index` is the index of the word with the value, `skipped` the
/// number of bytes in front of the value.
fn attached(call: &Call, (index, skipped): (usize, usize)) -> Option<Value> {
    Some(call.words.get(index)?.value.without_prefix(skipped))
}

/// Returns the known directories of this machine that are mounted in a container.
fn mounts(parsed: &ParsedLauncher, call: &Call, shell: &ShellState) -> Rc<[Mount]> {
    let positions = parsed.mounts.iter();
    let texts = positions.filter_map(|position| attached(call, *position));
    texts.flat_map(|text| mount::mounts(&text, shell)).collect()
}

/// Returns the state of the shell on another machine, in a container, or in another directory;
/// `None` if the launcher changes neither the host nor the directory.
fn launched_state(
    launcher: &Launcher,
    parsed: &ParsedLauncher,
    call: &Call,
    shell: &ShellState,
) -> Option<ShellState> {
    let directory = parsed
        .directory
        .and_then(|position| attached(call, position));
    let host = match launcher.host {
        LaunchHost::Local if directory.is_none() => return None,
        LaunchHost::Local => shell.host.clone(),
        LaunchHost::Remote => CommandHost::Remote,
        LaunchHost::Container if parsed.mounts.is_empty() => CommandHost::Container,
        LaunchHost::Container | LaunchHost::Disposable => {
            CommandHost::Disposable(mounts(parsed, call, shell))
        }
    };
    let path = directory.as_ref().and_then(Value::literal);
    Some(ShellState {
        // The local directory has no meaning on another machine.
        cwd: path.map(|path| Rc::from(lexical(&absolute(path, shell)))),
        cwd_if_cd_failed: None,
        host,
        ..shell.clone()
    })
}

/// True if a git command only prints names of tracked files.
fn lists_tracked(call: &Call) -> bool {
    let git = GitCommandLine::read(&call.words);
    let has_option = |options: &[&str]| {
        git.arguments.iter().any(|field| {
            let text = field.value.prefix();
            let cluster = text.starts_with('-') && !text.starts_with("--");
            options.iter().any(|option| {
                text == *option
                    || cluster && option.len() == 2 && text.contains(option.trim_start_matches('-'))
            })
        })
    };
    match git.subcommand() {
        Some("ls-files") => !has_option(&[
            "-o", "--others", "-i", "--ignored", "-s", "--stage", "--directory",
        ]),
        Some("diff" | "diff-files" | "diff-index") => {
            has_option(&["--name-only"]) && !has_option(&["--no-index"])
        }
        _ => false,
    }
}

/// Returns the program's name in `/bin/rm`, `rimraf@5`, `npm:rimraf`.
fn package(word: &str) -> &str {
    let word = word.strip_prefix("npm:").unwrap_or(word);
    let base = word.rsplit('/').next().unwrap_or("");
    base.split('@').next().unwrap_or(base)
}
