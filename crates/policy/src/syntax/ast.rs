//! What our reader makes of a script: commands, words and their parts, as they stand in the text.
//!
//! Nothing is resolved here (that is `expand`) and nothing is judged. The nesting of these types is
//! bounded by the reader's depth limit, so that dropping them cannot exhaust the stack.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::Span;

/// A sequence of and-or lists.
#[derive(Debug, Default, Clone)]
pub(crate) struct List {
    /// The pipelines in order, each with how it follows the one before.
    pub(crate) entries: Vec<Entry>,
}

/// One pipeline and its connection to its neighbours.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// How it hangs on the pipeline before it.
    pub(crate) link: Link,
    /// Whether the and-or list it belongs to is sent to the background with `&`.
    pub(crate) background: bool,
    /// `!` or `time` stands before it.
    pub(crate) prefixed: bool,
    /// One of its pipes is `|&`.
    pub(crate) stderr_too: bool,
    /// The stages, at least one.
    pub(crate) stages: Vec<Command>,
}

/// How a pipeline follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// First in the list, or after `;`, `&` or a newline.
    Next,
    /// After `&&`.
    And,
    /// After `||`.
    Or,
}

/// One stage of a pipeline.
#[derive(Debug, Clone)]
pub(crate) enum Command {
    /// Assignments, words, redirections.
    Simple(Rc<Simple>),
    /// A compound command with the redirections behind it.
    Compound(Rc<Compound>),
}

impl Command {
    /// A number that no other command of the same script has.
    pub(crate) fn identity(&self) -> usize {
        match self {
            Command::Simple(simple) => Rc::as_ptr(simple).addr(),
            Command::Compound(compound) => Rc::as_ptr(compound).addr(),
        }
    }
}

/// A simple command.
#[derive(Debug, Clone)]
pub(crate) struct Simple {
    /// `NAME=value` in front of the command word.
    pub(crate) assigns: Vec<Assign>,
    /// Command word and arguments.
    pub(crate) words: Vec<Word>,
    /// Redirections, wherever they stood among the words.
    pub(crate) redirs: Vec<Redir>,
    /// Where it stands.
    pub(crate) span: Span,
}

/// A compound command.
#[derive(Debug, Clone)]
pub(crate) struct Compound {
    /// What it is.
    pub(crate) kind: Kind,
    /// Redirections behind it, which hold for all of it.
    pub(crate) redirs: Vec<Redir>,
    /// Where it stands.
    pub(crate) span: Span,
}

/// The compound commands of bash.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// `{ …; }`.
    Group(List),
    /// `( … )`.
    Subshell(List),
    /// `if`: condition and body of each branch, then the `else`.
    If {
        branches: Vec<(List, List)>,
        otherwise: Option<List>,
    },
    /// `while` and `until`.
    While { condition: List, body: List },
    /// `for` and `select`; without `in` the positional parameters are walked.
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: List,
    },
    /// `for (( … ))`.
    CountedFor { header: Vec<Part>, body: List },
    /// `case`.
    Case { subject: Word, arms: Vec<Arm> },
    /// A function definition.
    Function { name: String, body: Command },
    /// `[[ … ]]`, with only its words kept.
    Condition(Vec<Word>),
    /// `(( … ))`.
    Arithmetic(Vec<Part>),
    /// `coproc`.
    Coprocess(Command),
}

/// An arm of a `case`.
#[derive(Debug, Clone)]
pub(crate) struct Arm {
    pub(crate) patterns: Vec<Word>,
    pub(crate) body: List,
    /// It ends with `;&` or `;;&`: an arm below may run after it.
    pub(crate) goes_on: bool,
}

/// `NAME=value`, `NAME+=value`, `NAME[i]=value`, `NAME=(…)`.
#[derive(Debug, Clone)]
pub(crate) struct Assign {
    /// The variable.
    pub(crate) name: String,
    /// The subscript, if any.
    pub(crate) index: Option<Vec<Part>>,
    /// `+=`.
    pub(crate) append: bool,
    /// The value; an array is a word of the one part [`Part::Array`].
    pub(crate) value: Word,
}

/// A word as it stands in the text.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    /// Its parts in order.
    pub(crate) parts: Vec<Part>,
    /// Where it stands.
    pub(crate) span: Span,
}

/// A piece of a word.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Unquoted text: tilde, braces and glob characters are alive in it.
    Bare(String),
    /// Quoted or escaped text.
    Quoted(String),
    /// `$NAME`, `${…}`.
    Param { param: Rc<Param>, quoted: bool },
    /// `$( … )` and backticks.
    Command { list: Rc<List>, quoted: bool },
    /// `<( … )` and `>( … )`.
    Process { list: Rc<List>, reads: bool },
    /// `$(( … ))` and `$[ … ]`.
    Arithmetic(Vec<Part>),
    /// `( … )` of an array assignment.
    Array(Vec<Word>),
    /// What zsh alone has: as it is written, and the parts in it that run something.
    Zsh { text: String, inside: Vec<Part> },
}

/// A parameter expansion.
#[derive(Debug, Clone)]
pub(crate) struct Param {
    /// The parameter: a name, a number or one special character.
    pub(crate) name: String,
    /// `${!name}`.
    pub(crate) indirect: bool,
    /// `${#name}`.
    pub(crate) length: bool,
    /// The subscript, if any.
    pub(crate) index: Option<Vec<Part>>,
    /// The operator behind the name, such as `:-`, `%%`, `/`, `@`; empty if none.
    pub(crate) operator: String,
    /// What stands behind the operator.
    pub(crate) operand: Vec<Part>,
}

/// A redirection.
#[derive(Debug, Clone)]
pub(crate) struct Redir {
    /// The descriptor in front of the operator, if one is written.
    pub(crate) fd: Option<u32>,
    /// The operator.
    pub(crate) op: RedirOp,
    /// The word behind the operator (for a heredoc its delimiter).
    pub(crate) target: Word,
    /// The body of a heredoc.
    pub(crate) body: Option<Rc<OnceCell<Vec<Part>>>>,
    /// Whether the delimiter of a heredoc is quoted, so that its body is data.
    pub(crate) literal_body: bool,
}

/// Redirection operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirOp {
    /// `<`
    Read,
    /// `>`, `>|`
    Write,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&`
    DupRead,
    /// `>&`
    DupWrite,
    /// `&>`
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `<<`, `<<-`
    Heredoc,
    /// `<<<`
    HereString,
}
