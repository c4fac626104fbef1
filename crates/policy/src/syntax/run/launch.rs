//! What a command starts: wrappers, shells, `xargs`, `find -exec`, `parallel`, git's own hooks for it.

use std::rc::Rc;

use super::super::expand::join;
use super::super::find::Search;
use super::super::state::State;
use super::super::value::{Piece, Value, Why};
use super::absolute;
use super::builtin::lexical;
use super::simple::{Call, quote};
use super::wrapper::{self, Rest, is_assignment};
use super::{Field, Machine};

/// Shells, which run a script given to them by `-c`, as a file or on standard input.
const SHELLS: [&str; 12] = [
    "bash", "sh", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash", "ksh93", "yash", "posh",
];

/// Programs that a wrapper with options we do not know is searched for.
const SOUGHT: [&str; 26] = [
    "rimraf", "rm", "git", "find", "xargs", "env", "sudo", "doas", "eval", "python", "python3",
    "perl", "ruby", "node", "php", "bun", "deno", "lua", "awk", "sed", "tar", "make", "timeout",
    "nice", "unlink", "cat",
];

/// Whether a program is a shell.
pub(crate) fn shell_name(name: &str) -> bool {
    SHELLS.contains(&name)
}

impl Machine<'_> {
    /// Follows one program by name; returns what it prints.
    pub(super) fn program(&mut self, name: &str, call: &Call, st: &mut State) -> Value {
        if let Some(out) = self.builtin(name, call, st) {
            return out;
        }
        if shell_name(name) {
            return self.shell(name, call, st);
        }
        match name {
            "xargs" | "gxargs" => return self.xargs(call, st),
            "find" | "gfind" | "bfs" => return self.find(call, st),
            "parallel" => return self.parallel(call, st),
            "fd" | "fdfind" => {
                self.after_option(&["-x", "--exec", "-X", "--exec-batch"], "fd", call, st);
            }
            "git" => self.git(call, st),
            "at" | "batch" | "crontab" => self.later(name, st),
            "ssh"
                if wrapper::find(name)
                    .is_some_and(|wrapper| wrapper.take(&call.words).command.is_none()) =>
            {
                self.later(name, st);
            }
            _ => {}
        }
        if let Some(wrapper) = wrapper::find(name)
            && let Some(out) = self.wrapped(name, wrapper, call, st)
        {
            return out;
        }
        self.output(name, call, st)
    }

    fn wrapped(
        &mut self,
        name: &str,
        wrapper: &wrapper::Wrapper,
        call: &Call,
        st: &mut State,
    ) -> Option<Value> {
        let taken = wrapper.take(&call.words);
        for (at, skip) in &taken.scripts {
            let Some(field) = call.words.get(*at) else {
                continue;
            };
            let mut text = without_prefix(&field.value, *skip);
            // `env -S` takes further words as arguments of the command in its text.
            if name == "env" {
                for value in call.values(at + 1) {
                    text.push_text(" ");
                    text.extend(&quote(&value));
                }
            }
            self.script_with(&text, Vec::new(), name, st);
        }
        let at = taken.command?;
        match wrapper.rest {
            Rest::Nothing => None,
            Rest::Argv => {
                let mut inner = call.with_words(call.words[at..].to_vec());
                if wrapper.assigns {
                    for value in call
                        .values(1)
                        .iter()
                        .take(at - 1)
                        .filter(|value| is_assignment(value.prefix()))
                    {
                        let prefix = value.prefix();
                        let cut = prefix.find('=').unwrap_or(0);
                        let set = without_prefix(value, cut + 1);
                        self.run_by_the_shell(&prefix[..cut], &set, st);
                        inner.env.push((prefix[..cut].to_owned(), set));
                    }
                }
                let directory = taken
                    .directory
                    .and_then(|(at, skip)| Some(without_prefix(&call.words.get(at)?.value, skip)));
                let Some(directory) = directory else {
                    return Some(self.start(&inner, name, st));
                };
                // `env -C`: for this command only.
                let mut there = st.clone();
                there.cwd = directory
                    .literal()
                    .map(|path| Rc::from(lexical(&absolute(path, st))));
                let out = self.start(&inner, name, &mut there);
                st.files = there.files;
                Some(out)
            }
            Rest::Script => {
                let text = join(&call.values(at), " ");
                let mut inner = st.clone();
                if name == "ssh" {
                    // Another machine: its directory and home are not ours.
                    inner.cwd = None;
                }
                Some(self.script_with(&text, Vec::new(), name, &inner))
            }
            Rest::Search => {
                let found = (1..call.words.len()).find(|at| {
                    let word = call.literal(*at).unwrap_or("");
                    let base = word.rsplit('/').next().unwrap_or("");
                    SOUGHT.contains(&base) || shell_name(base)
                });
                // A whole command in one word, as `hyperfine 'rm -rf x'` takes it.
                for at in 1..call.words.len() {
                    let text = call.literal(at).unwrap_or("");
                    let first = text.split_whitespace().next().unwrap_or("");
                    if first.len() < text.len() && (SOUGHT.contains(&first) || shell_name(first)) {
                        let text = Value::text(text);
                        self.script_with(&text, Vec::new(), name, st);
                    }
                }
                let words = call.words.get(found?..)?.to_vec();
                Some(self.start(&call.with_words(words), name, st))
            }
        }
    }

    /// Programs that run later, or elsewhere, what stands on their standard input.
    fn later(&mut self, name: &str, st: &State) {
        let Some(text) = st.stdin.as_deref().cloned() else {
            return;
        };
        if name != "crontab" {
            self.script_with(&text, Vec::new(), name, st);
            return;
        }
        for line in text.split(&['\n']) {
            let Some(line) = line.literal() else { continue };
            // Five fields of time, or one such as `@daily`.
            let fields = if line.starts_with('@') { 1 } else { 5 };
            let mut rest = line;
            for _ in 0..fields {
                rest = rest
                    .trim_start()
                    .split_once([' ', '\t'])
                    .map_or("", |(_, rest)| rest);
            }
            self.script_with(&Value::text(rest), Vec::new(), name, st);
        }
    }

    /// A shell: startup file, `-c`, script file or standard input.
    fn shell(&mut self, name: &str, call: &Call, st: &mut State) -> Value {
        for (variable, value) in &call.env {
            if matches!(variable.as_str(), "BASH_ENV" | "ENV")
                && let Some(text) = Self::file(value, st)
            {
                self.script_with(&text, Vec::new(), name, st);
            }
        }
        for variable in ["BASH_ENV", "ENV"] {
            let value = match st.vars.get(variable).and_then(|slots| slots.last()) {
                Some(super::super::state::Slot::Scalar(value)) => value.clone(),
                _ => continue,
            };
            if let Some(text) = Self::file(&value, st) {
                self.script_with(&text, Vec::new(), name, st);
            }
        }
        let (mut at, mut command, mut stdin) = (1, false, false);
        while let Some(field) = call.words.get(at) {
            let text = field.value.prefix();
            if text == "--" || text == "-" {
                at += 1;
                break;
            } else if text.starts_with("--") {
                if matches!(text, "--rcfile" | "--init-file") {
                    at += 1;
                    if let Some(file) = call.words.get(at)
                        && let Some(text) = Self::file(&file.value, st)
                    {
                        self.script_with(&text, Vec::new(), name, st);
                    }
                }
                command |= text == "--command";
            } else if text.len() > 1 && text.starts_with(['-', '+']) {
                command |= text.contains('c');
                stdin |= text.contains('s');
                at += usize::from(text.ends_with(['o', 'O']));
            } else if text.is_empty() && field.value.may_split() && at + 1 < call.words.len() {
                // `$OPTIONS`
            } else {
                break;
            }
            at += 1;
        }
        if command {
            let Some(text) = call.words.get(at) else {
                return Value::default();
            };
            return self.script_with(&text.value.clone(), call.values(at + 2), name, st);
        }
        let script = match call.words.get(at) {
            Some(file) if !stdin => Self::file(&file.value, st),
            _ => st.stdin.as_deref().cloned(),
        };
        match script {
            Some(text) => {
                let mut inner = st.clone();
                inner.stdin = None;
                self.script_with(&text, call.values(at + 1), name, &inner)
            }
            None => Value::unknown(Why::Output),
        }
    }

    fn xargs(&mut self, call: &Call, st: &mut State) -> Value {
        const VALUED: &str = "adEILnPs";
        let (mut at, mut placeholder, mut lines) = (1, None, false);
        while let Some(text) = call
            .words
            .get(at)
            .map(|field| field.value.prefix().to_owned())
        {
            if text == "--" {
                at += 1;
                break;
            }
            let bare = matches!(
                text.as_str(),
                "--arg-file"
                    | "--delimiter"
                    | "--max-args"
                    | "--max-procs"
                    | "--max-chars"
                    | "--process-slot-var"
            );
            if let Some(long) = text.strip_prefix("--") {
                if long.starts_with("rep") {
                    placeholder = Some(
                        long.split_once('=')
                            .map_or("{}", |(_, value)| value)
                            .to_owned(),
                    );
                }
                lines |= long.starts_with("nul") || long.starts_with("del");
                at += usize::from(bare);
            } else if text.len() > 1 && text.starts_with('-') {
                for (index, letter) in text.char_indices().skip(1) {
                    let rest = &text[index + 1..];
                    lines |= matches!(letter, '0' | 'd');
                    if letter == 'i' {
                        placeholder = Some(if rest.is_empty() { "{}" } else { rest }.to_owned());
                        break;
                    }
                    if VALUED.contains(letter) {
                        if letter == 'I' {
                            let next = call.literal(at + 1).unwrap_or("{}");
                            placeholder =
                                Some(if rest.is_empty() { next } else { rest }.to_owned());
                        }
                        at += usize::from(rest.is_empty());
                        break;
                    }
                    if matches!(letter, 'e' | 'l') {
                        break;
                    }
                }
            } else {
                break;
            }
            at += 1;
        }
        let items = match st.stdin.as_deref() {
            Some(text) if placeholder.is_some() => text.split(&['\n', '\0']),
            Some(text) if lines => text.split(&['\0', '\n']),
            Some(text) => text
                .split(&[' ', '\t', '\n'])
                .iter()
                .map(unquoted)
                .collect(),
            None => {
                let mut item = Value::default();
                item.push_unknown(Why::Input, true);
                vec![item]
            }
        };
        let mut words = call.words.get(at..).unwrap_or(&[]).to_vec();
        if words.is_empty() {
            return join(&items, "\n");
        }
        let span = words[0].span;
        let inner = st.stdin.take();
        let out = if let Some(placeholder) = placeholder {
            let mut out = Value::default();
            for item in &items {
                let replaced = words
                    .iter()
                    .map(|field| Field {
                        value: replaced(&field.value, &placeholder, item),
                        span: field.span,
                    })
                    .collect();
                out.extend(&self.start(&call.with_words(replaced), "xargs", st));
            }
            out
        } else {
            words.extend(items.into_iter().map(|value| Field { value, span }));
            self.start(&call.with_words(words), "xargs", st)
        };
        st.stdin = inner;
        out
    }

    fn find(&mut self, call: &Call, st: &mut State) -> Value {
        let search = Search::read(&call.words);
        for command in &search.commands {
            let mut words: Vec<Field> = Vec::new();
            for field in command {
                if field.value.literal() == Some("{}") {
                    words.extend(search.found.iter().map(|value| Field {
                        value: value.clone(),
                        span: field.span,
                    }));
                } else {
                    let found = search.found.first().cloned().unwrap_or_default();
                    words.push(Field {
                        value: replaced(&field.value, "{}", &found),
                        span: field.span,
                    });
                }
            }
            self.start(&call.with_words(words), "find", st);
        }
        let mut out = join(&search.found, "\n");
        out.push_text("\n");
        out
    }

    /// GNU parallel: the command words and each input are joined and given to a shell.
    fn parallel(&mut self, call: &Call, st: &mut State) -> Value {
        let values = call.values(1);
        let mut at = 0;
        while let Some(text) = values.get(at).map(Value::prefix) {
            if !text.starts_with('-') {
                break;
            }
            let takes_value = text.len() == 2
                && text.ends_with(['j', 'P', 'I', 'a', 'd', 'C', 'n', 'N', 'L', 'S']);
            at += 1 + usize::from(
                takes_value
                    || matches!(
                        text,
                        "--jobs" | "--delay" | "--timeout" | "--joblog" | "--colsep"
                    ),
            );
        }
        let rest = &values[at.min(values.len())..];
        let sources = rest
            .iter()
            .position(|value| value.literal().is_some_and(|text| text.starts_with(":::")));
        let command = join(&rest[..sources.unwrap_or(rest.len())], " ");
        let items: Vec<Value> = match sources {
            Some(at) => rest[at + 1..].to_vec(),
            None => match st.stdin.as_deref() {
                Some(text) => text.split(&['\n']),
                None => vec![Value::unknown(Why::Input)],
            },
        };
        for item in items {
            let text = if command.is_empty() {
                item
            } else if command.script().contains('{') {
                replaced(&command, "{}", &quote(&item))
            } else {
                let mut text = command.clone();
                text.push_text(" ");
                text.extend(&quote(&item));
                text
            };
            self.script_with(&text, Vec::new(), "parallel", st);
        }
        Value::unknown(Why::Output)
    }

    /// A command that stands behind one of these options, up to the end or a `;`.
    fn after_option(&mut self, options: &[&str], through: &str, call: &Call, st: &mut State) {
        let found = call.words.iter().position(|field| {
            field
                .value
                .literal()
                .is_some_and(|text| options.contains(&text))
        });
        let Some(at) = found else { return };
        let mut item = Value::text("./");
        item.push_unknown(Why::Output, false);
        let mut words: Vec<Field> = call.words[at + 1..]
            .iter()
            .take_while(|field| field.value.literal() != Some(";"))
            .map(|field| Field {
                value: replaced(&field.value, "{}", &item),
                span: field.span,
            })
            .collect();
        if !call.words[at + 1..]
            .iter()
            .any(|field| field.value.script().contains('{'))
        {
            let span = call.words[at].span;
            words.push(Field { value: item, span });
        }
        self.start(&call.with_words(words), through, st);
    }

    /// Commands that git runs for its user: aliases with `!`, `bisect run`, `submodule foreach`,
    /// `rebase --exec`, `filter-branch`.
    fn git(&mut self, call: &Call, st: &mut State) {
        let git = super::super::git::Git::read(&call.words);
        // Aliases set on the command line, and by a `git config` earlier in the script.
        let subcommand = git.subcommand().unwrap_or("");
        let alias = format!("alias.{subcommand}").to_ascii_lowercase();
        let script = git
            .config
            .iter()
            .find(|(name, _)| *name == alias)
            .map(|(_, value)| value.script())
            .or_else(|| st.aliases.get(&git_alias(&alias)).cloned());
        if let Some(script) = script.filter(|_| !self.expanding.contains(&alias)) {
            let mut text = match script.strip_prefix('!') {
                Some(shell) => Value::text(shell),
                None => Value::text(format!("git {script}")),
            };
            for field in git.arguments {
                text.push_text(" ");
                text.extend(&quote(&field.value));
            }
            self.expanding.push(alias);
            self.script_with(&text, Vec::new(), "git", st);
            self.expanding.pop();
        }
        if let Some((name, value)) = git
            .configures()
            .filter(|(name, _)| name.starts_with("alias."))
        {
            // `!text` is judged even where nobody calls it.
            let script = value.script();
            if let Some(shell) = script.strip_prefix('!') {
                self.script_with(&Value::text(shell), Vec::new(), "git", st);
            }
            Rc::make_mut(&mut st.aliases).insert(git_alias(&name), script);
        }
        let values: Vec<Value> = git
            .arguments
            .iter()
            .map(|field| field.value.clone())
            .collect();
        match (git.subcommand(), values.first().and_then(Value::literal)) {
            (Some("bisect"), Some("run")) => {
                let words = git.arguments[1..].to_vec();
                self.start(&call.with_words(words), "git bisect", st);
            }
            (Some("submodule"), Some("foreach")) => {
                let text = join(
                    &values[1..]
                        .iter()
                        .filter(|value| !value.prefix().starts_with("--"))
                        .cloned()
                        .collect::<Vec<_>>(),
                    " ",
                );
                self.script_with(&text, Vec::new(), "git submodule", st);
            }
            (Some("rebase" | "filter-branch"), _) => {
                for (index, value) in values.iter().enumerate() {
                    let text = value.prefix();
                    let text = if let Some((_, text)) = text
                        .strip_prefix("--exec")
                        .and_then(|rest| rest.split_once('='))
                    {
                        Value::text(text)
                    } else if matches!(text, "-x" | "--exec") || text.ends_with("-filter") {
                        values.get(index + 1).cloned().unwrap_or_default()
                    } else {
                        continue;
                    };
                    self.script_with(&text, Vec::new(), "git", st);
                }
            }
            _ => {}
        }
    }
}

/// Where an alias of git's is kept among those of the shell: under a name that no shell alias can have.
fn git_alias(name: &str) -> String {
    format!("git {name}")
}

/// The value without its first bytes, which must be known text.
fn without_prefix(value: &Value, bytes: usize) -> Value {
    let mut out = Value::text(value.prefix().get(bytes..).unwrap_or(""));
    for piece in value
        .pieces()
        .iter()
        .skip(usize::from(!value.prefix().is_empty()))
    {
        out.extend(&Value::from(piece.clone()));
    }
    out
}

/// The value with `item` in every place where `placeholder` stands.
fn replaced(value: &Value, placeholder: &str, item: &Value) -> Value {
    if placeholder.is_empty() {
        return value.clone();
    }
    let mut out = Value::default();
    for piece in value.pieces() {
        let Piece::Text(text) = piece else {
            out.extend(&Value::from(piece.clone()));
            continue;
        };
        for (index, part) in text.split(placeholder).enumerate() {
            if index > 0 {
                out.extend(item);
            }
            out.push_text(part);
        }
    }
    out
}

/// An item of `xargs` without the quotes that it takes off.
fn unquoted(value: &Value) -> Value {
    match value.literal() {
        Some(text) if text.contains(['\'', '"', '\\']) => Value::text(
            text.chars()
                .filter(|c| !matches!(c, '\'' | '"' | '\\'))
                .collect::<String>(),
        ),
        _ => value.clone(),
    }
}
