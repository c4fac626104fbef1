//! The command line of `find`: what it finds, whether it deletes that, what it runs on it.

use super::pattern::push_globbed;
use super::run::Field;
use super::value::Value;

/// A command line of `find`, read.
#[derive(Debug, Default)]
pub struct Search {
    /// What it finds, as operands: start and name pattern, or the start itself.
    pub found: Vec<Value>,
    /// It has `-delete`.
    pub deletes: bool,
    /// Whatever it finds has passed a test: of its name, age, size, owner, …; a kind of file (`-type`) is none.
    pub is_narrowed: bool,
    /// The commands behind `-exec` and its like, with `{}` as it stands.
    pub commands: Vec<Vec<Field>>,
}

/// Tests without an argument that only a part passes.
const NARROWING_ALONE: [&str; 3] = ["-empty", "-nouser", "-nogroup"];

/// Tests that hardly any file passes: what is found is told as a name that no file has.
const FEW: [&str; 4] = ["-inum", "-samefile", "-lname", "-ilname"];

/// Most starting points and filters that are combined.
const MAX_FOUND: usize = 64;

/// Tests, actions and options that take one argument, and whether only a part passes them; those that take
/// another number are handled one by one.
const ONE_ARGUMENT: [(&str, bool); 42] = [
    ("-name", true),
    ("-iname", true),
    ("-path", true),
    ("-ipath", true),
    ("-wholename", true),
    ("-iwholename", true),
    ("-regex", true),
    ("-iregex", true),
    ("-lname", true),
    ("-ilname", true),
    ("-xtype", true),
    ("-mtime", true),
    ("-mmin", true),
    ("-atime", true),
    ("-amin", true),
    ("-ctime", true),
    ("-cmin", true),
    ("-newer", true),
    ("-anewer", true),
    ("-cnewer", true),
    ("-size", true),
    ("-user", true),
    ("-group", true),
    ("-uid", true),
    ("-gid", true),
    ("-perm", true),
    ("-inum", true),
    ("-links", true),
    ("-samefile", true),
    ("-used", true),
    ("-newermt", true),
    ("-type", false),
    ("-maxdepth", false),
    ("-mindepth", false),
    ("-fstype", false),
    ("-regextype", false),
    ("-printf", false),
    ("-fprint", false),
    ("-fprint0", false),
    ("-fls", false),
    ("-context", false),
    ("-files0-from", false),
];

impl Search {
    /// Reads the words of a `find` command, its name included.
    pub fn read(words: &[Field]) -> Search {
        let mut search = Search::default();
        let mut at = 1;
        // With `-L`, a link is one that leads nowhere.
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
        // Of the tests between two `-o`, and of all.
        let (mut narrowed, mut all_narrowed) = (false, true);
        let mut negated = false;
        let mut below = false;
        while let Some(field) = words.get(at) {
            let text = field.value.literal().unwrap_or("");
            let argument = words.get(at + 1).map(|field| &field.value);
            let taken = !std::mem::take(&mut negated);
            let known = ONE_ARGUMENT.iter().find(|(name, _)| *name == text);
            let narrows =
                known.is_some_and(|(_, narrows)| *narrows) || NARROWING_ALONE.contains(&text);
            narrowed |= taken && narrows;
            match text {
                "!" | "-not" => negated = taken,
                "-o" | "-or" | "," => {
                    filters.push(filter.take());
                    all_narrowed &= std::mem::take(&mut narrowed);
                }
                "-name" | "-iname" | "-regex" | "-iregex" if taken => {
                    filter = filter.or(argument.map(|value| Filter::Name(value.clone())));
                }
                "-path" | "-ipath" | "-wholename" | "-iwholename" if taken => {
                    filter = filter.or(argument.map(|value| Filter::Path(value.clone())));
                }
                "-empty" if taken => filter = filter.or(Some(few())),
                "-xtype" if taken && argument.and_then(Value::literal) == Some("l") => {
                    filter = filter.or(Some(few()));
                }
                "-type" if taken && follows && argument.and_then(Value::literal) == Some("l") => {
                    filter = filter.or(Some(few()));
                }
                "-size" if taken && argument.is_some_and(is_nothing) => {
                    filter = filter.or(Some(few()));
                }
                _ if taken && FEW.contains(&text) => filter = filter.or(Some(few())),
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
            at += 1 + usize::from(known.is_some()) + 2 * usize::from(text == "-fprintf");
        }
        filters.push(filter);
        search.is_narrowed = all_narrowed && narrowed;
        for start in &starts {
            for filter in &filters {
                if search.found.len() >= MAX_FOUND {
                    break;
                }
                // What is old below `/tmp` is nobody's.
                let leftovers = search.is_narrowed && is_temporary(start);
                let filter = match filter {
                    None if leftovers => Some(&few()),
                    filter => filter.as_ref(),
                };
                search.found.push(found(start, filter, below));
            }
        }
        search
    }
}

/// What narrows a search down.
#[derive(Debug)]
enum Filter {
    /// `-name` and `-regex`: the last component.
    Name(Value),
    /// `-path`: the whole path.
    Path(Value),
}

/// Stands for what hardly any file is.
fn few() -> Filter {
    Filter::Name(Value::text("(few)"))
}

/// Sizes that only empty files have: `0`, `0c`, `0k`.
fn is_nothing(size: &Value) -> bool {
    matches!(size.literal(), Some("0" | "0b" | "0c" | "0w" | "0k" | "0M"))
}

/// `/tmp`, and all that is in it.
fn is_temporary(start: &Value) -> bool {
    matches!(start.prefix().trim_end_matches('/'), "/tmp" | "/var/tmp")
}

fn found(start: &Value, filter: Option<&Filter>, below: bool) -> Value {
    let mut out = start.clone();
    let mut pattern = |value: &Value| {
        for piece in value.pieces() {
            match piece {
                super::value::Piece::Text(text) => push_globbed(&mut out, text),
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
            // The pattern covers the start too, unless it begins with a star.
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
