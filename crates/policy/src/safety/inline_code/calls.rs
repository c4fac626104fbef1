//! Calls in a program text that run a command or remove a tree, found by the names they go by.

use super::surroundings::written_out;
use super::tokens::{Bindings, Dialect, Token, arguments, split, tokens};

/// What a call would do.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Call {
    /// Run this text in a shell.
    Script(String),
    /// Run what stands on its standard input in a shell.
    Input,
    /// Remove this path, a glob perhaps, with everything below it.
    Remove(String),
}

/// Most calls of one program that are looked at.
const MAX_CALLS: usize = 1000;

/// Functions that run a command, whatever module they are in.
pub(super) const RUNS: &[&str] = &[
    "system",
    "popen",
    "Popen",
    "popen2",
    "popen3",
    "exec",
    "execl",
    "execle",
    "execlp",
    "execlpe",
    "execv",
    "execve",
    "execvp",
    "execvpe",
    "execSync",
    "execFile",
    "execFileSync",
    "spawn",
    "spawnl",
    "spawnle",
    "spawnlp",
    "spawnlpe",
    "spawnv",
    "spawnve",
    "spawnvp",
    "spawnvpe",
    "spawnSync",
    "spawn_sync",
    "posix_spawn",
    "posix_spawnp",
    "run",
    "call",
    "check_call",
    "check_output",
    "getoutput",
    "getstatusoutput",
    "create_subprocess_shell",
    "create_subprocess_exec",
    "shell_exec",
    "passthru",
    "proc_open",
    "pcntl_exec",
    "execute",
    "sh",
    "qx",
    "command",
    "Command",
    "capture2",
    "capture2e",
    "capture3",
    "fork_exec",
    "startfile",
    "system2",
    "shell",
    "cmd",
    "eval",
];

/// Functions that remove a tree.
const REMOVES: &[&str] = &[
    "rmtree",
    "remove_tree",
    "rm_rf",
    "rm_r",
    "remove_entry_secure",
    "remove_entry",
    "remove_dir",
    "rmSync",
    "rmdirSync",
    "removeSync",
    "rimraf",
    "rimrafSync",
    "emptyDirSync",
    "deltree",
    "removeRecursive",
    "RemoveAll",
    "remove_dir_all",
    "rmdir_recursive",
    "rm",
];

/// Functions that remove a tree only if their arguments say so.
const REMOVES_RECURSIVELY: &[&str] = &["unlink", "rmdir", "remove"];

/// Whether a word is the name of a call that removes, which needs no string to say what.
pub(super) fn is_removal(word: &str) -> bool {
    REMOVES.contains(&word) || REMOVES_RECURSIVELY.contains(&word)
}

/// Most programs inside one another.
const MAX_NESTED: u8 = 3;

/// The calls in a program. Backticks run a command in Perl, Ruby and PHP.
pub(super) fn calls(program: &str, dialect: Dialect, backticks: bool) -> Vec<Call> {
    calls_with(program, dialect, backticks, &[])
}

/// The same for a program with these arguments behind it.
pub(super) fn calls_with(
    program: &str,
    dialect: Dialect,
    backticks: bool,
    given: &[String],
) -> Vec<Call> {
    let mut out = Vec::new();
    nested(program, dialect, backticks, given, 0, &mut out);
    out
}

fn nested(
    program: &str,
    dialect: Dialect,
    backticks: bool,
    given_to_it: &[String],
    depth: u8,
    out: &mut Vec<Call>,
) {
    let all = renamed(written_out(tokens(program, dialect), given_to_it));
    let bindings = Bindings::of(&all);
    let mut looked_at = 0;
    for (at, token) in all.iter().enumerate() {
        // `` $`…` `` of Bun and zx
        if let (Token::Mark('$'), Some(Token::Text(text)), "//", false) =
            (token, all.get(at + 1), dialect.comment, backticks)
        {
            out.push(Call::Script(text.clone()));
        }
        let Token::Name(name) = token else { continue };
        let name = name.as_str();
        // `do shell script "…"`
        let runs = RUNS.contains(&name)
            || (name == "script" && at > 0 && all[at - 1] == Token::Name("shell".to_owned()));
        if backticks && name == "open" {
            pipes(arguments(&all[at + 1..]), out);
        }
        let removes = REMOVES.contains(&name) || REMOVES_RECURSIVELY.contains(&name);
        if !runs && !removes {
            continue;
        }
        // `rimraf.sync(…)`
        let after = match all.get(at + 1..at + 3) {
            Some([Token::Mark('.'), Token::Name(_)]) if removes => at + 3,
            _ => at + 1,
        };
        // A call, or a name in front of its arguments; not an assignment or a key.
        let called = matches!(
            all.get(after),
            Some(
                Token::Mark('(' | '[' | '{' | '$' | '@')
                    | Token::Text(_)
                    | Token::Filled(_)
                    | Token::Name(_)
            )
        );
        if !called {
            continue;
        }
        if looked_at >= MAX_CALLS {
            break;
        }
        looked_at += 1;
        let written = arguments(&all[after..]);
        if runs {
            let given = bindings.fill(written);
            scripts(&given, out);
            // `exec("…")` of Python: a program of the same language.
            if let ("exec" | "eval", [Token::Text(inner)]) = (name, given.as_slice())
                && depth < MAX_NESTED
            {
                nested(inner, dialect, backticks, given_to_it, depth + 1, out);
            }
        } else if REMOVES.contains(&name) || written.iter().any(says_recursive) {
            removals(&bindings.fill(written), out);
        }
    }
    if backticks {
        quoted_commands(program, out);
    }
}

/// `open(F, "command |")`, `open(F, "|-", "command")`, `open("| command")`.
fn pipes(given: &[Token], out: &mut Vec<Call>) {
    let mut texts = given.iter().filter_map(|token| match token {
        Token::Text(text) | Token::Filled(text) => Some(text.trim()),
        _ => None,
    });
    while let Some(text) = texts.next() {
        let command = match text {
            "|-" | "-|" => texts.next(),
            _ => text.strip_prefix('|').or(text.strip_suffix('|')),
        };
        out.extend(command.map(|command| Call::Script(command.to_owned())));
    }
}

fn says_recursive(token: &Token) -> bool {
    matches!(token, Token::Name(name) if name == "recursive")
}

/// The program with names that were imported `as` others back under their own, and with `require("rimraf")` as
/// the name it is.
fn renamed(mut all: Vec<Token>) -> Vec<Token> {
    for at in 3..all.len() {
        if let [
            Token::Name(require),
            Token::Mark('('),
            Token::Text(module),
            Token::Mark(')'),
        ] = &all[at - 3..=at]
            && require == "require"
            && REMOVES.contains(&module.as_str())
        {
            all[at] = Token::Name(module.clone());
        }
    }
    let renames: Vec<(String, String)> = all
        .windows(3)
        .filter_map(|three| match three {
            [Token::Name(name), Token::Name(r#as), Token::Name(new)] if r#as == "as" => {
                Some((new.clone(), name.clone()))
            }
            // `{execSync: x}`
            [Token::Name(name), Token::Mark(':'), Token::Name(new)]
                if RUNS.contains(&name.as_str()) || REMOVES.contains(&name.as_str()) =>
            {
                Some((new.clone(), name.clone()))
            }
            _ => None,
        })
        .collect();
    for (new, name) in renames {
        for token in &mut all {
            if matches!(token, Token::Name(here) if *here == new) {
                *token = Token::Name(name.clone());
            }
        }
    }
    all
}

/// What a call that runs something is handed: a text for a shell, or a program and its arguments.
fn scripts(given: &[Token], out: &mut Vec<Call>) {
    let mut texts: Vec<&str> = Vec::new();
    for (at, token) in given.iter().enumerate() {
        let (Token::Text(text) | Token::Filled(text)) = token else {
            continue;
        };
        // `cwd="/"`, `{cwd: "/"}`, `input="…"`: about the call.
        let keyword = match given.get(..at) {
            Some([.., Token::Name(name), Token::Mark('=' | ':')]) => {
                !matches!(name.as_str(), "args" | "cmd" | "command" | "c")
            }
            _ => false,
        };
        if !keyword && !text.is_empty() {
            texts.push(text);
        }
    }
    let Some(first) = texts.first() else { return };
    out.extend(joined(given, &texts));
    // `"rm -rf " + path`, `"rm" . " -rf /"`, `"rm " "-rf /"`
    let text = |token: Option<&Token>| matches!(token, Some(Token::Text(_) | Token::Filled(_)));
    if given.iter().enumerate().any(|(at, token)| {
        matches!(token, Token::Mark('+' | '.')) || text(Some(token)) && text(given.get(at + 1))
    }) {
        out.push(Call::Script(texts.concat()));
    }
    // `"rm -rf %s" % path`, `"rm -rf {}".format(path)`
    if first.contains("%s") || first.contains("{}") {
        let put_in = texts[1..].iter().fold((*first).to_owned(), |format, text| {
            format.replacen("%s", text, 1).replacen("{}", text, 1)
        });
        out.push(Call::Script(put_in));
    }
    if first.contains(|c: char| c.is_whitespace() || ";|&<>()`$".contains(c)) {
        out.extend(texts.iter().map(|text| Call::Script((*text).to_owned())));
    } else {
        let argv: Vec<String> = texts
            .iter()
            .map(|text| format!("'{}'", text.replace('\'', r"'\''")))
            .collect();
        out.push(Call::Script(argv.join(" ")));
        // `execvp("rm", ["rm", …])`: the name stands there twice.
        out.push(Call::Script(argv[1..].join(" ")));
    }
}

/// `" ".join([…])`, `[…].join(" ")`
fn joined(given: &[Token], texts: &[&str]) -> Option<Call> {
    let at = given
        .iter()
        .position(|token| matches!(token, Token::Name(name) if name == "join"))?;
    let behind = given[at..]
        .iter()
        .filter(|token| matches!(token, Token::Text(_)));
    let ((1, [rest @ .., between]) | (_, [between, rest @ ..])) = (behind.count(), texts) else {
        return None;
    };
    Some(Call::Script(rest.join(between)))
}

/// The paths a call that removes a tree is handed; those that are put together from what is not known are
/// left out.
fn removals(given: &[Token], out: &mut Vec<Call>) {
    let Some(first) = split(given).first().copied() else {
        return;
    };
    for path in paths(first) {
        out.push(Call::Remove(path));
    }
}

fn paths(expression: &[Token]) -> Vec<String> {
    // A list, or a tuple: each of its elements.
    if let [Token::Mark('[' | '('), inside @ .., Token::Mark(']' | ')')] = expression {
        return split(inside).into_iter().flat_map(paths).collect();
    }
    let mut pieces: Vec<String> = Vec::new();
    for (at, token) in expression.iter().enumerate() {
        let before = |back: usize| at.checked_sub(back).and_then(|at| expression.get(at));
        let called = expression.get(at + 1) == Some(&Token::Mark('('));
        let from_environment = [2, 1].into_iter().any(|back| {
            matches!(before(back), Some(Token::Name(name))
                if matches!(name.as_str(), "environ" | "getenv" | "ENV" | "env" | "get"))
        });
        match token {
            Token::Text(text) if from_environment => match text.as_str() {
                "HOME" => pieces.push("~".to_owned()),
                _ => return Vec::new(),
            },
            // `require("os").homedir()`
            Token::Text(_) if matches!(before(2), Some(Token::Name(name)) if name == "require") => {
            }
            Token::Text(text) => pieces.push(text.clone()),
            Token::Filled(_) => return Vec::new(),
            Token::Name(name) => match name.as_str() {
                "HOME" => pieces.push("~".to_owned()),
                "home" | "homedir" if called || is_dir(before(2)) => pieces.push("~".to_owned()),
                "cwd" | "getcwd" | "pwd" if called || is_dir(before(2)) => {
                    pieces.push(".".to_owned());
                }
                // A module, a function, a keyword.
                _ if called
                    || matches!(
                        expression.get(at + 1),
                        Some(Token::Mark('.' | '[' | '{' | ':'))
                    ) => {}
                "True" | "False" | "true" | "false" | "for" | "in" | "if" | "env" => {}
                _ => return Vec::new(),
            },
            Token::Mark(_) => {}
        }
    }
    if pieces.is_empty() {
        return Vec::new();
    }
    vec![pieces.join("/")]
}

fn is_dir(token: Option<&Token>) -> bool {
    matches!(token, Some(Token::Name(name)) if name == "Dir")
}

/// What backticks, `qx` and `%x` run.
fn quoted_commands(program: &str, out: &mut Vec<Call>) {
    out.extend(
        program
            .split('`')
            .skip(1)
            .step_by(2)
            .map(|text| Call::Script(text.to_owned())),
    );
    for (open, close) in [
        ("%x{", '}'),
        ("%x(", ')'),
        ("%x[", ']'),
        ("qx{", '}'),
        ("qx(", ')'),
        ("qx[", ']'),
        ("qx/", '/'),
        ("qx!", '!'),
    ] {
        for part in program.split(open).skip(1) {
            out.extend(
                part.split(close)
                    .next()
                    .map(|text| Call::Script(text.to_owned())),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_from_data() {
        let script = |text: &str| Some(Call::Script(text.to_owned()));
        let remove = |text: &str| Some(Call::Remove(text.to_owned()));
        for (program, expect) in [
            ("os.system('ls')", script("'ls'")),
            ("os.system('cd / && rm -rf *')", script("cd / && rm -rf *")),
            ("subprocess.run(['rm','-rf','/'])", script("'rm' '-rf' '/'")),
            ("run(['echo', 'rm -rf /'])", script("'echo' 'rm -rf /'")),
            ("exec \"git push -f\"", script("git push -f")),
            ("c = 'git push -f'\nos.system(c)", script("git push -f")),
            ("system('rm ' + '-rf /')", script("rm -rf /")),
            (
                "for c in ['rm -rf /']: run(c, shell=True)",
                script("rm -rf /"),
            ),
            ("shutil.rmtree(os.path.expanduser('~'))", remove("~")),
            ("rmtree(Path.home() / '.cache')", remove("~/.cache")),
            (
                "rmtree(os.path.join(os.getcwd(), 'build'))",
                remove("./build"),
            ),
            ("rmtree(os.environ['HOME'])", remove("~")),
            ("from shutil import rmtree as r; r('/')", remove("/")),
            ("d = '/'; shutil.rmtree(d)", remove("/")),
            ("rmtree('/tmp/' + name)", None),
            ("rmtree(f'/{name}')", None),
            ("rmtree(path)", None),
            ("unlink('/')", None),
            ("unlink('/', recursive=TRUE)", remove("/")),
            ("print('rm -rf /')", None),
            ("x = 'rm -rf /'", None),
            ("run = 'rm -rf /'", None),
        ] {
            let found = calls(program, Dialect::default(), false);
            match expect {
                Some(expect) => assert!(found.contains(&expect), "{program}: {found:?}"),
                None => assert_eq!(found, [], "{program}"),
            }
        }
    }
}
