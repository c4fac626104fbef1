//! Programs that execute code given as text: their languages, and the position of the code on the
//! command line.

use crate::syntax::run::{Field, ResolvedCommand, ShellInvocation, is_shell};
use crate::syntax::value::Value;

/// The syntax of the code.
#[derive(Clone, Copy)]
pub(super) enum Language {
    /// A programming language with function calls.
    Calls(Notation),
    /// sed commands.
    Sed,
    /// A makefile.
    Make,
    /// A shell script, or a language that is similar enough to be parsed as a shell script.
    Shell,
}

/// How the notations of programming languages differ.
#[derive(Clone, Copy, Default)]
pub(super) struct Notation {
    /// The characters that start a comment to the end of the line.
    pub(super) comment: &'static str,
    /// True if backticks execute their contents.
    pub(super) backticks: bool,
    /// True if a string before or after `|` is executed.
    pub(super) pipes: bool,
}

// Each notation is named after the first language that has it.
const PYTHON: Language = calling("#", false, false);
const PERL: Language = calling("#", true, false);
const JAVASCRIPT: Language = calling("//", false, false);
const PHP: Language = calling("//", true, false);
const LUA: Language = calling("--", false, false);
const AWK: Language = calling("#", false, true);

const fn calling(comment: &'static str, backticks: bool, pipes: bool) -> Language {
    Language::Calls(Notation {
        comment,
        backticks,
        pipes,
    })
}

/// The position of the code that a command executes.
pub(super) enum CodeSource<'r> {
    /// The code is in this word, from this byte offset on.
    Text(&'r Field, usize),
    /// The code is in the file named by this word.
    File(&'r Field),
    /// The code is on standard input.
    Stdin,
}

impl CodeSource<'_> {
    /// Returns the code, if the script itself contains it.
    pub(super) fn text(&self, command: &ResolvedCommand) -> Option<String> {
        match self {
            CodeSource::Text(field, offset) => {
                field.value.script().get(*offset..).map(ToOwned::to_owned)
            }
            CodeSource::File(field) => command.file(&field.value).map(Value::script),
            CodeSource::Stdin => command.stdin.as_deref().map(Value::script),
        }
    }
}

/// The meaning of an option with regard to the code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionRole {
    /// The option's value is the code.
    CodeText,
    /// The option's value is the file that contains the code.
    CodeFile,
    /// The option takes another value.
    OtherValue,
    /// The interpreter then executes other code, or no code: the rest is not parsed.
    NoCode,
}
use OptionRole::{CodeFile, CodeText, NoCode, OtherValue};

/// The meaning of the first operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstOperand {
    /// The file that contains the code.
    File,
    /// The code.
    Code,
    /// The operand after this word is the file that contains the code.
    After(&'static str),
    /// An operand that is unrelated to the code.
    Data,
}

/// A program that executes code.
struct Interpreter {
    /// The program's names, without version suffix.
    names: &'static [&'static str],
    language: Language,
    options: &'static [(&'static str, OptionRole)],
    operand: FirstOperand,
    /// True if the program reads code from standard input when no other source is given.
    reads_stdin: bool,
}

#[rustfmt::skip]
static INTERPRETERS: [Interpreter; 19] = [
    Interpreter {
        names: &["python", "pypy", "ipython"], language: PYTHON, operand: FirstOperand::File, reads_stdin: true,
        options: &[("-c", CodeText), ("-m", NoCode), ("-W", OtherValue), ("-X", OtherValue), ("-Q", OtherValue)],
    },
    Interpreter {
        names: &["perl"], language: PERL, operand: FirstOperand::File, reads_stdin: true,
        options: &[("-e", CodeText), ("-E", CodeText), ("-M", OtherValue), ("-m", OtherValue), ("-I", OtherValue)],
    },
    Interpreter {
        names: &["ruby", "jruby", "irb"], language: PERL, operand: FirstOperand::File, reads_stdin: true,
        options: &[("-e", CodeText), ("-r", OtherValue), ("-I", OtherValue), ("-C", OtherValue)],
    },
    Interpreter {
        names: &["node", "nodejs", "ts-node", "tsx", "zx"], language: JAVASCRIPT, operand: FirstOperand::File, reads_stdin: true,
        options: &[("-e", CodeText), ("-p", CodeText), ("--eval", CodeText), ("--print", CodeText), ("-r", OtherValue), ("-C", OtherValue), ("--require", OtherValue), ("--import", OtherValue), ("--loader", OtherValue)],
    },
    Interpreter {
        names: &["bun"], language: JAVASCRIPT, operand: FirstOperand::After("run"), reads_stdin: false,
        options: &[("-e", CodeText), ("--eval", CodeText), ("-p", CodeText), ("--print", CodeText)],
    },
    Interpreter {
        names: &["deno"], language: JAVASCRIPT, operand: FirstOperand::After("run"), reads_stdin: false,
        options: &[("eval", CodeText)],
    },
    Interpreter {
        names: &["go"], language: JAVASCRIPT, operand: FirstOperand::After("run"), reads_stdin: false,
        options: &[],
    },
    Interpreter {
        names: &["uv"], language: PYTHON, operand: FirstOperand::After("run"), reads_stdin: false,
        options: &[],
    },
    Interpreter {
        names: &["php"], language: PHP, operand: FirstOperand::File, reads_stdin: true,
        options: &[("-r", CodeText), ("-B", CodeText), ("-R", CodeText), ("-E", CodeText), ("--run", CodeText), ("-d", OtherValue), ("-c", OtherValue), ("-z", OtherValue), ("-f", CodeFile)],
    },
    Interpreter {
        names: &["lua", "luajit"], language: LUA, operand: FirstOperand::File, reads_stdin: true,
        options: &[("-e", CodeText), ("-l", OtherValue)],
    },
    Interpreter {
        names: &["Rscript", "R", "julia", "osascript"], language: PYTHON, operand: FirstOperand::File, reads_stdin: true,
        options: &[("-e", CodeText), ("-E", CodeText), ("--eval", CodeText)],
    },
    Interpreter {
        names: &["elixir", "erl", "guile", "racket", "ghc", "scala", "groovy", "bb", "clojure", "clj", "nim", "ocaml", "jshell"], language: LUA, operand: FirstOperand::File, reads_stdin: true,
        options: &[("-e", CodeText), ("-c", CodeText), ("-eval", CodeText), ("--eval", CodeText)],
    },
    Interpreter {
        names: &["crystal", "raku"], language: PERL, operand: FirstOperand::File, reads_stdin: true,
        options: &[("-e", CodeText), ("eval", CodeText)],
    },
    Interpreter {
        names: &["pwsh", "powershell", "pwsh.exe", "powershell.exe"], language: Language::Shell, operand: FirstOperand::File, reads_stdin: true,
        options: &[("-c", CodeText), ("-Command", CodeText), ("-command", CodeText), ("-f", NoCode)],
    },
    Interpreter {
        names: &["awk", "gawk", "mawk", "nawk", "goawk"], language: AWK, operand: FirstOperand::Code, reads_stdin: false,
        options: &[("-f", CodeFile), ("--file", CodeFile), ("-e", CodeText), ("--source", CodeText), ("-v", OtherValue), ("--assign", OtherValue), ("-F", OtherValue), ("-i", OtherValue), ("-l", OtherValue)],
    },
    Interpreter {
        names: &["sed", "gsed"], language: Language::Sed, operand: FirstOperand::Code, reads_stdin: false,
        options: &[("-e", CodeText), ("--expression", CodeText), ("-f", CodeFile), ("--file", CodeFile), ("-l", OtherValue)],
    },
    Interpreter {
        names: &["make", "gmake"], language: Language::Make, operand: FirstOperand::Data, reads_stdin: false,
        options: &[("-f", CodeFile), ("--file", CodeFile), ("--makefile", CodeFile), ("-C", OtherValue), ("--eval", CodeText), ("-E", CodeText)],
    },
    Interpreter {
        names: &["at", "batch"], language: Language::Shell, operand: FirstOperand::Data, reads_stdin: false,
        options: &[("-f", CodeFile), ("--file", CodeFile), ("-q", OtherValue), ("-t", OtherValue)],
    },
    Interpreter {
        names: &["crontab"], language: Language::Shell, operand: FirstOperand::File, reads_stdin: false,
        options: &[("-u", OtherValue), ("-l", NoCode), ("-r", NoCode)],
    },
];

/// Returns the language that a program of this name executes.
pub(super) fn language(name: &str) -> Option<Language> {
    Some(interpreter_named(name)?.language)
}

/// Returns the interpreter of this name, without regard to a version suffix (`python3.12`).
fn interpreter_named(name: &str) -> Option<&'static Interpreter> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS
        .iter()
        .find(|interpreter| interpreter.names.contains(&stem))
}

/// Returns the code that a shell or an interpreter executes; empty for other programs, and for
/// command lines that execute no code.
pub(super) fn code(command: &ResolvedCommand) -> Vec<CodeSource<'_>> {
    match command.name() {
        Some(name) if is_shell(name) => shell_code(command).into_iter().collect(),
        Some(name) => {
            let interpreter = interpreter_named(name);
            interpreter.map_or_else(Vec::new, |row| row.code(command.arguments()))
        }
        None => Vec::new(),
    }
}

fn shell_code(command: &ResolvedCommand) -> Option<CodeSource<'_>> {
    let invocation = ShellInvocation::read(&command.words);
    if invocation.only_reads {
        return None;
    }
    let operand = command.words.get(invocation.operands);
    if invocation.command {
        return operand.map(|field| CodeSource::Text(field, 0));
    }
    Some(match operand.filter(|_| !invocation.stdin) {
        Some(file) => from_file(file),
        None => CodeSource::Stdin,
    })
}

fn from_file(field: &Field) -> CodeSource<'_> {
    match field.value.literal() {
        Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") => CodeSource::Stdin,
        _ => CodeSource::File(field),
    }
}

impl Interpreter {
    /// Returns the code that the interpreter executes with these arguments.
    fn code<'r>(&self, arguments: &'r [Field]) -> Vec<CodeSource<'r>> {
        let operand = self.operand;
        let mut out = Vec::new();
        let mut is_operand_next = !matches!(operand, FirstOperand::After(_));
        let mut words = arguments.iter();
        while let Some(field) = words.next() {
            let text = field.value.prefix();
            if let Some((role, attached)) = self.option(field) {
                if role == NoCode {
                    return out;
                }
                let value = match attached {
                    Some(offset) => Some((field, offset)),
                    None => words.next().map(|next| (next, 0)),
                };
                out.extend(match (role, value) {
                    (CodeText, Some((field, offset))) => Some(CodeSource::Text(field, offset)),
                    (CodeFile, Some((field, 0))) => Some(from_file(field)),
                    (CodeFile, Some((field, offset)))
                        if field.value.prefix().get(offset..) == Some("-") =>
                    {
                        Some(CodeSource::Stdin)
                    }
                    _ => None,
                });
            } else if text.len() > 1 && text.starts_with('-') {
                // An option without a value, or an unknown option.
            } else if !is_operand_next {
                is_operand_next = matches!(operand, FirstOperand::After(word) if field.value.literal() == Some(word));
            } else if operand != FirstOperand::Data {
                // Words after the code are arguments of the code.
                if out.is_empty() {
                    out.push(match operand {
                        FirstOperand::Code => CodeSource::Text(field, 0),
                        _ => from_file(field),
                    });
                }
                return out;
            }
        }
        if out.is_empty() && self.reads_stdin {
            // Without code, some versions only print their help, but others read standard input.
            out.push(CodeSource::Stdin);
        }
        out
    }

    /// Returns the meaning of an option, and the offset of an attached value within the word. In a
    /// cluster such as `-ne`, the first letter that takes a value counts.
    fn option(&self, field: &Field) -> Option<(OptionRole, Option<usize>)> {
        let text = field.value.prefix();
        let known = |name: &str| self.options.iter().find(|(option, _)| *option == name);
        let name = text.split('=').next().unwrap_or(text);
        if let Some((option, role)) = known(name) {
            let attached =
                name.len() < text.len() || (field.value.literal().is_none() && option.len() == 2);
            let offset = name.len() + usize::from(name.len() < text.len());
            return Some((*role, attached.then_some(offset)));
        }
        if !text.starts_with('-') || text.starts_with("--") {
            return None;
        }
        let (offset, role) = text.char_indices().skip(1).find_map(|(start, letter)| {
            let (_, role) = known(&format!("-{letter}"))?;
            Some((start + letter.len_utf8(), *role))
        })?;
        // `node -pe`: both letters take the code, which is the next word.
        let has_only_code_letters = text[offset..].chars().all(|letter| {
            known(&format!("-{letter}")).is_some_and(|(_, other)| *other == CodeText)
        });
        let is_next_word = has_only_code_letters && field.value.literal().is_some();
        Some((role, (!is_next_word).then_some(offset)))
    }
}
