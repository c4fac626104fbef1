//! What our reader makes of a script: commands, words and their parts, as they stand in the text.
//!
//! Nothing is resolved here (that is `expand`) and nothing is judged. The nesting of these types is
//! bounded by the reader's depth limit, so that dropping them cannot exhaust the stack.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::Span;

/// A sequence of and-or lists.
#[derive(Debug, Default, Clone)]
pub struct List {
    /// The pipelines in order, each with how it follows the one before.
    pub entries: Vec<Entry>,
}

/// One pipeline and its connection to its neighbours.
#[derive(Debug, Clone)]
pub struct Entry {
    /// How it hangs on the pipeline before it.
    pub link: Link,
    /// Whether the and-or list it belongs to is sent to the background with `&`.
    pub background: bool,
    /// `!` or `time` stands before it.
    pub prefixed: bool,
    /// One of its pipes is `|&`.
    pub stderr_too: bool,
    /// The stages, at least one.
    pub stages: Vec<Command>,
}

/// How a pipeline follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// First in the list, or after `;`, `&` or a newline.
    Next,
    /// After `&&`.
    And,
    /// After `||`.
    Or,
}

/// One stage of a pipeline.
#[derive(Debug, Clone)]
pub enum Command {
    /// Assignments, words, redirections.
    Simple(Rc<Simple>),
    /// A compound command with the redirections behind it.
    Compound(Rc<Compound>),
}

impl Command {
    /// A number that no other command of the same script has.
    pub fn identity(&self) -> usize {
        match self {
            Command::Simple(simple) => Rc::as_ptr(simple).addr(),
            Command::Compound(compound) => Rc::as_ptr(compound).addr(),
        }
    }
}

/// A simple command.
#[derive(Debug, Clone)]
pub struct Simple {
    /// `NAME=value` in front of the command word.
    pub assigns: Vec<Assign>,
    /// Command word and arguments.
    pub words: Vec<Word>,
    /// Redirections, wherever they stood among the words.
    pub redirs: Vec<Redir>,
    /// Where it stands.
    pub span: Span,
}

/// A compound command.
#[derive(Debug, Clone)]
pub struct Compound {
    /// What it is.
    pub kind: Kind,
    /// Redirections behind it, which hold for all of it.
    pub redirs: Vec<Redir>,
    /// Where it stands.
    pub span: Span,
}

/// The compound commands of bash.
#[derive(Debug, Clone)]
pub enum Kind {
    /// `{ …; }`.
    Group(List),
    /// `( … )`.
    Subshell(List),
    /// `if`: condition and body of each branch, then the `else`.
    If {
        /// Condition and body of `if` and of each `elif`.
        branches: Vec<(List, List)>,
        /// The body of `else`.
        otherwise: Option<List>,
    },
    /// `while` and `until`.
    While {
        /// What is run before each round.
        condition: List,
        /// What is run in each round.
        body: List,
    },
    /// `for` and `select`; without `in` the positional parameters are walked.
    For {
        /// The variable.
        name: String,
        /// The words behind `in`.
        words: Option<Vec<Word>>,
        /// What is run for each.
        body: List,
    },
    /// `for (( … ))`.
    CountedFor {
        /// The three expressions.
        header: Vec<Part>,
        /// What is run in each round.
        body: List,
    },
    /// `case`.
    Case {
        /// The word that is compared.
        subject: Word,
        /// What it is compared with.
        arms: Vec<Arm>,
    },
    /// A function definition.
    Function {
        /// Its name.
        name: String,
        /// What a call runs.
        body: Command,
    },
    /// `[[ … ]]`, with only its words kept.
    Condition(Vec<Word>),
    /// `(( … ))`.
    Arithmetic(Vec<Part>),
    /// `coproc`.
    Coprocess(Command),
}

/// An arm of a `case`.
#[derive(Debug, Clone)]
pub struct Arm {
    /// The patterns, any of which may fit.
    pub patterns: Vec<Word>,
    /// What is run then.
    pub body: List,
    /// It ends with `;&` or `;;&`: an arm below may run after it.
    pub goes_on: bool,
}

/// `NAME=value`, `NAME+=value`, `NAME[i]=value`, `NAME=(…)`.
#[derive(Debug, Clone)]
pub struct Assign {
    /// The variable.
    pub name: String,
    /// The subscript, if any.
    pub index: Option<Vec<Part>>,
    /// `+=`.
    pub append: bool,
    /// The value; an array is a word of the one part [`Part::Array`].
    pub value: Word,
}

/// A word as it stands in the text.
#[derive(Debug, Clone)]
pub struct Word {
    /// Its parts in order.
    pub parts: Vec<Part>,
    /// Where it stands.
    pub span: Span,
}

/// A piece of a word.
#[derive(Debug, Clone)]
pub enum Part {
    /// Unquoted text: tilde, braces and glob characters are alive in it.
    Bare(String),
    /// Quoted or escaped text.
    Quoted(String),
    /// `$NAME`, `${…}`.
    Param {
        /// The expansion.
        param: Rc<Param>,
        /// It stands in double quotes.
        quoted: bool,
    },
    /// `$( … )` and backticks.
    Command {
        /// What is run.
        list: Rc<List>,
        /// It stands in double quotes.
        quoted: bool,
    },
    /// `<( … )` and `>( … )`.
    Process {
        /// What is run.
        list: Rc<List>,
        /// `<( … )`: its output is read.
        reads: bool,
    },
    /// `$(( … ))` and `$[ … ]`.
    Arithmetic(Vec<Part>),
    /// `( … )` of an array assignment.
    Array(Vec<Word>),
    /// What zsh alone has: as it is written, and the parts in it that run something.
    Zsh {
        /// As it is written.
        text: String,
        /// What in it runs something.
        inside: Vec<Part>,
    },
}

/// A parameter expansion.
#[derive(Debug, Clone)]
pub struct Param {
    /// The parameter: a name, a number or one special character.
    pub name: String,
    /// `${!name}`.
    pub indirect: bool,
    /// `${#name}`.
    pub length: bool,
    /// The subscript, if any.
    pub index: Option<Vec<Part>>,
    /// The operator behind the name, such as `:-`, `%%`, `/`, `@`; empty if none.
    pub operator: String,
    /// What stands behind the operator.
    pub operand: Vec<Part>,
}

/// A redirection.
#[derive(Debug, Clone)]
pub struct Redir {
    /// The descriptor in front of the operator, if one is written.
    pub fd: Option<u32>,
    /// The operator.
    pub op: RedirOp,
    /// The word behind the operator (for a heredoc its delimiter).
    pub target: Word,
    /// The body of a heredoc.
    pub body: Option<Rc<OnceCell<Vec<Part>>>>,
    /// Whether the delimiter of a heredoc is quoted, so that its body is data.
    pub literal_body: bool,
}

/// Redirection operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirOp {
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
