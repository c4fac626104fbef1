//! Where interpreters take their program from.

use crate::syntax::run::{Field, Invocation, Ran, shell_name};

/// Where the program stands that a command runs.
pub(super) enum Code<'r> {
    /// In this word.
    Text(&'r Field),
    /// In the file this word names.
    File(&'r Field),
    /// On standard input.
    Stdin,
}

/// An interpreter: its names without version, and the options by which it is given a program.
struct Interpreter {
    names: &'static [&'static str],
    /// Options that hold the program: letters, and words.
    code: (&'static str, &'static [&'static str]),
    /// Letters that name a module to run, or a file of the language's own: nothing else is read then.
    other: &'static str,
    /// Options that take a value: letters, and words.
    valued: (&'static str, &'static [&'static str]),
    /// The word in front of the program.
    subcommand: Option<&'static str>,
}

const PLAIN: Interpreter = Interpreter {
    names: &[],
    code: ("", &[]),
    other: "",
    valued: ("", &[]),
    subcommand: None,
};

static INTERPRETERS: [Interpreter; 10] = [
    Interpreter {
        names: &["python", "pypy", "ipython"],
        code: ("c", &[]),
        other: "m",
        valued: ("WXQ", &[]),
        ..PLAIN
    },
    Interpreter {
        names: &["perl"],
        code: ("eE", &[]),
        ..PLAIN
    },
    Interpreter {
        names: &["ruby", "jruby", "irb"],
        code: ("e", &[]),
        valued: ("rIC", &[]),
        ..PLAIN
    },
    Interpreter {
        names: &["node", "nodejs", "ts-node", "tsx"],
        code: ("ep", &["--eval", "--print"]),
        valued: ("rC", &["--require", "--import", "--loader"]),
        ..PLAIN
    },
    Interpreter {
        names: &["deno", "bun", "uv"],
        subcommand: Some("run"),
        ..PLAIN
    },
    Interpreter {
        names: &["php"],
        code: ("rBRE", &["--run"]),
        valued: ("dcz", &[]),
        ..PLAIN
    },
    Interpreter {
        names: &["lua", "luajit"],
        code: ("e", &[]),
        valued: ("l", &[]),
        ..PLAIN
    },
    Interpreter {
        names: &["Rscript", "julia", "osascript", "groovy", "elixir"],
        code: ("eE", &["--eval"]),
        ..PLAIN
    },
    Interpreter {
        names: &["tclsh", "expect", "guile"],
        code: ("c", &[]),
        ..PLAIN
    },
    Interpreter {
        names: &["pwsh", "powershell"],
        code: ("", &["-c", "-Command", "-command"]),
        other: "f",
        ..PLAIN
    },
];

/// Programs that carry out what stands in a file, and the option in front of it, if there is one.
const COMMAND_FILES: [(&str, &str); 3] = [("make", "-f"), ("gmake", "-f"), ("crontab", "")];

const AWKS: [&str; 4] = ["awk", "gawk", "mawk", "nawk"];

/// Where a shell or an interpreter takes its program from; `None` for other programs, and for calls that run
/// none.
pub(super) fn code(ran: &Ran) -> Option<Code<'_>> {
    let name = ran.name()?;
    if shell_name(name) {
        return shell(ran);
    }
    let arguments = ran.arguments();
    if let Some((_, option)) = COMMAND_FILES.iter().find(|(program, _)| *program == name) {
        let at = match *option {
            "" => 0,
            option => {
                let is_it = |field: &Field| field.value.literal() == Some(option);
                arguments.iter().position(is_it)? + 1
            }
        };
        return arguments.get(at).map(from_file);
    }
    if AWKS.contains(&name) {
        let program = arguments.first()?;
        return (!program.value.prefix().starts_with('-')).then_some(Code::Text(program));
    }
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS
        .iter()
        .find(|interpreter| interpreter.names.contains(&stem))?
        .code(arguments)
}

fn shell(ran: &Ran) -> Option<Code<'_>> {
    let invocation = Invocation::read(&ran.words);
    if invocation.only_reads {
        return None;
    }
    let operand = ran.words.get(invocation.operands);
    if invocation.command {
        return operand.map(Code::Text);
    }
    Some(match operand.filter(|_| !invocation.stdin) {
        Some(file) => from_file(file),
        None => Code::Stdin,
    })
}

fn from_file(field: &Field) -> Code<'_> {
    match field.value.literal() {
        Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") => Code::Stdin,
        _ => Code::File(field),
    }
}

impl Interpreter {
    fn code<'r>(&self, arguments: &'r [Field]) -> Option<Code<'r>> {
        let mut words = arguments.iter();
        if let Some(subcommand) = self.subcommand {
            words.find(|field| field.value.literal() == Some(subcommand))?;
        }
        while let Some(field) = words.next() {
            let text = field.value.prefix();
            if self.code.1.contains(&text) {
                return words.next().map(Code::Text);
            }
            if self.valued.1.contains(&text) {
                words.next();
            } else if text == "--" {
                return Some(words.next().map_or(Code::Stdin, from_file));
            } else if text.len() < 2 || !text.starts_with('-') {
                return Some(from_file(field));
            } else if !text.starts_with("--") {
                let found = text.char_indices().skip(1).find(|(_, letter)| {
                    [self.code.0, self.other, self.valued.0]
                        .iter()
                        .any(|letters| letters.contains(*letter))
                });
                let Some((at, letter)) = found else { continue };
                if self.other.contains(letter) {
                    return None;
                }
                let attached = at + 1 < text.len() && !self.code.0.contains(&text[at + 1..]);
                if self.code.0.contains(letter) {
                    return if attached {
                        Some(Code::Text(field))
                    } else {
                        words.next().map(Code::Text)
                    };
                }
                if !attached {
                    words.next();
                }
            }
        }
        // Some only print their help then, but a version that does read is never far.
        self.subcommand.is_none().then_some(Code::Stdin)
    }
}
