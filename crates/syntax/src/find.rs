//! Parses the command line of `find`: the files that it finds, whether it deletes them, and the
//! commands that it runs on them.

use super::pattern::push_globbed;
use super::run::Field;
use super::value::Value;

/// A parsed `find` command line.
#[derive(Debug, Default)]
pub struct Search {
    /// The results as operands: each starting point combined with the name patterns, or alone.
    pub found: Vec<Value>,
    /// True with `-delete`.
    pub deletes: bool,
    /// True if a test narrows the result by name, age, size, owner, …; the file type (`-type`) does
    /// not count.
    pub is_narrowed: bool,
    /// The commands of `-exec` and similar actions, with `{}` as written.
    pub commands: Vec<Vec<Field>>,
}

/// Tests without an argument that narrow the result.
const NARROWING_FLAGS: [&str; 3] = ["-empty", "-nouser", "-nogroup"];

/// Tests that hardly any file passes. A name that no file has stands for the files found.
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

impl Search {
    /// Parses the words of a `find` command, including its name.
    pub fn read(words: &[Field]) -> Search {
        let mut search = Search::default();
        let mut at = 1;
        // With `-L`, the only links found are dangling ones.
        let mut follows = false;
        // -H, -L, -P, -D options, -O level
        while let Some(text) = words.get(at).map(|field| field.value.prefix()) {
            match text {
                "-H" | "-L" | "-P" => {
                    follows = text == "-L";
                    at += 1;
                }
                "-D" => at += 2,
                _ if text.starts_with("-O") => at += 1,
                _ => break,
            }
        }
        let mut starts = Vec::new();
        while let Some(field) = words.get(at) {
            if field.value.prefix().starts_with('-')
                || matches!(field.value.literal(), Some("(" | "!" | ")" | ","))
            {
                break;
            }
            starts.push(field.value.clone());
            at += 1;
        }
        if starts.is_empty() {
            starts.push(Value::text("."));
        }
        let mut filters: Vec<Option<Filter>> = Vec::new();
        let mut filter: Option<Filter> = None;
        // True if a test narrows the result: since the last `-o`, and in all alternatives before.
        let (mut narrowed, mut all_narrowed) = (false, true);
        let mut negated = false;
        let mut below = false;
        while let Some(field) = words.get(at) {
            let text = field.value.literal().unwrap_or("");
            let argument = words.get(at + 1).map(|field| &field.value);
            let is_affirmed = !std::mem::take(&mut negated);
            let narrows = NARROWING_TESTS.contains(&text);
            narrowed |= is_affirmed && (narrows || NARROWING_FLAGS.contains(&text));
            match text {
                "!" | "-not" => negated = is_affirmed,
                "-o" | "-or" | "," => {
                    filters.push(filter.take());
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
                "-type"
                    if is_affirmed && follows && argument.and_then(Value::literal) == Some("l") =>
                {
                    filter = filter.or(Some(few_files()));
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
                    let rest = &words[at + 1..];
                    let end = rest.iter().enumerate().position(|(index, field)| {
                        let braces = index > 0 && rest[index - 1].value.literal() == Some("{}");
                        field.value.literal() == Some(";")
                            || (braces && field.value.literal() == Some("+"))
                    });
                    let end = end.unwrap_or(rest.len());
                    search.commands.push(rest[..end].to_vec());
                    at += end + 1;
                }
                _ => {}
            }
            at += 1
                + usize::from(narrows || OTHER_WORDS_WITH_ARGUMENT.contains(&text))
                + 2 * usize::from(text == "-fprintf");
        }
        filters.push(filter);
        search.is_narrowed = all_narrowed && narrowed;
        for start in &starts {
            for filter in &filters {
                if search.found.len() >= MAX_FOUND {
                    break;
                }
                // Old files below `/tmp` are considered unused, and those in a directory that a
                // variable names: scripts remove old logs and backups like that.
                let leftovers = search.is_narrowed && (is_temporary(start) || is_named(start));
                let filter = match filter {
                    None if leftovers => Some(&few_files()),
                    filter => filter.as_ref(),
                };
                search.found.push(found(start, filter, below));
            }
        }
        search
    }
}

/// A filter on names.
#[derive(Debug)]
enum Filter {
    /// `-name` and `-regex`: the last component.
    Name(Value),
    /// `-path`: the whole path.
    Path(Value),
}

/// Returns a filter that represents very few files.
fn few_files() -> Filter {
    Filter::Name(Value::text("(few)"))
}

/// Sizes that only empty files have: `0`, `0c`, `0k`.
fn is_zero_size(size: &Value) -> bool {
    matches!(size.literal(), Some("0" | "0b" | "0c" | "0w" | "0k" | "0M"))
}

/// True for `/tmp` and `/var/tmp`.
fn is_temporary(start: &Value) -> bool {
    matches!(start.prefix().trim_end_matches('/'), "/tmp" | "/var/tmp")
}

/// True for a directory with an unknown beginning.
fn is_named(start: &Value) -> bool {
    start.has_unknown() && start.prefix().is_empty()
}

fn found(start: &Value, filter: Option<&Filter>, below: bool) -> Value {
    let mut out = start.clone();
    let mut pattern = |value: &Value| {
        for piece in value.pieces() {
            match piece {
                super::value::ValuePiece::Text(text) => push_globbed(&mut out, text),
                other => out.extend(&Value::from(other.clone())),
            }
        }
    };
    match filter {
        None if below => pattern(&Value::text("/*")),
        None => {}
        Some(Filter::Name(name)) => {
            pattern(&Value::text("/"));
            pattern(name);
        }
        Some(Filter::Path(path)) => {
            // `-path` matches the whole path. Remove the starting point from the pattern.
            let rest = path
                .prefix()
                .strip_prefix(start.prefix())
                .map(ToOwned::to_owned);
            match rest {
                Some(rest) if !start.is_empty() => pattern(&Value::text(rest)),
                _ => {
                    pattern(&Value::text("/"));
                    pattern(path);
                }
            }
        }
    }
    out
}
