//! Finds calls in programs of other languages that run a shell command or remove files.
//!
//! Languages are not parsed: only strings passed to calls with known names count.

use super::super::interpreter::{Language, Notation};
use super::bindings::Bindings;
use super::tokens::{Token, arguments, split, statement, tokens};
use std::collections::HashMap;

/// The effect of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Call {
    /// Runs this text in a shell.
    Script(String),
    /// Removes this path (possibly a glob) with everything below it.
    Remove(String),
    /// Removes the files in this path one by one; true if the program tests each file, so that only
    /// some files may be removed.
    RemoveEach(String, bool),
}

/// The effect of a call, by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallKind {
    /// The call runs a command.
    Runs,
    /// The call removes a tree.
    Removes,
    /// The call removes a tree if an argument is `recursive`.
    RemovesRecursively,
    /// The call lists files. A program that removes each listed file removes a tree.
    Lists,
    /// The call opens a file, or a command that is marked by `|`.
    Opens,
}

/// The known names of calls, without their module.
#[rustfmt::skip]
const CALL_NAMES: [(CallKind, &[&str]); 5] = [
    (
        CallKind::Runs,
        &[
            "system", "popen", "Popen", "popen2", "popen3", "exec", "execl", "execle", "execlp", "execlpe", "execv",
            "execve", "execvp", "execvpe", "execSync", "execFile", "execFileSync", "spawn", "spawnl", "spawnle",
            "spawnlp", "spawnlpe", "spawnv", "spawnve", "spawnvp", "spawnvpe", "spawnSync", "spawn_sync",
            "posix_spawn", "posix_spawnp", "run", "call", "check_call", "check_output", "getoutput",
            "getstatusoutput", "create_subprocess_shell", "create_subprocess_exec", "shell_exec", "passthru",
            "proc_open", "pcntl_exec", "execute", "sh", "command", "Command", "capture2", "capture2e", "capture3",
            "system2", "shell", "cmd", "eval", "os_cmd",
        ],
    ),
    (
        CallKind::Removes,
        &[
            "rmtree", "remove_tree", "rm_rf", "rm_r", "remove_entry_secure", "remove_entry", "remove_dir", "rmSync",
            "rmdirSync", "removeSync", "rimraf", "rimrafSync", "emptyDirSync", "deltree", "RemoveAll",
            "remove_dir_all", "rm",
        ],
    ),
    (
        CallKind::RemovesRecursively,
        &["unlink", "rmdir", "remove", "unlinkSync", "rmfile", "removedirs", "delete"],
    ),
    (
        CallKind::Lists,
        &[
            "walk", "fwalk", "glob", "iglob", "rglob", "iterdir", "listdir", "scandir", "readdir", "readdirSync",
            "globSync", "find", "finddepth", "children", "Glob", "WalkDir", "each_child", "opendir", "entries",
            "each_entry", "foreach", "Dir", "readDirSync", "readDir",
        ],
    ),
    (CallKind::Opens, &["open", "open3", "open2", "pipe"]),
];

/// Returns the effect of a call with this name.
fn call_kind(name: &str) -> Option<CallKind> {
    CALL_NAMES
        .iter()
        .find(|(_, names)| names.contains(&name))
        .map(|(kind, _)| *kind)
}

/// Returns the other names that a program gives to calls: `import rmtree as r`, `{execSync: x} =
/// …`, `x = os.system`.
fn aliases(tokens: &[Token]) -> HashMap<&str, CallKind> {
    let alias = |index: usize| {
        let Token::Name(name) = &tokens[index] else {
            return None;
        };
        let kind = call_kind(name)?;
        let after = tokens.get(index + 1..).unwrap_or_default();
        let before = tokens.get(..index).unwrap_or_default();
        let is_end = |token: Option<&Token>| {
            matches!(token, None | Some(Token::Mark('\n' | ';' | ',' | '}')))
        };
        // `x = os.system`
        let before_module = match before {
            [rest @ .., Token::Name(_), Token::Mark('.')] => rest,
            before => before,
        };
        let alias = match (before_module, after) {
            (_, [Token::Mark(':'), Token::Name(alias), rest @ ..]) if is_end(rest.first()) => alias,
            (_, [Token::Name(word), Token::Name(alias), ..]) if word == "as" => alias,
            ([.., Token::Name(alias), Token::Mark('=')], rest) if is_end(rest.first()) => alias,
            _ => return None,
        };
        Some((alias.as_str(), kind))
    };
    (0..tokens.len()).filter_map(alias).collect()
}

/// Maximum number of calls examined in one program.
const MAX_CALLS: usize = 1000;

/// Returns the commands that a program in this language runs, and the paths that it removes.
pub(super) fn calls(program: &str, language: Language) -> Vec<Call> {
    match language {
        Language::Calls(notation) => called(program, notation, false),
        Language::Sed => program
            .split(['\n', ';', '{', '}'])
            .filter_map(sed)
            .collect(),
        Language::Make => {
            let expanded = program
                .split("$(shell ")
                .skip(1)
                .filter_map(|text| text.split_once(')'));
            let expanded = expanded.map(|(text, _)| Call::Script(text.to_owned()));
            program.lines().filter_map(recipe).chain(expanded).collect()
        }
        Language::Shell => vec![Call::Script(program.to_owned())],
    }
}

/// Returns the calls of a program with this notation. `is_inner` is true for a program that is a
/// string of another program.
fn called(program: &str, notation: Notation, is_inner: bool) -> Vec<Call> {
    let all = tokens(program, notation);
    let bindings = Bindings::of(&all);
    let aliases = aliases(&all);
    let named = all
        .iter()
        .enumerate()
        .filter_map(|(index, token)| match token {
            Token::Name(name) => {
                let kind = call_kind(name).or_else(|| aliases.get(name.as_str()).copied())?;
                // `rimraf.sync(…)`
                let after = match all.get(index + 1..index + 3) {
                    Some([Token::Mark('.'), Token::Name(_)]) if kind == CallKind::Removes => {
                        index + 3
                    }
                    _ => index + 1,
                };
                let written = match &all[after..] {
                    // Ruby's `Dir["*"]`
                    [Token::Mark('['), inside @ ..] if kind == CallKind::Lists => statement(inside),
                    after => arguments(after)?,
                };
                Some((kind, index, written))
            }
            _ => None,
        });
    let mut out = Vec::new();
    let mut listed = Vec::new();
    // `map(os.remove, …)`, `forEach(fs.unlinkSync)`, `array_map("unlink", …)`, Perl's `{ unlink }`
    let mut removes = all.windows(3).any(|tokens| match tokens {
        [Token::Mark('('), Token::Text(name), Token::Mark(',')]
        | [_, Token::Name(name), Token::Mark(',' | ')' | '}' | ';')] => matches!(
            call_kind(name),
            Some(CallKind::Removes | CallKind::RemovesRecursively)
        ),
        _ => false,
    });
    let is_tested = has_selecting_test(&all);
    for (kind, index, written) in named.take(MAX_CALLS) {
        match kind {
            CallKind::Lists if is_shown(&all[..index]) => {}
            CallKind::Lists => {
                let mut found = Vec::new();
                if written.is_empty() && is_name(&all[index], &LISTS_CWD) {
                    found.push(Call::Remove(".".to_owned()));
                }
                // Perl's `finddepth(sub { … }, "/")` names the directory last.
                for argument in split(&bindings.fill(written)) {
                    removals(argument, &mut found);
                }
                // `Path("/").rglob("*")`
                let starts = |token: &Token| match token {
                    Token::Mark(mark) => matches!(mark, '\n' | ';' | '='),
                    Token::Name(name) => name == "in",
                    _ => false,
                };
                let start = all[..index].iter().rposition(starts);
                let start = start.map_or(0, |last| last + 1);
                if let Some((Token::Mark('.'), object)) = all[start..index].split_last()
                    && let Some(directory) = path(&bindings.fill(object))
                {
                    found = vec![Call::Remove(match written.first() {
                        Some(Token::Text(pattern)) if directory.starts_with('.') => {
                            format!("{directory}/{pattern}")
                        }
                        _ => directory,
                    })];
                }
                listed.extend(found.into_iter().filter_map(|call| match call {
                    Call::Remove(path) => {
                        Some(Call::RemoveEach(path.replace("**", "*"), is_tested))
                    }
                    _ => None,
                }));
            }
            CallKind::Opens => opened(&bindings.fill(written), &mut out),
            CallKind::Runs => {
                let written = bindings.fill(written);
                scripts(&written, &mut out);
                // `exec("os.system(…)")`: a program of the same language.
                let is_code = matches!(&all[index], Token::Name(name) if matches!(name.as_str(), "exec" | "eval"));
                if let (true, false, [Token::Text(text), ..]) = (is_code, is_inner, &written[..]) {
                    out.extend(called(text, notation, true));
                }
            }
            CallKind::Removes | CallKind::RemovesRecursively => {
                // `os.remove("a.txt")` does not remove the listed files.
                let is_literal =
                    matches!(written, [Token::Text(text)] if !text.contains(['$', '#']));
                removes |= !is_literal;
                if kind == CallKind::Removes
                    || written.iter().any(|token| is_name(token, &["recursive"]))
                {
                    removals(&bindings.fill(written), &mut out);
                }
            }
        }
    }
    if removes && !all.iter().any(|token| is_name(token, &SELECTING_NAMES)) {
        out.extend(listed);
    }
    if notation.pipes {
        piped(&all, &mut out);
    }
    out
}

/// Names of calls that print or count their arguments.
const SHOWING_CALLS: [&str; 10] = [
    "print", "puts", "p", "pp", "log", "echo", "say", "len", "print_r", "var_dump",
];

/// True if the tokens before a call pass its result to a call that prints: `print(os.`
fn is_shown(mut before: &[Token]) -> bool {
    while let [rest @ .., Token::Name(_), Token::Mark('.')] = before {
        before = rest;
    }
    let called = before.strip_suffix(&[Token::Mark('(')]).unwrap_or(before);
    called
        .last()
        .is_some_and(|name| is_name(name, &SHOWING_CALLS))
}

/// True if a token is one of these names.
fn is_name(token: &Token, names: &[&str]) -> bool {
    matches!(token, Token::Name(name) if names.contains(&name.as_str()))
}

/// Names of calls that list the working directory unless an argument names another directory.
const LISTS_CWD: [&str; 2] = ["listdir", "scandir"];

/// Words before a condition.
const TEST_WORDS: [&str; 4] = ["if", "unless", "when", "and"];

/// Names of calls that test the kind of a file.
const KIND_TESTS: [&str; 11] = [
    "isdir", "isfile", "is_dir", "is_file", "isDirectory", "isFile", "islink", "exists", "file",
    "directory", "existsSync",
];

/// True if a program has a test that may select some of the listed files by more than their kind.
fn has_selecting_test(tokens: &[Token]) -> bool {
    let ends_condition = |token: &Token| {
        is_name(token, &TEST_WORDS)
            || is_name(token, &["else", "for"])
            || matches!(token, Token::Mark(':' | ';' | '{' | '}' | '\n'))
    };
    let compares = |token: &Token| matches!(token, Token::Mark('=' | '<' | '>' | '&' | '|'));
    let tests = tokens
        .split_inclusive(|token| is_name(token, &TEST_WORDS))
        .skip(1);
    tests.into_iter().any(|test| {
        let end = test.iter().position(ends_condition).unwrap_or(test.len());
        let condition = &test[..end];
        let is_by_kind = condition.iter().any(|token| is_name(token, &KIND_TESTS));
        !is_by_kind || condition.iter().any(compares)
    })
}

/// Names of calls and fields that select some of the listed files.
const SELECTING_NAMES: [&str; 12] = [
    "endswith", "endsWith", "startswith", "startsWith", "suffix", "fnmatch", "match", "filter",
    "grep", "extname", "includes", "indexOf",
];

/// Adds the commands that a program opens: `open("|command")`, `open(…, "-|", "command")`.
fn opened(arguments: &[Token], out: &mut Vec<Call>) {
    for (index, token) in arguments.iter().enumerate() {
        let Token::Text(text) = token else { continue };
        match text.as_str() {
            "-|" | "|-" => scripts(&arguments[index + 1..], out),
            text => {
                let command = text.strip_prefix('|').or(text.strip_suffix('|'));
                out.extend(command.map(|command| Call::Script(command.to_owned())));
            }
        }
    }
}

/// Adds the commands that awk pipes to or from: `print | "command"`, `"command" | getline`.
fn piped(tokens: &[Token], out: &mut Vec<Call>) {
    let is_pipe =
        |index: Option<usize>| index.and_then(|index| tokens.get(index)) == Some(&Token::Mark('|'));
    for (index, token) in tokens.iter().enumerate() {
        // `||` is an operator, not a pipe.
        let is_after_pipe = is_pipe(index.checked_sub(1)) && !is_pipe(index.checked_sub(2));
        let is_before_pipe = is_pipe(Some(index + 1)) && !is_pipe(Some(index + 2));
        if let Token::Text(text) = token
            && (is_after_pipe || is_before_pipe)
        {
            out.push(Call::Script(text.clone()));
        }
    }
}

/// Adds the commands passed to a call that runs a command: a text for a shell, or a program with
/// its arguments.
fn scripts(arguments: &[Token], out: &mut Vec<Call>) {
    let texts: Vec<&str> = arguments
        .iter()
        .enumerate()
        .filter_map(|(index, token)| match (token, arguments.get(..index)) {
            // `cwd="/"`, `{cwd: "/"}`, `input="…"`: an option of the call.
            (_, Some([.., Token::Name(name), Token::Mark('=' | ':')]))
                if !matches!(name.as_str(), "args" | "cmd" | "command") =>
            {
                None
            }
            _ if is_home(arguments, index) => Some("$HOME"),
            // The separator of `" ".join([…])` is not a word of the command.
            (Token::Text(text) | Token::Filled(text), _) if !text.trim().is_empty() => {
                Some(text.as_str())
            }
            _ => None,
        })
        .collect();
    let Some((first, rest)) = texts.split_first() else {
        return;
    };
    let script = |text: String| Call::Script(text);
    if first.contains(|c: char| c.is_whitespace() || ";|&<>()`$".contains(c)) {
        out.extend(texts.iter().map(|text| script((*text).to_owned())));
    } else {
        let argv: Vec<String> = texts
            .iter()
            .map(|text| match *text {
                "$HOME" => "\"$HOME\"".to_owned(),
                text => format!("'{}'", text.replace('\'', r"'\''")),
            })
            .collect();
        out.push(script(argv.join(" ")));
        // `execvp("rm", ["rm", …])`: the name is given twice.
        out.push(script(argv[1..].join(" ")));
    }
    // `"rm -rf " + path`, `"rm -rf %s" % path`, `"rm -rf {}".format(path)`
    if !rest.is_empty() {
        out.push(script(rest.iter().fold(
            (*first).to_owned(),
            |text, next| {
                let mut placeholders = ["%s", "{}"].into_iter();
                match placeholders.find(|placeholder| text.contains(placeholder)) {
                    Some(placeholder) => text.replacen(placeholder, next, 1),
                    None => text + next,
                }
            },
        )));
    }
}

/// Adds the paths passed to a call that removes a tree, without paths that contain unknown values.
fn removals(arguments: &[Token], out: &mut Vec<Call>) {
    let Some(first) = split(arguments).next() else {
        return;
    };
    // A list or tuple: each of its elements.
    if let [Token::Mark('[' | '('), inside @ .., Token::Mark(']' | ')')] = first {
        out.extend(split(inside).filter_map(path).map(Call::Remove));
    } else {
        out.extend(path(first).map(Call::Remove));
    }
}

/// True if the token at `index` ends an expression for the home directory: `environ["HOME"]`,
/// `$ENV{HOME}`, `process.env.HOME`, `Dir.home`, `homedir()`.
fn is_home(tokens: &[Token], index: usize) -> bool {
    let token_before = |distance: usize| {
        let index = index.checked_sub(distance)?;
        tokens.get(index)
    };
    let has_owner = |names: &[&str]| {
        [token_before(1), token_before(2)]
            .into_iter()
            .flatten()
            .any(|token| is_name(token, names))
    };
    match tokens.get(index) {
        Some(Token::Text(text) | Token::Name(text)) if text == "HOME" => {
            has_owner(&["environ", "getenv", "ENV", "env", "get"])
        }
        Some(Token::Name(name)) if matches!(name.as_str(), "home" | "homedir") => {
            tokens.get(index + 1) == Some(&Token::Mark('(')) || has_owner(&["Dir"])
        }
        _ => false,
    }
}

/// Returns the path that an expression builds; `None` if it contains unknown values.
fn path(expression: &[Token]) -> Option<String> {
    let name = |index: Option<usize>| match index.and_then(|index| expression.get(index)) {
        Some(Token::Name(name)) => name.as_str(),
        _ => "",
    };
    let mut pieces: Vec<&str> = Vec::new();
    for (index, token) in expression.iter().enumerate() {
        // `environ["X"]`, `require("os")`; `Dir.pwd`
        let owners = [name(index.checked_sub(1)), name(index.checked_sub(2))];
        let has_owner = |names: &[&str]| owners.iter().any(|owner| names.contains(owner));
        let next = expression.get(index + 1);
        let is_called = next == Some(&Token::Mark('('));
        let is_module_or_function =
            is_called || matches!(next, Some(Token::Mark('.' | '[' | '{' | ':')));
        match token {
            _ if is_home(expression, index) => pieces.push("~"),
            Token::Text(_) if has_owner(&["environ", "getenv", "ENV", "env", "get"]) => {
                return None;
            }
            Token::Text(_) if has_owner(&["require", "__import__", "import_module"]) => {}
            Token::Text(text) => pieces.push(text),
            Token::Name(name) => match name.as_str() {
                "HOME" => pieces.push("~"),
                "cwd" | "getcwd" | "pwd" if is_called || has_owner(&["Dir"]) => pieces.push("."),
                "sep" => pieces.push("/"),
                // Keywords, and names that are not part of the path.
                "True" | "False" | "true" | "false" | "for" | "in" | "if" | "env" => {}
                _ if is_module_or_function => {}
                _ => return None,
            },
            Token::Filled(_) => return None,
            Token::Mark(_) => {}
        }
    }
    (!pieces.is_empty()).then(|| pieces.join("/"))
}

/// Returns the command that a sed command runs: `e command`, or the flag `e` of `s`.
fn sed(command: &str) -> Option<Call> {
    let is_of_address = |c: char| c.is_ascii_digit() || "$,!~+ \t".contains(c);
    let command = command.trim_start_matches(is_of_address);
    // `/pattern/e command`
    let pattern_and_rest = command
        .strip_prefix('/')
        .and_then(|rest| rest.split_once('/'));
    let command =
        pattern_and_rest.map_or(command, |(_, rest)| rest.trim_start_matches(is_of_address));
    if let Some(text) = command.strip_prefix("e ") {
        return Some(Call::Script(text.to_owned()));
    }
    // `s/pattern/command/e`
    let rest = command.strip_prefix('s')?;
    let delimiter = rest.chars().next().filter(char::is_ascii_punctuation)?;
    let mut parts = rest.replace(&format!("\\{delimiter}"), "\0");
    parts.remove(0);
    let mut parts = parts.split(delimiter).skip(1);
    let (text, flags) = (
        parts.next()?.replace('\0', &delimiter.to_string()),
        parts.next()?,
    );
    flags
        .trim_end()
        .ends_with('e')
        .then_some(Call::Script(text))
}

/// Returns the command that a line of a makefile runs: a recipe below its target or on the same
/// line.
fn recipe(line: &str) -> Option<Call> {
    let after_target = || {
        line.split_once(':')?
            .1
            .split_once(';')
            .map(|(_, recipe)| recipe)
    };
    let recipe = line.strip_prefix('\t').or_else(after_target)?;
    Some(Call::Script(
        recipe
            .trim_start_matches(['@', '-', '+', ' '])
            .replace("$$", "$"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN_LANGUAGE: Language = Language::Calls(Notation {
        comment: "#",
        backticks: false,
        pipes: false,
    });
    /// Asserts that the expected call is among those found; if nothing is expected, that none is
    /// found.
    fn hold(language: Language, cases: &[(&str, &str)]) {
        for (program, expect) in cases {
            let found: Vec<String> = calls(program, language)
                .iter()
                .map(|call| match call {
                    Call::Script(text) => format!("run {text}"),
                    Call::Remove(path) => format!("remove {path}"),
                    Call::RemoveEach(path, _) => format!("remove each {path}"),
                })
                .collect();
            let holds = match *expect {
                "" => found.is_empty(),
                expect => found.iter().any(|found| found == expect),
            };
            assert!(holds, "{program}: {found:?}");
        }
    }

    #[test]
    fn calls_are_told_from_data() {
        hold(
            PLAIN_LANGUAGE,
            &[
                ("os.system('ls')", "run 'ls'"),
                ("os.system('cd / && rm -rf *')", "run cd / && rm -rf *"),
                ("subprocess.run(['rm','-rf','/'])", "run 'rm' '-rf' '/'"),
                ("run(' '.join(['rm','-rf','/']))", "run 'rm' '-rf' '/'"),
                ("execvp('rm', ['rm', '/'])", "run 'rm' '/'"),
                ("run(['echo', 'rm -rf /'])", "run 'echo' 'rm -rf /'"),
                ("exec \"git push -f\"", "run git push -f"),
                ("c = 'git push -f'\nos.system(c)", "run git push -f"),
                ("system('rm ' + '-rf /')", "run rm -rf /"),
                ("system('rm -rf %s' % '/')", "run rm -rf /"),
                ("for c in ['rm -rf /']: run(c, shell=True)", "run rm -rf /"),
                ("await $`rm -rf /`", "run rm -rf /"),
                ("do shell script \"rm -rf /\"", "run rm -rf /"),
                ("shutil.rmtree(os.path.expanduser('~'))", "remove ~"),
                ("rmtree(Path.home() / '.cache')", "remove ~/.cache"),
                (
                    "rmtree(os.path.join(os.getcwd(), 'build'))",
                    "remove ./build",
                ),
                ("rmtree(os.environ['HOME'])", "remove ~"),
                ("run(['rm', os.environ['HOME']])", "run 'rm' \"$HOME\""),
                ("d = '/'; shutil.rmtree(d)", "remove /"),
                ("rimraf.sync('/')", "remove /"),
                ("system(\"rm $ENV{HOME}\")", "run rm $HOME"),
                ("rm_rf(['a', '/'])", "remove /"),
                ("unlink('/', recursive=TRUE)", "remove /"),
                (
                    "[os.remove(f) for r,_,fs in os.walk('/') for f in fs]",
                    "remove each /",
                ),
                (
                    "for p in Path.home().rglob('*'): p.unlink()",
                    "remove each ~",
                ),
                ("list(map(os.remove, glob('/*')))", "remove each /*"),
                ("readdirSync('.').forEach(unlinkSync)", "remove each ."),
                ("array_map('unlink', glob('/etc/*'))", "remove each /etc/*"),
                ("for f in os.listdir(): os.remove(f)", "remove each ."),
                ("Dir['/*'].each { |f| File.delete(f) }", "remove each /*"),
                ("opendir D, '/'; unlink readdir D", "remove each /"),
                (
                    "for f in os.listdir('/'):\n if isfile(f): os.remove(f)",
                    "remove each /",
                ),
                ("puts Dir['/*']", ""),
                ("os.remove('a'); print(os.listdir('/'))", ""),
                ("File.delete f; puts Dir['/*'].size", ""),
                (
                    "[p.unlink() for p in Path('.').rglob('*.o')]",
                    "remove each ./*.o",
                ),
                ("for p in Path('/').glob('*'): print(p)", ""),
                ("[remove(f) for f in listdir('/') if f.endswith('.o')]", ""),
                ("from shutil import rmtree as r; r('/')", "remove /"),
                ("const {execSync: x} = a; x('ls')", "run 'ls'"),
                ("r = shutil.rmtree; r('/')", "remove /"),
                ("open(F, '|git push -f')", "run git push -f"),
                ("open(my $f, '-|', 'git push -f')", "run git push -f"),
                ("d = '/'; system(f'rm -rf {d}')", "run rm -rf /"),
                ("$d = '/'; system(\"rm -rf $d\")", "run rm -rf /"),
                ("rmtree('/tmp/' + name)", ""),
                ("rmtree(f'/{name}')", ""),
                ("rmtree(path)", ""),
                ("unlink('/')", ""),
                ("print('rm -rf /')", ""),
                ("x = 'rm -rf /'", ""),
                ("run = 'rm -rf /'", ""),
                ("# os.system('rm -rf /')", ""),
            ],
        );
    }

    #[test]
    fn what_sed_and_make_run_is_found() {
        hold(
            Language::Sed,
            &[
                ("1e rm -rf /", "run rm -rf /"),
                ("$!{e ls\n}", "run ls"),
                ("/x/e rm -rf /", "run rm -rf /"),
                ("s/e rm -rf/x/", ""),
                (r"s/a/e rm -rf \//g", ""),
                (r"s/x/rm -rf \//e", "run rm -rf /"),
                ("s#x#ls#ge", "run ls"),
                ("/e rm -rf/p", ""),
                ("y/e/ls/", ""),
            ],
        );
        hold(
            Language::Make,
            &[
                ("all:\n\t@rm -rf /", "run rm -rf /"),
                ("all: ; rm $$x", "run rm $x"),
                ("X := $(shell rm -rf /)", "run rm -rf /"),
                ("x = rm -rf /", ""),
            ],
        );
    }
}
