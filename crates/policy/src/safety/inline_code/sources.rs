//! Where programs of other languages stand on a command line, and what of them is code.

use super::calls::{self, Call};
use super::tokens::Dialect;
use super::{awk, options, sed, tcl, unread};
use crate::syntax::git::Git;
use crate::syntax::run::Ran;
use crate::syntax::value::Value;
use crate::syntax::written::Written;

/// An interpreter: its names without version, the options that hold a program, how its programs are written,
/// whether backticks run a command in it.
struct Interpreter {
    dialect: Dialect,
    names: &'static [&'static str],
    letters: &'static str,
    /// Letters of options that take a value: what is attached to them is no cluster.
    valued: &'static str,
    long: &'static [&'static str],
    backticks: bool,
}

/// A dialect by what its comments begin with.
const fn dialect(comment: &'static str) -> Dialect {
    Dialect {
        comment,
        named_quotes: false,
    }
}

/// Perl and Ruby.
const SCRIPTING: Dialect = Dialect {
    comment: "#",
    named_quotes: true,
};

static INTERPRETERS: [Interpreter; 11] = [
    Interpreter {
        dialect: dialect("%"),
        names: &["erl"],
        letters: "",
        valued: "",
        long: &["-eval"],
        backticks: false,
    },
    Interpreter {
        dialect: SCRIPTING,
        names: &["crystal"],
        letters: "",
        valued: "",
        long: &["eval"],
        backticks: true,
    },
    Interpreter {
        dialect: dialect("#"),
        names: &["python", "pypy", "ipython"],
        letters: "c",
        valued: "WXQm",
        long: &[],
        backticks: false,
    },
    Interpreter {
        dialect: SCRIPTING,
        names: &["perl"],
        letters: "eE",
        valued: "MmIx",
        long: &[],
        backticks: true,
    },
    Interpreter {
        dialect: SCRIPTING,
        names: &["ruby", "jruby"],
        letters: "e",
        valued: "rIC",
        long: &[],
        backticks: true,
    },
    Interpreter {
        dialect: dialect("//"),
        names: &["node", "nodejs", "bun"],
        letters: "ep",
        valued: "rC",
        long: &["--eval", "--print"],
        backticks: false,
    },
    Interpreter {
        dialect: dialect("//"),
        names: &["deno"],
        letters: "",
        valued: "",
        long: &["eval"],
        backticks: false,
    },
    Interpreter {
        dialect: dialect("//"),
        names: &["php"],
        letters: "rBRE",
        valued: "dczf",
        long: &["--run"],
        backticks: true,
    },
    Interpreter {
        dialect: dialect("--"),
        names: &["lua", "luajit"],
        letters: "e",
        valued: "l",
        long: &[],
        backticks: false,
    },
    Interpreter {
        dialect: dialect("#"),
        names: &[
            "Rscript",
            "R",
            "julia",
            "osascript",
            "elixir",
            "ghc",
            "scala",
            "racket",
        ],
        letters: "e",
        valued: "",
        long: &["--eval"],
        backticks: false,
    },
    Interpreter {
        dialect: dialect(";"),
        names: &["guile"],
        letters: "c",
        valued: "ls",
        long: &[],
        backticks: false,
    },
];

/// Other programs with something to run on their command line.
const OTHERS: [&str; 26] = [
    "tclsh", "wish", "expect", "awk", "gawk", "mawk", "nawk", "sed", "gsed", "tar", "bsdtar",
    "gtar", "make", "gmake", "vim", "vi", "nvim", "ex", "ed", "gdb", "sqlite3", "psql", "mysql",
    "less", "emacs", "git",
];

/// The names of awk.
const AWK: [&str; 4] = ["awk", "gawk", "mawk", "nawk"];

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

/// Whether a text has in it what a program that calls functions needs to run or remove something without a string in
/// quotes: the name of a call that removes, a string of another kind, or, for awk, what `-v` sets.
pub(super) fn languages_need(written: &Written<'_>) -> bool {
    let removes = || written.any(calls::is_removal);
    let named_quotes = || written.any(|word| matches!(word, "q" | "qq" | "qw" | "Q" | "w" | "W"));
    let commands = || written.any(|word| word == "x" || word.ends_with("qx"));
    INTERPRETERS.iter().any(|interpreter| {
        written.any(|word| interpreter.names.contains(&word))
            && (removes()
                || written.any(|word| matches!(word, "argv" | "ARGV"))
                || interpreter.dialect.named_quotes && named_quotes()
                || interpreter.backticks && commands())
    }) || written.any(|word| AWK.contains(&word))
        && (removes() || written.has(&['=']) && written.has_option("v"))
}

/// Whether a word is the name, its version left out, of another program with something to run on its command line.
/// Settings of git are asked for elsewhere.
pub(super) fn is_other(word: &str) -> bool {
    OTHERS
        .iter()
        .any(|name| name.trim_end_matches(|c: char| c.is_ascii_digit()) == word)
        && !AWK.contains(&word)
        && word != "git"
}

/// Whether a word is a part by which a setting of git whose value is run is known.
pub(super) fn is_setting_that_runs(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let last = |name: &&str| name.rsplit('.').next() == Some(&word);
    RUN_FROM_CONFIG.iter().any(last) || matches!(word.as_str(), "filter" | "textconv" | "cmd")
}

/// Everything on this command line that would be run or removed by a program in it.
pub(super) fn calls(ran: &Ran) -> Vec<Call> {
    let mut out = Vec::new();
    for (name, value) in &ran.env {
        if RUN_FROM_ENVIRONMENT.contains(&name.as_str()) {
            out.push(Call::Script(value.script()));
        }
    }
    let Some(name) = ran.name() else { return out };
    if let Some(interpreter) = interpreter(name) {
        let (programs, given) = programs(ran, interpreter);
        for program in programs {
            out.extend(calls::calls_with(
                &program,
                interpreter.dialect,
                interpreter.backticks,
                &given,
            ));
        }
        return out;
    }
    if !OTHERS.contains(&name) && !options::is_program(name) {
        return out;
    }
    let mut words: Vec<String> = ran
        .arguments()
        .iter()
        .map(|field| field.value.script())
        .collect();
    out.extend(options::calls(name, &words));
    match name {
        _ if AWK.contains(&name) => {
            words.extend(files(ran, &["-f", "--file="]));
            // `-v name=value`: as if the program began with it.
            let mut set = String::new();
            for pair in words.windows(2).filter(|pair| pair[0] == "-v") {
                if let Some((name, value)) = pair[1].split_once('=') {
                    set.extend([name, " = \"", &value.replace('"', "\\\""), "\"\n"]);
                }
            }
            out.extend(
                words
                    .iter()
                    .flat_map(|word| awk::calls(&format!("{set}{word}"))),
            );
        }
        "sed" | "gsed" => {
            words.extend(files(ran, &["-f", "--file="]));
            out.extend(words.iter().flat_map(|word| {
                let attached = ["-e", "--expression="]
                    .iter()
                    .find_map(|option| word.strip_prefix(option));
                sed::calls(attached.unwrap_or(word))
            }));
        }
        "tar" | "bsdtar" | "gtar" => tar(&words, &mut out),
        "make" | "gmake" => make(ran, &mut out),
        "tclsh" | "wish" | "expect" => {
            words.extend(ran.stdin.as_deref().map(Value::script));
            words.extend(
                ran.arguments()
                    .iter()
                    .filter_map(|field| Some(ran.file(&field.value)?.script())),
            );
            out.extend(words.iter().flat_map(|word| tcl::calls(word)));
        }
        "vim" | "vi" | "nvim" | "ex" | "ed" | "gdb" | "sqlite3" | "psql" | "mysql" | "less"
        | "emacs" => {
            let stdin = ran.stdin.as_deref().map(Value::script).unwrap_or_default();
            words.extend(stdin.lines().map(ToOwned::to_owned));
            for word in &words {
                let text = word.trim_start_matches([':', '+', '.', '\\']);
                let text = ["!", "shell ", "system ", "r !"]
                    .iter()
                    .find_map(|lead| text.strip_prefix(lead));
                out.extend(text.map(|text| Call::Script(text.to_owned())));
                out.extend(calls::calls(word, Dialect::default(), false));
            }
        }
        "git" => {
            let git = Git::read(&ran.words);
            for (name, value) in git.config.iter().cloned().chain(git.configures()) {
                let last = name.rsplit('.').next().unwrap_or(&name);
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

fn interpreter(name: &str) -> Option<&'static Interpreter> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS
        .iter()
        .find(|interpreter| interpreter.names.contains(&stem))
}

/// Whether a program on this command line runs a text that it fetches or decodes itself.
pub(in super::super) fn runs_unread(ran: &Ran) -> bool {
    ran.name().and_then(interpreter).is_some_and(|interpreter| {
        programs(ran, interpreter)
            .0
            .iter()
            .any(|program| unread::runs_unread(program, interpreter.dialect))
    })
}

/// The contents of files that stand behind an option, where the script itself has written them.
fn files(ran: &Ran, options: &[&str]) -> Vec<String> {
    let arguments = ran.arguments();
    let mut out = Vec::new();
    for (index, field) in arguments.iter().enumerate() {
        let text = field.value.prefix();
        let Some(rest) = options.iter().find_map(|option| text.strip_prefix(option)) else {
            continue;
        };
        let file = match (rest, arguments.get(index + 1)) {
            ("", Some(next)) => next.value.clone(),
            _ => Value::text(rest),
        };
        out.extend(ran.file(&file).map(Value::script));
    }
    out
}

/// Options of tar that hold a command, attached or as the next word.
fn tar(words: &[String], out: &mut Vec<Call>) {
    for (index, word) in words.iter().enumerate() {
        let (option, attached) = match word.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, Some(value)),
            _ => (word.as_str(), None),
        };
        let runs = matches!(
            option,
            "-I" | "-F"
                | "--to-command"
                | "--checkpoint-action"
                | "--use-compress-program"
                | "--info-script"
                | "--new-volume-script"
                | "--rsh-command"
                | "--rmt-command"
        );
        if !runs {
            continue;
        }
        let text = attached.or(words.get(index + 1).map(String::as_str));
        // `--checkpoint-action` has actions that run nothing.
        let text = text.and_then(|text| match option {
            "--checkpoint-action" => text.strip_prefix("exec="),
            _ => Some(text),
        });
        out.extend(text.map(|text| Call::Script(text.to_owned())));
    }
}

/// The recipes of the makefile that `make` would read, where the script itself holds it, and of `--eval`.
fn make(ran: &Ran, out: &mut Vec<Call>) {
    let named = ["-f", "--file=", "--makefile="];
    let mut texts = files(ran, &named);
    let arguments = ran.arguments();
    let given = arguments.iter().any(|field| {
        let text = field.value.prefix();
        named.iter().any(|option| text.starts_with(option))
    });
    if !given {
        texts.extend(
            ["GNUmakefile", "makefile", "Makefile"]
                .iter()
                .find_map(|name| ran.file(&Value::text(*name)))
                .map(Value::script),
        );
    }
    texts.extend(arguments.iter().map(|field| {
        let text = field.value.script();
        text.strip_prefix("--eval=").unwrap_or(&text).to_owned()
    }));
    out.extend(arguments.iter().filter_map(|field| {
        let text = field.value.script();
        Some(Call::Script(text.strip_prefix("SHELL=")?.to_owned()))
    }));
    out.extend(texts.iter().flat_map(|text| recipes(text)));
}

/// The programs an interpreter is given: in options, in a file of the script, on standard input; and the arguments
/// behind them, as far as they are known.
fn programs(ran: &Ran, interpreter: &Interpreter) -> (Vec<String>, Vec<String>) {
    let mut out = Vec::new();
    let mut given = Vec::new();
    let mut operand = false;
    let mut words = ran.arguments().iter();
    while let Some(field) = words.next() {
        let text = field.value.prefix();
        if operand || !given.is_empty() {
            given.extend(field.value.literal());
        } else if interpreter.long.contains(&text) {
            out.extend(words.next().map(|field| field.value.script()));
        } else if let Some((name, _)) = text
            .split_once('=')
            .filter(|(name, _)| interpreter.long.contains(name))
        {
            out.push(field.value.script()[name.len() + 1..].to_owned());
        } else if text.starts_with("--") {
        } else if text.starts_with('-') && text.len() > 1 {
            // A cluster such as `-ne`: the program follows, or stands behind the letter.
            let found = text
                .char_indices()
                .skip(1)
                .find(|(_, c)| interpreter.letters.contains(*c) || interpreter.valued.contains(*c));
            if let Some((at, letter)) = found
                && interpreter.valued.contains(letter)
            {
                if at + 1 == text.len() {
                    words.next();
                }
            } else if let Some((at, _)) = found {
                // `-pe`: both of node's letters say the same.
                let last = text[at..].chars().all(|c| interpreter.letters.contains(c));
                if last && field.value.literal().is_some() {
                    out.extend(words.next().map(|field| field.value.script()));
                } else {
                    out.push(field.value.script()[at + 1..].to_owned());
                }
            }
        } else if !out.is_empty() {
            // Behind a program in an option this is its first argument.
            given.extend(field.value.literal());
        } else if text != "-" {
            operand = true;
            out.extend(ran.file(&field.value).map(Value::script));
        }
    }
    if out.is_empty() && !operand {
        out.extend(ran.stdin.as_deref().map(Value::script));
    }
    (out, given.into_iter().map(ToOwned::to_owned).collect())
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
