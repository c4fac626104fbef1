//! Where programs of other languages stand on a command line, and what of them is code.

use super::calls::{self, Call};
use crate::syntax::run::Ran;

/// An interpreter: its names without version, the options that hold a program, whether backticks run
/// a command in it.
struct Interpreter {
    names: &'static [&'static str],
    letters: &'static str,
    long: &'static [&'static str],
    backticks: bool,
}

static INTERPRETERS: [Interpreter; 9] = [
    Interpreter {
        names: &["python", "pypy", "ipython"],
        letters: "c",
        long: &[],
        backticks: false,
    },
    Interpreter {
        names: &["perl"],
        letters: "eE",
        long: &[],
        backticks: true,
    },
    Interpreter {
        names: &["ruby", "jruby"],
        letters: "e",
        long: &[],
        backticks: true,
    },
    Interpreter {
        names: &["node", "nodejs", "bun"],
        letters: "ep",
        long: &["--eval", "--print"],
        backticks: false,
    },
    Interpreter {
        names: &["deno"],
        letters: "",
        long: &["eval"],
        backticks: false,
    },
    Interpreter {
        names: &["php"],
        letters: "rBRE",
        long: &["--run"],
        backticks: true,
    },
    Interpreter {
        names: &["lua", "luajit"],
        letters: "e",
        long: &[],
        backticks: false,
    },
    Interpreter {
        names: &[
            "Rscript",
            "R",
            "julia",
            "osascript",
            "elixir",
            "ghc",
            "scala",
        ],
        letters: "e",
        long: &["--eval"],
        backticks: false,
    },
    Interpreter {
        names: &["tclsh", "expect", "guile"],
        letters: "c",
        long: &[],
        backticks: false,
    },
];

/// Other programs with something to run on their command line.
const OTHERS: [&str; 24] = [
    "awk", "gawk", "mawk", "nawk", "sed", "gsed", "tar", "bsdtar", "gtar", "make", "gmake", "vim",
    "vi", "nvim", "ex", "ed", "gdb", "sqlite3", "psql", "mysql", "less", "emacs", "rsync", "git",
];

/// Variables whose value git and others run as a command.
const RUN_FROM_ENVIRONMENT: [&str; 14] = [
    "GIT_SSH_COMMAND",
    "GIT_SSH",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_PAGER",
    "GIT_EXTERNAL_DIFF",
    "GIT_ASKPASS",
    "GIT_PROXY_COMMAND",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "MANPAGER",
    "LESSOPEN",
    "BROWSER",
];

/// Settings of git whose value is run as a command.
const RUN_FROM_CONFIG: [&str; 9] = [
    "core.sshcommand",
    "core.pager",
    "core.editor",
    "core.fsmonitor",
    "diff.external",
    "sequence.editor",
    "core.askpass",
    "credential.helper",
    "core.gitproxy",
];

/// Everything on this command line that would be run or removed by a program in it.
#[expect(
    clippy::too_many_lines,
    reason = "one arm for each program, none of them long"
)]
pub(super) fn calls(ran: &Ran) -> Vec<Call> {
    let mut out = Vec::new();
    for (name, value) in &ran.env {
        if RUN_FROM_ENVIRONMENT.contains(&name.as_str()) {
            out.push(Call::Script(value.script()));
        }
    }
    let Some(name) = ran.name() else { return out };
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if let Some(interpreter) = INTERPRETERS
        .iter()
        .find(|interpreter| interpreter.names.contains(&stem))
    {
        for program in programs(ran, interpreter) {
            out.extend(calls::calls(&program, interpreter.backticks));
        }
        return out;
    }
    if !OTHERS.contains(&name) {
        return out;
    }
    let words: Vec<String> = ran
        .arguments()
        .iter()
        .map(|field| field.value.script())
        .collect();
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => {
            for word in &words {
                out.extend(calls::calls(word, false));
                if word.contains('|') {
                    out.extend(calls::literals(word).into_iter().map(Call::Script));
                }
            }
        }
        "sed" | "gsed" => out.extend(words.iter().flat_map(|word| sed(word))),
        "tar" | "bsdtar" | "gtar" => {
            for (index, word) in words.iter().enumerate() {
                for option in [
                    "--checkpoint-action=exec=",
                    "--to-command=",
                    "--use-compress-program=",
                    "--info-script=",
                ] {
                    out.extend(
                        word.strip_prefix(option)
                            .map(|text| Call::Script(text.to_owned())),
                    );
                }
                if matches!(
                    word.as_str(),
                    "-I" | "-F" | "--to-command" | "--checkpoint-action" | "--use-compress-program"
                ) {
                    let next = words
                        .get(index + 1)
                        .map(|text| text.strip_prefix("exec=").unwrap_or(text));
                    out.extend(next.map(|text| Call::Script(text.to_owned())));
                }
            }
        }
        "make" | "gmake" => {
            for field in ran.arguments() {
                let file = field
                    .value
                    .literal()
                    .map(|text| text.trim_start_matches("-f").trim_start_matches("--file="));
                let text = file.and_then(|file| {
                    let file = if file.is_empty() { "-" } else { file };
                    ran.file(&crate::syntax::value::Value::text(file))
                });
                if let Some(text) = text {
                    out.extend(recipes(&text.script()));
                }
                out.extend(recipes(&field.value.script()));
            }
        }
        "vim" | "vi" | "nvim" | "ex" | "ed" | "gdb" | "sqlite3" | "psql" | "mysql" | "less"
        | "emacs" => {
            for word in &words {
                let text = word.trim_start_matches([':', '+', '.', '\\']);
                let text = ["!", "shell ", "system ", "r !"]
                    .iter()
                    .find_map(|lead| text.strip_prefix(lead));
                out.extend(text.map(|text| Call::Script(text.to_owned())));
                out.extend(calls::calls(word, false));
            }
        }
        "rsync" => {
            for (index, word) in words.iter().enumerate() {
                let text = if word == "-e" || word == "--rsh" {
                    words.get(index + 1).map(String::as_str)
                } else {
                    word.strip_prefix("--rsh=")
                };
                out.extend(text.map(|text| Call::Script(text.to_owned())));
            }
        }
        "git" => {
            let git = crate::syntax::git::Git::read(&ran.words);
            for (name, value) in &git.config {
                let last = name.rsplit('.').next().unwrap_or(name);
                let filter = name.starts_with("filter.") || matches!(last, "textconv" | "cmd");
                if filter || RUN_FROM_CONFIG.contains(&name.as_str()) {
                    out.push(Call::Script(
                        value.script().trim_start_matches('!').to_owned(),
                    ));
                }
            }
        }
        _ => {}
    }
    out
}

/// The programs an interpreter is given: in options, in a file of the script, on standard input.
fn programs(ran: &Ran, interpreter: &Interpreter) -> Vec<String> {
    let mut out = Vec::new();
    let mut operand = false;
    let mut words = ran.arguments().iter();
    while let Some(field) = words.next() {
        let text = field.value.prefix();
        if interpreter.long.contains(&text) {
            out.extend(words.next().map(|field| field.value.script()));
        } else if let Some((name, _)) = text
            .split_once('=')
            .filter(|(name, _)| interpreter.long.contains(name))
        {
            out.push(field.value.script()[name.len() + 1..].to_owned());
        } else if text.starts_with('-') && !text.starts_with("--") && text.len() > 1 {
            // A cluster such as `-ne`: the program follows, or stands behind the letter.
            if let Some(at) = text.find(|c| interpreter.letters.contains(c)) {
                if at + 1 == text.len() && field.value.literal().is_some() {
                    out.extend(words.next().map(|field| field.value.script()));
                } else {
                    out.push(field.value.script()[at + 1..].to_owned());
                }
            }
        } else if !operand && text != "-" {
            operand = true;
            out.extend(
                ran.file(&field.value)
                    .map(crate::syntax::value::Value::script),
            );
        }
    }
    if out.is_empty() && !operand {
        out.extend(ran.stdin.as_ref().map(crate::syntax::value::Value::script));
    }
    out
}

/// `e command` in a sed program.
fn sed(program: &str) -> Vec<Call> {
    program
        .split([';', '\n', '{'])
        .filter_map(|command| {
            let command = command
                .trim_start()
                .trim_start_matches(|c: char| c.is_ascii_digit() || "$,!~+ ".contains(c));
            // An address such as `/x/`.
            let command = match command.strip_prefix('/') {
                Some(rest) => rest.split_once('/')?.1.trim_start(),
                None => command,
            };
            let text = command.strip_prefix('e')?;
            text.starts_with([' ', '\t'])
                .then(|| Call::Script(text.trim().to_owned()))
        })
        .collect()
}

/// The recipe lines of a makefile, and what `$(shell …)` runs.
fn recipes(makefile: &str) -> Vec<Call> {
    let mut out = Vec::new();
    for line in makefile.lines() {
        let recipe = line.strip_prefix('\t').or_else(|| {
            line.split_once(':')
                .and_then(|(_, rest)| Some(rest.split_once(';')?.1))
        });
        if let Some(recipe) = recipe {
            out.push(Call::Script(
                recipe
                    .trim_start_matches(['@', '-', '+', ' '])
                    .replace("$$", "$"),
            ));
        }
        if let Some((_, rest)) = line.split_once("$(shell ") {
            out.push(Call::Script(rest.trim_end_matches(')').to_owned()));
        }
    }
    out
}
