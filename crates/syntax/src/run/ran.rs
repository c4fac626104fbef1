//! What the walk writes down: commands with their words resolved.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use super::super::value::Value;
use super::builtin::lexical;
use super::directory::made;
use crate::Span;

/// One command as it would run.
#[derive(Debug, Clone)]
pub struct Ran {
    /// The command word and its arguments; none where there are only redirections, by themselves or behind a
    /// compound command.
    pub words: Rc<[Field]>,
    /// `NAME=value` in front of it, and what `env` adds.
    pub env: Vec<(String, Value)>,
    /// Its redirections.
    pub redirections: Vec<Redirection>,
    /// What it reads on standard input, where the script itself says so.
    pub stdin: Option<Rc<Value>>,
    /// Whether it is fed by a pipe.
    pub piped: bool,
    /// Whether its output goes to another program or back into the script; `| head` and `| tail`, which
    /// only cut it, do not count.
    pub feeds: bool,
    /// The directory it runs in, where that is known.
    pub cwd: Option<Rc<str>>,
    /// The directory it runs in instead if a `cd` before has failed and nobody asked.
    pub otherwise: Option<Rc<str>>,
    /// The home directory at this point, where it is known.
    pub home: Option<Rc<str>>,
    /// The programs it is started through, outermost first (`sudo`, `xargs`, `bash -c`, …).
    pub through: Vec<String>,
    /// Where it stands in the script.
    pub span: Span,
    /// It stands in a function nobody calls: what is unknown in it decides nothing.
    pub dormant: bool,
    /// The name is that of a function of the script, whose body is followed.
    pub is_function: bool,
    pub(super) files: Rc<BTreeMap<String, Value>>,
}

/// A resolved word and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// What it comes to.
    pub value: Value,
    /// The word it was made from.
    pub span: Span,
}

/// A resolved redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// The operator, as bash spells it without variants (`>`, `>>`, `<`, `<<`, `<<<`, `<>`, `>&`, `<&`, `&>`, `&>>`).
    pub operator: &'static str,
    /// The descriptor written in front of it.
    pub fd: Option<u32>,
    /// The file, descriptor or delimiter behind it.
    pub target: Value,
    /// Where the target stands.
    pub span: Span,
}

impl Redirection {
    /// Whether something is written to its target.
    pub fn writes(&self) -> bool {
        self.operator.contains('>') && !self.is_descriptor()
    }

    /// Whether what the target held is lost.
    pub fn truncates(&self) -> bool {
        self.writes() && matches!(self.operator, ">" | ">&" | "&>")
    }

    /// `>&2`, `2>&-`
    fn is_descriptor(&self) -> bool {
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        self.operator == ">&" && self.target.literal().is_some_and(digits)
    }
}

/// Its words as a person would write them, but for quotes: what is not known as the variable, or as `<why>`.
impl fmt::Display for Ran {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, word) in self.words.iter().enumerate() {
            if index > 0 {
                out.write_str(" ")?;
            }
            write!(out, "{}", word.value)?;
        }
        Ok(())
    }
}

impl Ran {
    /// The command's name: without directory, where it is known.
    pub fn name(&self) -> Option<&str> {
        let word = self.words.first()?.value.literal()?;
        Some(word.rsplit('/').next().unwrap_or(word))
    }

    /// Whether another is this one again: whoever judges one has judged both.
    pub(super) fn is_same(&self, other: &Ran) -> bool {
        // Every field by name: a new one makes a difference, too, until it is said that it does not.
        let Ran {
            words,
            env,
            redirections,
            stdin,
            piped,
            feeds,
            cwd,
            otherwise,
            home,
            through,
            span,
            dormant,
            is_function,
            files,
        } = self;
        *span == other.span
            && (*piped, *feeds, *dormant, *is_function)
                == (other.piped, other.feeds, other.dormant, other.is_function)
            && *words == other.words
            && *cwd == other.cwd
            && *otherwise == other.otherwise
            && *home == other.home
            && *stdin == other.stdin
            && *through == other.through
            && *env == other.env
            && *redirections == other.redirections
            && (Rc::ptr_eq(files, &other.files) || files == &other.files)
    }

    /// What a file holds that the script has written, or that stands behind `<( … )`.
    pub fn file(&self, path: &Value) -> Option<&Value> {
        let name = path.literal()?;
        if matches!(name, "-" | "/dev/stdin" | "/dev/fd/0") {
            return self.stdin.as_deref();
        }
        let path = match (name.starts_with('/'), &self.cwd) {
            (false, Some(cwd)) => format!("{cwd}/{}", name.strip_prefix("./").unwrap_or(name)),
            _ => name.to_owned(),
        };
        self.files.get(&path)
    }

    /// Whether the script has made this directory itself.
    pub fn has_made(&self, path: &Value) -> bool {
        let Some(name) = path.literal() else {
            return false;
        };
        let cwd = self.cwd.as_deref().unwrap_or("?");
        let path = if name.starts_with('/') {
            lexical(name)
        } else {
            lexical(&format!("{cwd}/{name}"))
        };
        self.files.contains_key(&made(&path))
    }

    /// The arguments.
    pub fn arguments(&self) -> &[Field] {
        self.words.get(1..).unwrap_or(&[])
    }
}
