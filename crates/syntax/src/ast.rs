//! The syntax tree that the reader produces: commands, words and their parts, as written.
//!
//! Words are not resolved here; `expand` does that. The nesting is bounded by the reader's depth
//! limit, so dropping a tree cannot overflow the stack.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::Span;

/// A sequence of and-or lists.
#[derive(Debug, Default, Clone)]
pub struct List {
    /// The pipelines in order, each with its connection to the previous pipeline.
    pub entries: Vec<ListEntry>,
}

/// One pipeline and its connection to its neighbours.
#[derive(Debug, Clone)]
pub struct ListEntry {
    /// The connection to the previous pipeline.
    pub link: Link,
    /// True if the pipeline's and-or list runs in the background (`&`).
    pub background: bool,
    /// True if `!` or `time` precedes the pipeline.
    pub prefixed: bool,
    /// True if at least one of the pipes is `|&`.
    pub stderr_too: bool,
    /// The stages, at least one.
    pub stages: Vec<Command>,
}

/// The connection of a pipeline to the previous pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// First in the list, or after `;`, `&` or a newline.
    Next,
    /// After `&&`.
    And,
    /// After `||`.
    Or,
}

/// The form of a command substitution. The form decides which shell runs the commands, and the
/// value of the substitution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Substitution {
    /// `$( … )`: runs in a subshell; the value is the output.
    Subshell,
    /// `${ …; }` of bash 5.3: runs in the current shell; the value is the output.
    Shell,
    /// `${| …; }` of bash 5.3: runs in the current shell; the value is `REPLY`, which is local to
    /// the substitution.
    Reply,
}

/// One stage of a pipeline.
#[derive(Debug, Clone)]
pub enum Command {
    /// Assignments, words, redirections.
    Simple(Rc<Simple>),
    /// A compound command with its redirections.
    Compound(Rc<Compound>),
}

impl Command {
    /// Returns a number that is unique to this command within the script.
    pub fn identity(&self) -> usize {
        match self {
            Command::Simple(simple) => Rc::as_ptr(simple).addr(),
            Command::Compound(compound) => Rc::as_ptr(compound).addr(),
        }
    }
}

/// Two commands are equal if they are the same node of the tree, not if their texts are equal.
impl PartialEq for Command {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Command {}

/// A simple command.
#[derive(Debug, Clone)]
pub struct Simple {
    /// `NAME=value` in front of the command word.
    pub assigns: Vec<Assign>,
    /// Command word and arguments.
    pub words: Vec<Word>,
    /// Redirections, at any position among the words.
    pub redirs: Vec<Redir>,
    /// The command's position in the script.
    pub span: Span,
}

/// A compound command.
#[derive(Debug, Clone)]
pub struct Compound {
    /// The type.
    pub kind: CompoundKind,
    /// Redirections, which apply to the whole compound command.
    pub redirs: Vec<Redir>,
    /// The command's position in the script.
    pub span: Span,
}

/// The compound commands of bash.
#[derive(Debug, Clone)]
pub enum CompoundKind {
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
        /// Run before each iteration.
        condition: List,
        /// Run in each iteration.
        body: List,
    },
    /// `for` and `select`; without `in` they iterate over the positional parameters.
    For {
        /// The loop variable.
        name: String,
        /// The words after `in`.
        words: Option<Vec<Word>>,
        /// Run for each value.
        body: List,
    },
    /// `for (( … ))`.
    CountedFor {
        /// The three expressions.
        header: Vec<WordPart>,
        /// Run in each iteration.
        body: List,
    },
    /// `case`.
    Case {
        /// The word to match.
        subject: Word,
        /// The arms.
        arms: Vec<Arm>,
    },
    /// A function definition.
    Function {
        /// The function's name.
        name: String,
        /// The function's body.
        body: Command,
    },
    /// `[[ … ]]`; only its words are kept.
    Condition(Vec<Word>),
    /// `(( … ))`.
    Arithmetic(Vec<WordPart>),
    /// `coproc`.
    Coprocess(Command),
}

/// An arm of a `case`.
#[derive(Debug, Clone)]
pub struct Arm {
    /// The patterns, any of which may match.
    pub patterns: Vec<Word>,
    /// Run on a match.
    pub body: List,
    /// True if the arm ends with `;&` or `;;&`: the next arm may run after it.
    pub falls_through: bool,
}

/// `NAME=value`, `NAME+=value`, `NAME[i]=value`, `NAME=(…)`.
#[derive(Debug, Clone)]
pub struct Assign {
    /// The variable.
    pub name: String,
    /// The subscript, if any.
    pub index: Option<Vec<WordPart>>,
    /// True for `+=`.
    pub append: bool,
    /// The value; an array is a word with the single part [`WordPart::Array`].
    pub value: Word,
}

/// A word as written.
#[derive(Debug, Clone)]
pub struct Word {
    /// The word's parts in order.
    pub parts: Vec<WordPart>,
    /// The word's position in the script.
    pub span: Span,
}

/// A piece of a word.
#[derive(Debug, Clone)]
pub enum WordPart {
    /// Unquoted text, in which tilde, braces and glob characters are active.
    Bare(String),
    /// Quoted or escaped text.
    Quoted(String),
    /// `$NAME`, `${…}`.
    Param {
        /// The expansion.
        param: Rc<Param>,
        /// True inside double quotes.
        quoted: bool,
    },
    /// `$( … )`, backticks, and `${ …; }`.
    Command {
        /// The commands of the substitution.
        list: Rc<List>,
        /// True inside double quotes.
        quoted: bool,
        /// The form, which decides which shell runs the commands.
        form: Substitution,
    },
    /// `<( … )` and `>( … )`.
    Process {
        /// The commands of the substitution.
        list: Rc<List>,
        /// True for `<( … )`, whose output is read; false for `>( … )`.
        reads: bool,
    },
    /// `$(( … ))` and `$[ … ]`.
    Arithmetic(Vec<WordPart>),
    /// `( … )` of an array assignment.
    Array(Vec<Word>),
}

/// A parameter expansion.
#[derive(Debug, Clone)]
pub struct Param {
    /// The parameter: a name, a number or one special character.
    pub name: String,
    /// True for `${!name}`.
    pub indirect: bool,
    /// True for `${#name}`.
    pub length: bool,
    /// The subscript, if any.
    pub index: Option<Vec<WordPart>>,
    /// The operator after the name, such as `:-`, `%%`, `/`, `@`; empty without an operator.
    pub operator: String,
    /// The operand after the operator.
    pub operand: Vec<WordPart>,
}

/// A redirection.
#[derive(Debug, Clone)]
pub struct Redir {
    /// The descriptor written in front of the operator, if any.
    pub fd: Option<u32>,
    /// The operator.
    pub op: RedirOp,
    /// The word after the operator (for a heredoc its delimiter).
    pub target: Word,
    /// The body of a heredoc.
    pub body: Option<Rc<OnceCell<Vec<WordPart>>>>,
    /// True if the delimiter of a heredoc is quoted, so that its body is data.
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
