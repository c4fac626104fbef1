//! Finds scripts that are a single program with arguments: the shell becomes that program, as `bash
//! -c` does. That saves a process: forking and ending a shell take longer than everything else that
//! a call adds.
//!
//! bash resolves the words; this code only checks that a shell would do nothing else. In doubt the
//! shell stays.

use crate::snapshot::{BUILTINS, KEYWORDS, Snapshot};
use agent_bash_core::Environment;
use std::ffi::OsStr;

/// Variables by which a bash may have been given traps or options before its script.
const START_VARIABLES: &[&str] = &["BASH_ENV", "SHELLOPTS", "BASHOPTS", "POSIXLY_CORRECT"];

/// The commands by which a shell becomes the program of this script, and does nothing if there is
/// no such program; `None` if it is not known to be one.
pub(crate) fn commands(
    script: &str,
    env: &Environment,
    snapshot: Option<&Snapshot>,
) -> Option<String> {
    let script = script.trim_matches([' ', '\n']);
    let name = program(script)?;
    let is_set = |name: &str| env.get(OsStr::new(name)).is_some();
    // A trace of commands would show this text.
    if START_VARIABLES.iter().any(|name| is_set(name))
        || !snapshot.is_none_or(Snapshot::allows_tail)
    {
        return None;
    }
    // An array is not exported. bash sets `_` for the program that it executes. A relative path is
    // not replaced: `exec` makes it absolute, and a script sees it as `$0`.
    Some(if name.contains('/') {
        if !name.starts_with('/') {
            return None;
        }
        let function = format!("BASH_FUNC_{name}%%");
        if is_set(&function) || snapshot.is_some_and(|it| it.defines(name)) {
            return None;
        }
        format!(r"\builtin test -f {name} -a -x {name} && _={name} \builtin exec -- {script}")
    } else {
        // Of a function, nothing is hashed. Without a message, which would be the call's output.
        // What is hashed and not executed is forgotten, as it would be called by another name.
        format!(
            "\\builtin hash -- {name} 2>&- && __ab=${{BASH_CMDS[{name}]-}} && \
             \\builtin test -x \"$__ab\" -a -n \"${{__ab%%[!/]*}}\" -a -z \"${{BASH_ALIASES[{name}]+x}}\" && \
             _=$__ab \\builtin exec -- {script} || \\builtin hash -d -- {name} 2>&-"
        )
    })
}

/// The first word of a script that is one command of plain and quoted words.
fn program(script: &str) -> Option<&str> {
    let end = script.find(' ').unwrap_or(script.len());
    let (name, rest) = script.split_at(end);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:,+@%-".contains(&byte);
    let is_name = name.bytes().all(plain) && !name.is_empty() && !name.starts_with(['-', '%']);
    if !is_name || BUILTINS.contains(&name) || KEYWORDS.contains(&name) {
        return None;
    }
    let mut quote = None;
    for byte in rest.bytes() {
        match quote {
            // Lines are numbered.
            _ if byte == b'\n' => return None,
            Some(open) if byte == open => quote = None,
            Some(b'"') if b"$`\\".contains(&byte) => return None,
            Some(_) => {}
            None if b"'\"".contains(&byte) => quote = Some(byte),
            None if plain(byte) || byte == b' ' || byte == b'=' => {}
            None => return None,
        }
    }
    quote.is_none().then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_program_and_its_words_take_the_place_of_the_shell() {
        for (script, name) in [
            ("ls", "ls"),
            ("/bin/true", "/bin/true"),
            ("git commit -m 'a $b; c' --author=\"A <a@b>\"", "git"),
            ("./x.sh a,b +c %d", "./x.sh"),
        ] {
            assert_eq!(program(script), Some(name), "{script}");
        }
        for script in [
            "",
            "-x",
            "A=1 ls",
            "cd /",
            "time ls",
            "%1",
            "ls;",
            "ls &",
            "ls | cat",
            "ls >x",
            "ls $x",
            "ls *",
            "ls ~",
            "ls {a,b}",
            "ls 'a",
            "ls \"$x\"",
            "ls \"a\\\"\"",
            "ls # x",
            "ls\npwd",
            "\nls",
            "ls 'a\nb'",
            "ls\tx",
            "'ls'",
            "ls !",
            "ls ä",
            "ls\\",
        ] {
            assert_eq!(program(script), None, "{script}");
        }
    }
}
