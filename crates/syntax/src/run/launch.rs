//! Commands that start other commands: wrappers, shells, `xargs`, `find -exec`, `parallel`, git.

mod each;
mod git;
mod shell;

use std::rc::Rc;

use super::super::expand::join;
use super::super::git::Git;
use super::super::harmful::HARMFUL_COMMANDS;
use super::super::state::ShellState;
use super::super::value::{Value, Why};
use super::Machine;
use super::call::{Call, quote};
use super::path::{absolute, lexical};
use super::wrapper::{self, Rest, is_assignment};

pub use shell::Invocation;

/// Shells: they run a script given with `-c`, as a file, or on stdin.
const SHELLS: [&str; 12] = [
    "bash", "sh", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash", "ksh93", "yash", "posh",
];

/// Programs to look for first in the arguments of a wrapper with unknown options.
const SOUGHT_PROGRAMS: [&str; 26] = [
    "rimraf", "rm", "git", "find", "xargs", "env", "sudo", "doas", "eval", "python", "python3",
    "perl", "ruby", "node", "php", "bun", "deno", "lua", "awk", "sed", "tar", "make", "timeout",
    "nice", "unlink", "cat",
];

/// True if a program is a shell.
pub fn shell_name(name: &str) -> bool {
    SHELLS.contains(&name)
}

impl Machine<'_> {
    /// Follows a program by name; returns its output.
    pub(super) fn program(&mut self, name: &str, call: &Call, st: &mut ShellState) -> Value {
        if let Some(out) = self.builtin(name, call, st) {
            return out;
        }
        if shell_name(name) {
            return self.shell(name, call, st);
        }
        match name {
            "xargs" | "gxargs" => return self.xargs(call, st),
            "find" | "gfind" | "bfs" => return self.find(call, st),
            "parallel" => return self.parallel(call, st),
            "fd" | "fdfind" => {
                self.after_option(&["-x", "--exec", "-X", "--exec-batch"], "fd", call, st);
            }
            "git" => {
                self.git(call, st);
                if lists_tracked(call) {
                    return Value::unknown(Why::Tracked);
                }
            }
            "at" | "batch" => self.deferred(name, st),
            "crontab" => self.jobs(st),
            "ssh"
                if wrapper::find(name)
                    .is_some_and(|wrapper| wrapper.take(&call.words).command.is_none()) =>
            {
                self.deferred(name, st);
            }
            _ => {}
        }
        if let Some(wrapper) = wrapper::find(name)
            && let Some(out) = self.wrapped(name, wrapper, call, st)
        {
            return out;
        }
        self.output(name, call, st)
    }

    fn wrapped(
        &mut self,
        name: &str,
        wrapper: &wrapper::Wrapper,
        call: &Call,
        st: &mut ShellState,
    ) -> Option<Value> {
        let taken = wrapper.take(&call.words);
        for (at, skip) in &taken.scripts {
            let Some(field) = call.words.get(*at) else {
                continue;
            };
            let mut text = field.value.without_prefix(*skip);
            // `env -S` appends further words to the command in its text.
            if name == "env" {
                for value in call.values(at + 1) {
                    text.push_text(" ");
                    text.extend(&quote(&value));
                }
            }
            self.script_with(&text, Vec::new(), name, st);
        }
        let at = taken.command?;
        match wrapper.rest {
            Rest::Nothing => None,
            Rest::Argv => {
                let mut inner = call.with_words(call.words[at..].to_vec());
                if wrapper.assigns {
                    for value in call
                        .values(1)
                        .iter()
                        .take(at - 1)
                        .filter(|value| is_assignment(value.prefix()))
                    {
                        let prefix = value.prefix();
                        let cut = prefix.find('=').unwrap_or(0);
                        let set = value.without_prefix(cut + 1);
                        inner.env.push((prefix[..cut].to_owned(), set));
                    }
                }
                let directory = taken
                    .directory
                    .and_then(|(at, skip)| Some(call.words.get(at)?.value.without_prefix(skip)));
                let Some(directory) = directory else {
                    return Some(self.start(&inner, name, st));
                };
                // `env -C`: for this command only.
                let mut there = st.clone();
                there.cwd = directory
                    .literal()
                    .map(|path| Rc::from(lexical(&absolute(path, st))));
                let out = self.start(&inner, name, &mut there);
                st.files = there.files;
                Some(out)
            }
            Rest::Script => {
                let text = join(&call.values(at), " ");
                let mut inner = st.clone();
                if name == "ssh" {
                    // On another machine; our directory and home mean nothing there.
                    inner.cwd = None;
                }
                Some(self.script_with(&text, Vec::new(), name, &inner))
            }
            Rest::Search => {
                let word = |at: usize| package(call.literal(at).unwrap_or(""));
                let found = (1..call.words.len())
                    .find(|at| SOUGHT_PROGRAMS.contains(&word(*at)) || shell_name(word(*at)))
                    .or_else(|| {
                        (1..call.words.len()).find(|at| HARMFUL_COMMANDS.contains(&word(*at)))
                    });
                // A whole command in one word, as in `hyperfine 'rm -rf x'`.
                for at in 1..call.words.len() {
                    let text = call.literal(at).unwrap_or("");
                    let first = text.split_whitespace().next().unwrap_or("");
                    let sought =
                        SOUGHT_PROGRAMS.contains(&first) || HARMFUL_COMMANDS.contains(&first);
                    if first.len() < text.len() && (sought || shell_name(first)) {
                        let text = Value::text(text);
                        self.script_with(&text, Vec::new(), name, st);
                    }
                }
                let mut words = call.words.get(found?..)?.to_vec();
                let base = package(words[0].value.literal()?).to_owned();
                words[0].value = Value::text(base);
                Some(self.start(&call.with_words(words), name, st))
            }
        }
    }

    /// Programs that run the contents of their stdin later, or elsewhere.
    fn deferred(&mut self, name: &str, st: &ShellState) {
        let Some(text) = st.stdin.as_deref().cloned() else {
            return;
        };
        self.script_with(&text, Vec::new(), name, st);
    }

    /// The jobs on the stdin of `crontab`: five fields, or a word such as `@daily`, and a command.
    fn jobs(&mut self, st: &ShellState) {
        let text = st.stdin.as_deref().map(Value::script).unwrap_or_default();
        for line in text.lines().map(str::trim_start) {
            let fields = if line.starts_with('@') { 1 } else { 5 };
            if let Some(command) = line.splitn(fields + 1, [' ', '\t']).nth(fields) {
                self.script_with(&Value::text(command), Vec::new(), "crontab", st);
            }
        }
    }

    /// A shell: startup file, `-c`, script file or stdin.
    fn shell(&mut self, name: &str, call: &Call, st: &ShellState) -> Value {
        let st = &mut st.for_a_program();
        for (variable, value) in &call.env {
            if matches!(variable.as_str(), "BASH_ENV" | "ENV")
                && let Some(text) = Self::file(value, st)
            {
                self.script_with(&text, Vec::new(), name, st);
            }
        }
        let invocation = Invocation::read(&call.words);
        let at = invocation.operands;
        // `bash -n`
        if invocation.only_reads {
            return Value::default();
        }
        if invocation.command {
            let Some(text) = call.words.get(at) else {
                return Value::default();
            };
            return self.script_with(&text.value.clone(), call.values(at + 2), name, st);
        }
        let script = match call.words.get(at) {
            Some(file) if !invocation.stdin => Self::file(&file.value, st),
            _ => st.stdin.as_deref().cloned(),
        };
        match script {
            Some(text) => {
                let mut inner = st.clone();
                inner.stdin = None;
                // With `-s` all operands are the script's arguments, otherwise the first one is its
                // name.
                let from = at + usize::from(!invocation.stdin);
                self.script_with(&text, call.values(from), name, &inner)
            }
            None => Value::unknown(Why::Output),
        }
    }
}

/// True if a git command only prints names of tracked files.
fn lists_tracked(call: &Call) -> bool {
    let git = Git::read(&call.words);
    let given = |options: &[&str]| {
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
        Some("ls-files") => !given(&[
            "-o", "--others", "-i", "--ignored", "-s", "--stage", "--directory",
        ]),
        Some("diff" | "diff-files" | "diff-index") => {
            given(&["--name-only"]) && !given(&["--no-index"])
        }
        _ => false,
    }
}

/// The program's name in `/bin/rm`, `rimraf@5`, `npm:rimraf`.
fn package(word: &str) -> &str {
    let word = word.strip_prefix("npm:").unwrap_or(word);
    let base = word.rsplit('/').next().unwrap_or("");
    base.split('@').next().unwrap_or(base)
}
