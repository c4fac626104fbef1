//! Calls in a program text that run a command or remove a tree, found by the names they go by.

use std::sync::LazyLock;

use regex::Regex;

/// What a call would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Call {
    /// Run this text in a shell.
    Script(String),
    /// Remove this path with everything below it.
    Remove(String),
}

/// Functions that run a command: the name, possibly behind a module, and the opening of the arguments.
static RUNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        (?:^|[^\w$])
        (?:system|popen|Popen|exec[lv]?[pe]*|execSync|execFile(?:Sync)?|spawn[lv]?[pe]*|spawnSync|spawn_sync|run|call|
           check_call|check_output|getoutput|getstatusoutput|shell_exec|passthru|proc_open|execute|sh|posix_spawn|
           do\s+shell\s+script|qx|command|Command|capture2?e?|fork_exec|startfile)
        \s*[(\s\["'`{]"#,
    )
    .ok()
});

/// Functions that remove a tree.
static REMOVES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        (?:^|[^\w$])
        (?:rmtree|remove_tree|rm_rf|rm_r|remove_entry_secure|remove_dir|rmSync|rmdirSync|removeSync|rimraf(?:Sync)?|
           emptyDirSync|deltree|removeRecursive|RemoveAll|remove_dir_all|rmdir_recursive|rm)
        \s*[(\s"']"#,
    )
    .ok()
});

/// The calls in a program. Backticks run a command in Perl, Ruby and PHP.
pub(super) fn calls(program: &str, backticks: bool) -> Vec<Call> {
    let mut out = Vec::new();
    for (pattern, removes) in [(&*RUNS, false), (&*REMOVES, true)] {
        let Some(pattern) = pattern else { continue };
        for found in pattern.find_iter(program) {
            // The opening character belongs to the arguments.
            let from = program[..found.end()]
                .char_indices()
                .next_back()
                .map_or(found.end(), |(at, _)| at);
            let arguments = arguments(&program[from..]);
            let literals = literals(arguments);
            if removes {
                out.extend(literals.iter().cloned().map(Call::Remove));
                if ["home()", "homedir()", "HOME", "Dir.home"]
                    .iter()
                    .any(|home| arguments.contains(home))
                {
                    out.push(Call::Remove("~".to_owned()));
                }
                if ["getcwd()", "cwd()", "Dir.pwd"]
                    .iter()
                    .any(|cwd| arguments.contains(cwd))
                {
                    out.push(Call::Remove(".".to_owned()));
                }
            } else if !literals.is_empty() {
                out.extend(literals.iter().cloned().map(Call::Script));
                // `["rm", "-rf", "/"]`
                out.push(Call::Script(literals.join(" ")));
            }
        }
    }
    if backticks {
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
            ("qx{", '}'),
            ("qx(", ')'),
            ("qx/", '/'),
            ("%x[", ']'),
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
    out
}

/// The arguments of a call: up to its closing parenthesis, or to the end of the statement.
fn arguments(text: &str) -> &str {
    let mut open = 0_usize;
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match (quote, c) {
            (_, '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => open += 1,
            (None, ')' | ']' | '}') => {
                if open <= 1 {
                    return &text[..at];
                }
                open -= 1;
            }
            (None, ';' | '\n') if open == 0 => return &text[..at],
            _ => {}
        }
    }
    text
}

/// The string literals in a text.
pub(super) fn literals(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut current: Option<(char, String)> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (&mut current, c) {
            (Some((_, inside)), '\\') => match chars.next() {
                Some('n') => inside.push('\n'),
                Some('t') => inside.push('\t'),
                Some(c) => inside.push(c),
                None => {}
            },
            (Some((open, inside)), c) if c == *open => {
                out.push(std::mem::take(inside));
                current = None;
            }
            (Some((_, inside)), c) => inside.push(c),
            (None, '"' | '\'' | '`') => current = Some((c, String::new())),
            (None, _) => {}
        }
    }
    out.retain(|text| !text.is_empty());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_from_data() {
        let script = |text: &str| Call::Script(text.to_owned());
        for (program, expect) in [
            ("os.system('ls')", Some(script("ls"))),
            ("subprocess.run(['rm','-rf','/'])", Some(script("rm -rf /"))),
            ("exec \"git push -f\"", Some(script("git push -f"))),
            (
                "shutil.rmtree(os.path.expanduser('~'))",
                Some(Call::Remove("~".to_owned())),
            ),
            ("print('rm -rf /')", None),
            ("x = 'rm -rf /'", None),
        ] {
            let found = calls(program, false);
            match expect {
                Some(expect) => assert!(found.contains(&expect), "{program}: {found:?}"),
                None => assert_eq!(found, [], "{program}"),
            }
        }
    }
}
