//! Parses the command lines of `find` and of other programs that list files. The result contains
//! the files that the program finds, the commands that it runs for these files, and whether it
//! deletes them.

use super::field::Field;
use super::git::GitCommandLine;
use super::pattern::push_globbed;
use super::value::{UnknownCause, Value};

/// A parsed `find` command line.
#[derive(Debug, Default)]
pub struct Search {
    /// The results as operands: each starting point combined with the name patterns, or alone.
    pub found: Vec<Value>,
    /// True with `-delete`.
    pub deletes: bool,
    /// True if a test narrows the result by name, age, size, owner, …; of the file types (`-type`),
    /// only links count.
    pub is_narrowed: bool,
    /// The commands of `-exec` and similar actions, with `{}` as written.
    pub commands: Vec<Vec<Field>>,
}

/// Tests without an argument that narrow the result.
const NARROWING_FLAGS: [&str; 3] = ["-empty", "-nouser", "-nogroup"];

/// Tests that very few files pass. The result is then [`few_files`].
const RARE_TESTS: [&str; 4] = ["-inum", "-samefile", "-lname", "-ilname"];

/// Maximum number of combinations of starting points and filters.
const MAX_FOUND: usize = 64;

/// Tests with one argument, which narrow the result.
const NARROWING_TESTS: [&str; 31] = [
    "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex",
    "-lname", "-ilname", "-xtype", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin",
    "-newer", "-anewer", "-cnewer", "-size", "-user", "-group", "-uid", "-gid", "-perm", "-inum",
    "-links", "-samefile", "-used", "-newermt",
];

/// Tests, actions and options with one argument that do not narrow the result. Words with another
/// number of arguments are handled individually.
const OTHER_WORDS_WITH_ARGUMENT: [&str; 10] = [
    "-type", "-maxdepth", "-mindepth", "-fstype", "-regextype", "-printf", "-fprint", "-fprint0",
    "-fls", "-context",
];

/// A program that lists the files below its operands.
struct Lister {
    names: &'static [&'static str],
    /// The option that makes the program list files; `None` if the program always does so.
    list_option: Option<&'static str>,
    /// The number of operands that are patterns, before the starting points.
    patterns: usize,
    /// The starting point if the command line names no starting point.
    start: &'static str,
    /// Options with a value that do not narrow the result.
    valued: &'static [&'static str],
    /// Options with a value that narrow the result.
    narrows: &'static [&'static str],
    /// Options whose arguments are a command that runs for each file.
    commands: &'static [&'static str],
}

#[rustfmt::skip]
const LISTERS: [Lister; 4] = [
    Lister {
        names: &["fd", "fdfind"], list_option: None, patterns: 1, start: ".",
        valued: &["-t", "-d", "-E", "-j", "-c", "--type", "--max-depth", "--min-depth", "--exclude", "--threads", "--color"],
        narrows: &["-e", "--extension", "-S", "--size", "-o", "--owner", "--changed-within", "--changed-before"],
        commands: &["-x", "--exec", "-X", "--exec-batch"],
    },
    Lister {
        names: &["rg"], list_option: Some("--files"), patterns: 0, start: ".",
        valued: &["-j", "-d", "--threads", "--max-depth", "--sort", "--sortr", "--ignore-file"],
        narrows: &["-g", "-t", "-T", "--glob", "--iglob", "--type", "--type-not", "--max-filesize"], commands: &[],
    },
    Lister {
        names: &["tree"], list_option: Some("-f"), patterns: 0, start: ".",
        valued: &["-L", "-I", "-o", "--filelimit", "--sort"], narrows: &["-P"], commands: &[],
    },
    Lister {
        names: &["locate", "plocate", "mlocate"], list_option: None, patterns: usize::MAX, start: "/",
        valued: &["-d", "-l", "-n", "--database", "--limit"], narrows: &[], commands: &[],
    },
];

impl Lister {
    /// Parses the words of a command that is this program.
    fn search(&self, words: &[Field]) -> Search {
        let mut search = Search::default();
        let (mut operands, mut filter) = (Vec::new(), None);
        let mut lists_files = self.list_option.is_none();
        let mut index = 1;
        while let Some(field) = words.get(index) {
            let text = field.value.prefix();
            let is_short = text.len() > 1 && !text.starts_with("--");
            let is_in = |options: &[&str]| {
                let name = text.split('=').next().unwrap_or(text);
                options.contains(&name)
                    || is_short && text.get(..2).is_some_and(|short| options.contains(&short))
            };
            index += 1;
            if self.commands.contains(&text) {
                let rest = &words[index..];
                let end = rest
                    .iter()
                    .position(|word| word.value.literal() == Some(";"));
                let end = end.unwrap_or(rest.len());
                let mut command = rest[..end].to_vec();
                if !command.iter().any(|word| word.value.script().contains('{')) {
                    command.push(Field {
                        value: Value::text("{}"),
                        span: field.span,
                    });
                }
                search.commands.push(command);
                index += end + 1;
            } else if text.len() > 1 && text.starts_with('-') {
                lists_files |= self.list_option.is_some_and(|option| {
                    text == option || is_short && option.len() == 2 && text.contains(&option[1..])
                });
                let narrows = is_in(self.narrows);
                search.is_narrowed |= narrows;
                if narrows || self.valued.contains(&text) {
                    let is_attached = text.contains('=') || is_short && text.len() > 2;
                    let value = words.get(index).filter(|_| !is_attached);
                    if matches!(text, "-e" | "--extension") {
                        filter = value.map(|word| {
                            Filter::Name(Value::text(format!("*.{}", word.value.script())))
                        });
                    }
                    index += usize::from(!is_attached);
                }
            } else {
                operands.push(field.value.clone());
            }
        }
        let starts = operands.split_off(operands.len().min(self.patterns));
        for pattern in &operands {
            if !matches!(pattern.literal(), Some("" | "." | ".*" | "*" | "^")) {
                search.is_narrowed = true;
                filter = filter.or_else(|| Some(Filter::Name(name_glob(&pattern.script()))));
            }
        }
        if search.is_narrowed {
            filter = filter.or_else(|| Some(few_files()));
        }
        if lists_files {
            let starts = if starts.is_empty() {
                vec![Value::text(self.start)]
            } else {
                starts
            };
            let starts = starts.iter().take(MAX_FOUND);
            search.found = starts
                .map(|start| found(start, filter.as_ref(), true))
                .collect();
        }
        search
    }
}

/// Returns the names that a regular expression or a glob matches, as a glob.
fn name_glob(pattern: &str) -> Value {
    let name = pattern.replace('\\', "");
    let (after_caret, before_dollar) = (name.strip_prefix('^'), name.strip_suffix('$'));
    let inner = name.trim_start_matches('^').trim_end_matches('$');
    let is_plain = |c: char| c.is_alphanumeric() || "._-*".contains(c);
    if !inner.chars().all(is_plain) {
        return Value::text(NO_NAME);
    }
    let any = |is_anchored: bool| if is_anchored { "" } else { "*" };
    Value::text(format!(
        "{}{inner}{}",
        any(after_caret.is_some() || inner.starts_with('.')),
        any(before_dollar.is_some())
    ))
}

/// Returns the tracked files, if the command is `git ls-files` and lists all of them.
fn tracked(words: &[Field]) -> Search {
    let git = GitCommandLine::read(words);
    let is_neutral = |field: &Field| {
        matches!(
            field.value.literal(),
            Some("-z" | "-c" | "--cached" | "--full-name" | "--" | ".")
        )
    };
    let lists_all = git.subcommand() == Some("ls-files") && git.arguments.iter().all(is_neutral);
    Search {
        found: Vec::from_iter(lists_all.then(|| Value::unknown(UnknownCause::Tracked))),
        ..Search::default()
    }
}

impl Search {
    /// Parses the words of a command that finds files, including its name; `None` for other
    /// programs.
    pub fn of_command(name: &str, words: &[Field]) -> Option<Search> {
        match name {
            "find" | "gfind" | "bfs" => Some(Search::read(words)),
            "git" => Some(tracked(words)),
            _ => {
                let lister = LISTERS.iter().find(|lister| lister.names.contains(&name))?;
                Some(lister.search(words))
            }
        }
    }

    /// Parses the words of a `find` command, including its name.
    pub fn read(words: &[Field]) -> Search {
        let mut search = Search::default();
        let (starts, follows, mut index) = starting_points(words);
        let mut filters: Vec<Option<Filter>> = Vec::new();
        let mut filter: Option<Filter> = None;
        // True if a test narrows the result: since the last `-o`, and in all alternatives before.
        let (mut narrowed, mut all_narrowed) = (false, true);
        let mut negated = false;
        // True with `-type l`: links have no contents.
        let mut links = false;
        // True with `-type f`, since the last `-o`.
        let mut only_files = false;
        // True with `-mindepth`: the starting points are not results.
        let mut below = false;
        while let Some(field) = words.get(index) {
            let text = field.value.literal().unwrap_or("");
            let argument = words.get(index + 1).map(|field| &field.value);
            let is_affirmed = !std::mem::take(&mut negated);
            let narrows = NARROWING_TESTS.contains(&text);
            narrowed |= is_affirmed && (narrows || NARROWING_FLAGS.contains(&text));
            match text {
                "!" | "-not" => negated = is_affirmed,
                "-o" | "-or" | "," => {
                    filters.push(of_type(filter.take(), std::mem::take(&mut only_files)));
                    all_narrowed &= std::mem::take(&mut narrowed);
                }
                "-name" | "-iname" | "-regex" | "-iregex" if is_affirmed => {
                    filter = filter.or(argument.map(|value| Filter::Name(value.clone())));
                }
                "-path" | "-ipath" | "-wholename" | "-iwholename" if is_affirmed => {
                    filter = filter.or(argument.map(|value| Filter::Path(value.clone())));
                }
                "-empty" if is_affirmed => filter = filter.or(Some(few_files())),
                "-xtype" if is_affirmed && argument.and_then(Value::literal) == Some("l") => {
                    filter = filter.or(Some(few_files()));
                }
                "-type" if is_affirmed && argument.and_then(Value::literal) == Some("l") => {
                    (narrowed, links) = (true, true);
                    filter = filter.or(follows.then(few_files));
                }
                "-type" => {
                    only_files = is_affirmed && argument.and_then(Value::literal) == Some("f");
                }
                "-size" if is_affirmed && argument.is_some_and(is_zero_size) => {
                    filter = filter.or(Some(few_files()));
                }
                _ if is_affirmed && RARE_TESTS.contains(&text) => {
                    filter = filter.or(Some(few_files()));
                }
                "-mindepth" => below |= argument.and_then(Value::literal) != Some("0"),
                "-delete" => search.deletes = true,
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let command = command_of_exec(&words[index + 1..]);
                    search.commands.push(command.to_vec());
                    index += command.len() + 1;
                }
                _ => {}
            }
            index += 1
                + usize::from(narrows || OTHER_WORDS_WITH_ARGUMENT.contains(&text))
                + 2 * usize::from(text == "-fprintf");
        }
        filters.push(of_type(filter, only_files));
        search.is_narrowed = all_narrowed && narrowed;
        for start in &starts {
            for filter in &filters {
                if search.found.len() >= MAX_FOUND {
                    break;
                }
                // Old files below `/tmp`, or below a directory that a variable names, are
                // considered unused: scripts remove old logs and backups in this way.
                let is_link = links && !start.prefix().starts_with('/');
                let is_unused =
                    search.is_narrowed && (is_link || is_temporary(start) || begins_unknown(start));
                let is_open = match filter {
                    Some(Filter::Name(name)) => name.has_unknown(),
                    Some(Filter::Path(_)) => false,
                    None => true,
                };
                let few = few_files();
                let filter = if is_unused && is_open {
                    Some(&few)
                } else {
                    filter.as_ref()
                };
                search.found.push(found(start, filter, below));
            }
        }
        search
    }
}

/// Returns the starting points of a `find` command, true if `-L` follows links, and the index of
/// the first word of the expression.
fn starting_points(words: &[Field]) -> (Vec<Value>, bool, usize) {
    let mut index = 1;
    // True with `-L`: `-type l` then finds only dangling links.
    let mut follows = false;
    // -H, -L, -P, -D options, -O level
    while let Some(text) = words.get(index).map(|field| field.value.prefix()) {
        match text {
            "-H" | "-L" | "-P" => {
                follows = text == "-L";
                index += 1;
            }
            "-D" => index += 2,
            _ if text.starts_with("-O") => index += 1,
            _ => break,
        }
    }
    let mut starts = Vec::new();
    while let Some(field) = words.get(index) {
        if field.value.prefix().starts_with('-')
            || matches!(field.value.literal(), Some("(" | "!" | ")" | ","))
        {
            break;
        }
        starts.push(field.value.clone());
        index += 1;
    }
    if starts.is_empty() {
        starts.push(Value::text("."));
    }
    (starts, follows, index)
}

/// Returns the command at the beginning of the words after `-exec`: until `;`, or `+` after `{}`.
fn command_of_exec(words: &[Field]) -> &[Field] {
    let end = words.iter().enumerate().position(|(index, field)| {
        let is_after_braces = index > 0 && words[index - 1].value.literal() == Some("{}");
        field.value.literal() == Some(";")
            || (is_after_braces && field.value.literal() == Some("+"))
    });
    &words[..end.unwrap_or(words.len())]
}

/// A filter on names.
#[derive(Debug)]
enum Filter {
    /// A pattern for the last component: `-name` and `-regex`.
    Name(Value),
    /// A pattern for the whole path: `-path`.
    Path(Value),
}

/// A name that no file has; a pattern with this name represents very few files.
const NO_NAME: &str = "(few)";

/// Returns a filter that represents very few files.
fn few_files() -> Filter {
    Filter::Name(Value::text(NO_NAME))
}

/// Returns the filter of a search. Among files, `.git*` does not match the directory `.git`, so its
/// `*` stands for at least one character.
fn of_type(filter: Option<Filter>, only_files: bool) -> Option<Filter> {
    match filter {
        Some(Filter::Name(mut name)) if only_files && name.script().ends_with('*') => {
            name.push_text("?");
            Some(Filter::Name(name))
        }
        other => other,
    }
}

/// True for sizes that only empty files have: `0`, `0c`, `0k`.
fn is_zero_size(size: &Value) -> bool {
    matches!(size.literal(), Some("0" | "0b" | "0c" | "0w" | "0k" | "0M"))
}

/// True for directories whose old files are removed from time to time.
fn is_temporary(start: &Value) -> bool {
    let path = start.prefix().trim_end_matches('/');
    ["/tmp", "/var/tmp", "/var/log", "/var/cache", "/var/spool"].contains(&path)
}

/// True for a path that begins with an unknown part, such as `$DIR/old`.
fn begins_unknown(start: &Value) -> bool {
    start.has_unknown() && start.prefix().is_empty()
}

/// Combines a starting point with a filter. With `below`, the starting point itself is not a
/// result.
fn found(start: &Value, filter: Option<&Filter>, below: bool) -> Value {
    let mut out = start.clone();
    let mut push_pattern = |value: &Value| {
        for piece in value.pieces() {
            match piece {
                super::value::ValuePiece::Text(text) => push_globbed(&mut out, text),
                other => out.extend(&Value::from(other.clone())),
            }
        }
    };
    match filter {
        None if below => push_pattern(&Value::text("/*")),
        None => {}
        Some(Filter::Name(name)) => {
            push_pattern(&Value::text("/"));
            push_pattern(name);
        }
        Some(Filter::Path(path)) => {
            // `-path` matches the whole path. Remove the starting point from the pattern.
            let rest = path
                .prefix()
                .strip_prefix(start.prefix())
                .map(ToOwned::to_owned);
            match rest {
                Some(rest) if !start.is_empty() => push_pattern(&Value::text(rest)),
                _ => {
                    push_pattern(&Value::text("/"));
                    push_pattern(path);
                }
            }
        }
    }
    out
}
