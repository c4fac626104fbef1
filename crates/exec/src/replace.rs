//! Finds scripts that are a single program with arguments. The shell then executes the program
//! itself, as `bash -c` does, instead of starting a child process. Forking and ending a shell take
//! longer than everything else that a call adds.
//!
//! bash expands the words; this code only checks that a shell would do nothing else. In doubt, the
//! script runs in the shell.

use crate::snapshot::{BUILTINS, KEYWORDS, Snapshot};
use agent_bash_core::Environment;
use std::ffi::OsStr;

/// Variables by which bash may have traps or options before its script.
const START_VARIABLES: &[&str] = &["BASH_ENV", "SHELLOPTS", "BASHOPTS", "POSIXLY_CORRECT"];

/// Returns the commands by which a shell executes the program of this script, and which do nothing
/// if there is no such program. Returns `None` if the script may do anything else.
pub(crate) fn exec_commands(
    script: &str,
    env: &Environment,
    snapshot: Option<&Snapshot>,
) -> Option<String> {
    let script = script.trim_matches([' ', '\n']);
    let name = program(script)?;
    let is_set = |name: &str| env.get(OsStr::new(name)).is_some();
    // A shell with `set -x` or `set -v` would print this text.
    if START_VARIABLES.iter().any(|name| is_set(name))
        || !snapshot.is_none_or(Snapshot::allows_tail)
    {
        return None;
    }
    // bash sets `_` for the program that it executes. A relative path is not replaced: `exec` makes
    // it absolute, and a script sees it as `$0`.
    Some(if name.contains('/') {
        if !name.starts_with('/') {
            return None;
        }
        let function = format!("BASH_FUNC_{name}%%");
        if is_set(&function) || snapshot.is_some_and(|snapshot| snapshot.defines(name)) {
            return None;
        }
        format!(r"\builtin test -f {name} -a -x {name} && _={name} \builtin exec -- {script}")
    } else {
        // `hash` finds no path for a function. Its message is discarded, because it would be part
        // of the call's output. If the program is not executed, its hashed path is removed: the
        // shell would otherwise call it by that path.
        format!(
            "\\builtin hash -- {name} 2>&- && __ab=${{BASH_CMDS[{name}]-}} && \
             \\builtin test -x \"$__ab\" -a -n \"${{__ab%%[!/]*}}\" -a -z \"${{BASH_ALIASES[{name}]+x}}\" && \
             _=$__ab \\builtin exec -- {script} || \\builtin hash -d -- {name} 2>&-"
        )
    })
}

/// Returns the first word of a script that is one command of plain and quoted words.
fn program(script: &str) -> Option<&str> {
    let end = script.find(' ').unwrap_or(script.len());
    let (name, rest) = script.split_at(end);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:,+@%-".contains(&byte);
    let is_name = name.bytes().all(is_plain) && !name.is_empty() && !name.starts_with(['-', '%']);
    if !is_name || BUILTINS.contains(&name) || KEYWORDS.contains(&name) {
        return None;
    }
    let mut quote = None;
    for byte in rest.bytes() {
        match quote {
            // More than one line: `$LINENO` and error messages contain line numbers.
            _ if byte == b'\n' => return None,
            Some(open) if byte == open => quote = None,
            Some(b'"') if b"$`\\".contains(&byte) => return None,
            Some(_) => {}
            None if b"'\"".contains(&byte) => quote = Some(byte),
            None if is_plain(byte) || byte == b' ' || byte == b'=' => {}
            None => return None,
        }
    }
    quote.is_none().then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_accepts_only_one_command_of_plain_and_quoted_words() {
        for (script, name) in [
            ("ls", "ls"),
            ("/bin/true", "/bin/true"),
            ("git commit -m 'a $b; c' --author=\"A <a@b>\"", "git"),
            ("./x.sh a,b +c %d", "./x.sh"),
        ] {
            assert_eq!(program(script), Some(name), "{script}");
        }
        for script in [
            "", "-x", "A=1 ls", "cd /", "time ls", "%1", "ls;", "ls &", "ls | cat", "ls >x",
            "ls $x", "ls *", "ls ~", "ls {a,b}", "ls 'a", "ls \"$x\"", "ls \"a\\\"\"", "ls # x",
            "ls\npwd", "\nls", "ls 'a\nb'", "ls\tx", "'ls'", "ls !", "ls ä", "ls\\",
        ] {
            assert_eq!(program(script), None, "{script}");
        }
    }
}
