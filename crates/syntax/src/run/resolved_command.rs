//! The results of the walk: commands with their words resolved.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::rc::Rc;

use super::super::command_host::CommandHost;
use super::super::value::{Value, ValuePiece};
use super::directory;
use super::path::{FRESH_DIRECTORY, UNKNOWN_DIRECTORY, directory_key, lexical};
use crate::Span;
use crate::field::Field;

/// A command as it would run.
#[derive(Debug, Clone, Default)]
pub struct ResolvedCommand {
    /// The command name and its arguments; empty for redirections without a command, and for
    /// redirections of a compound command.
    pub words: Rc<[Field]>,
    /// The assignments in front of the command, and the assignments of `env`.
    pub env: Vec<(String, Value)>,
    /// The command's redirections.
    pub redirections: Vec<Redirection>,
    /// The command's stdin, if the script itself provides it.
    pub stdin: Option<Rc<Value>>,
    /// True if the command reads from a pipe.
    pub reads_pipe: bool,
    /// True if the command's output goes to another program or back into the script. `| head` and
    /// `| tail` do not count, because they only shorten the output.
    pub output_is_used: bool,
    /// True for redirections without a command, and for redirections of a compound command that
    /// prints nothing: they empty their targets.
    pub prints_nothing: bool,
    /// True if the command runs in the background.
    pub is_background: bool,
    /// The command's working directory, if known.
    pub cwd: Option<Rc<str>>,
    /// The command's working directory if an earlier, unchecked `cd` has failed.
    pub cwd_if_cd_failed: Option<Rc<str>>,
    /// The machine or container in which the command runs.
    pub host: CommandHost,
    /// The home directory at this point, if known.
    pub home: Option<Rc<str>>,
    /// The programs that start the command, outermost first (`sudo`, `xargs`, `bash`, …).
    pub started_by: Vec<String>,
    /// The command's position in the script.
    pub span: Span,
    /// True for a command that may never run: in a function that the script does not call, in an
    /// option or a variable of another program, in a text that was only scanned. Rules ignore
    /// unknown words in it.
    pub may_never_run: bool,
    /// True if the name is a function of the script, whose body is followed, or an alias.
    pub is_function: bool,
    pub(super) files: Rc<BTreeMap<String, Value>>,
}

/// A resolved redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// The operator, with `>|` as `>` and `<<-` as `<<`: `>`, `>>`, `<`, `<<`, `<<<`, `<>`, `>&`,
    /// `<&`, `&>`, `&>>`.
    pub operator: &'static str,
    /// The descriptor before the operator.
    pub fd: Option<u32>,
    /// The file, descriptor or delimiter after the operator.
    pub target: Value,
    /// The target's position in the script.
    pub span: Span,
}

impl Redirection {
    /// True if the redirection writes to its target.
    pub fn writes(&self) -> bool {
        self.operator.contains('>') && !self.is_descriptor()
    }

    /// True if the redirection destroys the target's previous contents.
    pub fn truncates(&self) -> bool {
        self.writes() && matches!(self.operator, ">" | ">&" | "&>")
    }

    /// True for `>&2` and `2>&-`.
    fn is_descriptor(&self) -> bool {
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        self.operator == ">&" && self.target.literal().is_some_and(digits)
    }
}

/// Shows the words without quotes. An unknown part is shown as its variable, or as `<cause>`.
impl fmt::Display for ResolvedCommand {
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

impl ResolvedCommand {
    /// Returns the command's name without directory, if known.
    pub fn name(&self) -> Option<&str> {
        let word = self.words.first()?.value.literal()?;
        Some(word.rsplit('/').next().unwrap_or(word))
    }

    /// True if `other` is equal in every field, so that rules need to check only one of the two.
    pub(super) fn is_same(&self, other: &ResolvedCommand) -> bool {
        // Destructured completely, so that the compiler requires a comparison of each new field.
        let ResolvedCommand {
            words,
            env,
            redirections,
            stdin,
            reads_pipe,
            output_is_used,
            prints_nothing,
            is_background,
            cwd,
            cwd_if_cd_failed,
            host,
            home,
            started_by,
            span,
            may_never_run,
            is_function,
            files,
        } = self;
        *span == other.span
            && (*reads_pipe, *output_is_used, *is_background)
                == (other.reads_pipe, other.output_is_used, other.is_background)
            && (*may_never_run, *is_function) == (other.may_never_run, other.is_function)
            && *prints_nothing == other.prints_nothing
            && *words == other.words
            && *cwd == other.cwd
            && *cwd_if_cd_failed == other.cwd_if_cd_failed
            && *host == other.host
            && *home == other.home
            && *stdin == other.stdin
            && *started_by == other.started_by
            && *env == other.env
            && *redirections == other.redirections
            && (Rc::ptr_eq(files, &other.files) || files == &other.files)
    }

    /// Returns the contents of a file that the script writes, or of a `<( … )`.
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

    /// True if a path is in a repository that the script itself has cloned, or in a directory of
    /// `mktemp`.
    pub fn is_in_created_repository(&self, path: &Value) -> bool {
        let name = if directory::is_identified(path) {
            path.to_string()
        } else {
            // A pattern or an unknown part stays below the directory before it.
            let known = path.prefix();
            let end = known.rfind('/').map_or(0, |slash| slash + 1);
            known[..end].to_owned()
        };
        let begins_unknown = matches!(path.pieces().first(), Some(ValuePiece::Unknown { .. }));
        let cwd = self.cwd.as_deref().unwrap_or(UNKNOWN_DIRECTORY);
        let path = if name.starts_with('/') {
            lexical(&name)
        } else {
            lexical(&format!("{cwd}/{name}"))
        };
        let is_cloned = |directory: &Path| {
            let repository = format!("{}/.git", directory.display());
            self.files.contains_key(&directory_key(&repository))
        };
        // `mktemp -d /tmp/x.XXXXXX`
        let is_temporary = path.starts_with(FRESH_DIRECTORY) || path.contains("XXX");
        // `$X/.git` may be outside of the working directory.
        let is_above = |directory: &&Path| begins_unknown && Path::new(cwd).starts_with(directory);
        let mut directories = Path::new(&path).ancestors();
        !begins_unknown && is_temporary
            || directories.any(|directory| !is_above(&directory) && is_cloned(directory))
    }

    /// Returns the words after the command's name.
    pub fn arguments(&self) -> &[Field] {
        self.words.get(1..).unwrap_or(&[])
    }
}
