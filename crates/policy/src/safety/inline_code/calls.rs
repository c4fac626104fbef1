//! Finds calls in programs of other languages that run a shell command or remove files.
//!
//! Languages are not parsed: only strings passed to calls with known names count.

use super::super::interpreter::{Language, Notation};
use super::bindings::Bindings;
use super::call_names::{
    CallKind, KIND_TESTS, LISTS_CWD, SELECTING_NAMES, SHOWING_CALLS, TEST_WORDS, aliases, call_kind,
};
use super::path_expression::{built_path, is_home};
use super::sed_and_make::{make_command, sed_command};
use super::tokens::{Token, arguments, is_name, split, statement, tokens};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum CallEffect {
    /// Runs this text in a shell.
    Script(String),
    /// Removes this path (possibly a glob) with everything below it.
    Remove(String),
    /// Removes the files in this path one by one; true if the program tests each file, so that only
    /// some files may be removed.
    RemoveEach(String, bool),
}

/// Maximum number of calls examined in one program.
const MAX_CALLS: usize = 1000;

/// Returns the commands that a program in this language runs, and the paths that it removes.
pub(super) fn calls(program: &str, language: Language) -> Vec<CallEffect> {
    match language {
        Language::Calls(notation) => calls_in_program(program, notation, false),
        Language::Sed => program
            .split(['\n', ';', '{', '}'])
            .filter_map(sed_command)
            .map(CallEffect::Script)
            .collect(),
        Language::Make => {
            let expanded = program
                .split("$(shell ")
                .skip(1)
                .filter_map(|text| text.split_once(')'));
            let expanded = expanded.map(|(text, _)| text.to_owned());
            let commands = program.lines().filter_map(make_command).chain(expanded);
            commands.map(CallEffect::Script).collect()
        }
        Language::Shell => vec![CallEffect::Script(program.to_owned())],
    }
}

/// Returns the calls of a program with this notation. `is_inner` is true for a program that is a
/// string of another program.
fn calls_in_program(program: &str, notation: Notation, is_inner: bool) -> Vec<CallEffect> {
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
                    // Elixir's `rm_rf!(…)`
                    Some([Token::Mark('!'), Token::Mark('(')]) => index + 2,
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
                    found.push(".".to_owned());
                }
                // Perl's `finddepth(sub { … }, "/")` names the directory last.
                found.extend(split(&bindings.fill(written)).flat_map(paths));
                // `Path("/").rglob("*")`
                let starts = |token: &Token| match token {
                    Token::Mark(mark) => matches!(mark, '\n' | ';' | '='),
                    Token::Name(name) => name == "in",
                    _ => false,
                };
                let start = all[..index].iter().rposition(starts);
                let start = start.map_or(0, |last| last + 1);
                if let Some((Token::Mark('.'), object)) = all[start..index].split_last()
                    && let Some(directory) = built_path(&bindings.fill(object))
                {
                    found = vec![match written.first() {
                        Some(Token::Text(pattern)) if directory.starts_with('.') => {
                            format!("{directory}/{pattern}")
                        }
                        _ => directory,
                    }];
                }
                let found = found.into_iter().map(|path| path.replace("**", "*"));
                listed.extend(found.map(|path| CallEffect::RemoveEach(path, is_tested)));
            }
            CallKind::Opens => add_opened(&bindings.fill(written), &mut out),
            CallKind::Runs => {
                let object = literal_object(&all[..index]).filter(|_| written.is_empty());
                let written = bindings.fill(object.unwrap_or(written));
                add_scripts(&written, &mut out);
                // `exec("os.system(…)")`: a program of the same language.
                let is_code = matches!(&all[index], Token::Name(name) if matches!(name.as_str(), "exec" | "eval"));
                if let (true, false, [Token::Text(text), ..]) = (is_code, is_inner, &written[..]) {
                    out.extend(calls_in_program(text, notation, true));
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
                    let operands = paths(&bindings.fill(written));
                    out.extend(operands.into_iter().map(CallEffect::Remove));
                }
            }
        }
    }
    if removes && !all.iter().any(|token| is_name(token, &SELECTING_NAMES)) {
        out.extend(listed);
    }
    if notation.pipes {
        add_piped(&all, &mut out);
    }
    out
}

/// Returns the string or the list before a call: Groovy's `"ls".execute()`.
fn literal_object(before: &[Token]) -> Option<&[Token]> {
    let object = before.strip_suffix(&[Token::Mark('.')])?;
    let start = match object.last()? {
        Token::Text(_) => object.len() - 1,
        Token::Mark(']') => object
            .iter()
            .rposition(|token| *token == Token::Mark('['))?,
        _ => return None,
    };
    object.get(start..)
}

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

/// Adds the commands that a program opens: `open("|command")`, `open(…, "-|", "command")`.
fn add_opened(arguments: &[Token], out: &mut Vec<CallEffect>) {
    for (index, token) in arguments.iter().enumerate() {
        let Token::Text(text) = token else { continue };
        match text.as_str() {
            "-|" | "|-" => add_scripts(&arguments[index + 1..], out),
            text => {
                let command = text.strip_prefix('|').or(text.strip_suffix('|'));
                out.extend(command.map(|command| CallEffect::Script(command.to_owned())));
            }
        }
    }
}

/// Adds the commands that awk pipes to or from: `print | "command"`, `"command" | getline`.
fn add_piped(tokens: &[Token], out: &mut Vec<CallEffect>) {
    let is_pipe =
        |index: Option<usize>| index.and_then(|index| tokens.get(index)) == Some(&Token::Mark('|'));
    for (index, token) in tokens.iter().enumerate() {
        // `||` is an operator, not a pipe.
        let is_after_pipe = is_pipe(index.checked_sub(1)) && !is_pipe(index.checked_sub(2));
        let is_before_pipe = is_pipe(Some(index + 1)) && !is_pipe(Some(index + 2));
        if let Token::Text(text) = token
            && (is_after_pipe || is_before_pipe)
        {
            out.push(CallEffect::Script(text.clone()));
        }
    }
}

/// Adds the commands passed to a call that runs a command: a text for a shell, or a program with
/// its arguments.
fn add_scripts(arguments: &[Token], out: &mut Vec<CallEffect>) {
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
            (Token::Text(text) | Token::Interpolated(text), _) if !text.trim().is_empty() => {
                Some(text.as_str())
            }
            _ => None,
        })
        .collect();
    let Some((first, rest)) = texts.split_first() else {
        return;
    };
    let script = |text: String| CallEffect::Script(text);
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

/// Returns the paths passed to a call that removes a tree, without paths that contain unknown
/// values.
fn paths(arguments: &[Token]) -> Vec<String> {
    let first = split(arguments).next().unwrap_or_default();
    match first {
        // A list or tuple: each of its elements.
        [Token::Mark('[' | '('), inside @ .., Token::Mark(']' | ')')] => {
            split(inside).filter_map(built_path).collect()
        }
        path => built_path(path).into_iter().collect(),
    }
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
                    CallEffect::Script(text) => format!("run {text}"),
                    CallEffect::Remove(path) => format!("remove {path}"),
                    CallEffect::RemoveEach(path, _) => format!("remove each {path}"),
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
    fn calls_in_code_are_distinguished_from_data() {
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
                ("'rm -rf /'.execute()", "run rm -rf /"),
                ("['rm', '-rf', '/'].execute().text", "run 'rm' '-rf' '/'"),
                ("x = 'rm -rf /'.length()", ""),
                ("print('rm -rf /', x.run())", ""),
                ("File.rm_rf!('/')", "remove /"),
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
    fn commands_of_sed_and_make_are_found() {
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
                ("s/x/ls/ep", "run ls"),
                ("s/x/ls/w e", ""),
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
