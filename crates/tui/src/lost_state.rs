//! State that a line sets in its shell, such as variables. A shell that runs only this line loses
//! it.

use agent_bash::core::words;
use agent_bash_render::syntax::Parsed;
use agent_bash_render::syntax::ast::{Command, CompoundKind, List, Simple, Word};
use std::collections::BTreeSet;

/// Commands that set the variables in their operands (`NAME=value`).
const DECLARING_COMMANDS: [&str; 6] = ["declare", "export", "let", "readonly", "typeset", "unset"];

/// Commands that are named with their arguments, because the arguments say which state changes.
const COMMANDS_WITH_WORDS: &[&str] =
    words![". alias enable eval mapfile readarray set shopt source trap ulimit umask unalias"];

/// Returns the state that a line sets at its top level: variables by name, other state by the
/// command that sets it. Ignores subshells, branches and loops: their variables are rarely needed
/// later.
pub(crate) fn state_set_by(parsed: &Parsed<'_>) -> Vec<String> {
    let mut all = Vec::new();
    collect_from_list(&parsed.list, parsed.text, &mut all);
    let mut seen = BTreeSet::new();
    all.retain(|name| seen.insert(name.clone()));
    all
}

fn collect_from_list(list: &List, text: &str, all: &mut Vec<String>) {
    for entry in list.entries.iter().filter(|entry| !entry.background) {
        // Each stage of a pipeline runs in a subshell.
        let [command] = &entry.stages[..] else {
            continue;
        };
        match command {
            Command::Simple(simple) => collect_from_simple(simple, text, all),
            Command::Compound(compound) => match &compound.kind {
                CompoundKind::Group(list) => collect_from_list(list, text, all),
                CompoundKind::Function { name, .. } => all.push(format!("{name}()")),
                _ => {}
            },
        }
    }
}

fn collect_from_simple(simple: &Simple, text: &str, all: &mut Vec<String>) {
    let written = |word: &Word| text.get(word.span.start..word.span.end).unwrap_or_default();
    let mut words = simple.words.iter().map(written).peekable();
    // These commands run their operands in the same shell.
    while words
        .next_if(|word| ["builtin", "command"].contains(word))
        .is_some()
    {}
    let Some(name) = words.next() else {
        // An assignment before a command is for that command only.
        all.extend(simple.assigns.iter().map(|assign| assign.name.clone()));
        return;
    };
    let words: Vec<&str> = words.collect();
    if DECLARING_COMMANDS.contains(&name) && words.first() != Some(&"-p") {
        let is_name = |word: &&&str| !word.starts_with(['-', '+']);
        let names = words.iter().filter(is_name);
        let up_to = |word: &&str| word.split(['=', '+']).next().unwrap_or_default().to_owned();
        all.extend(names.map(up_to).filter(|name| !name.is_empty()));
    } else if name == "read" && !simple.redirs.is_empty() {
        // A `read` from the terminal is reported separately.
        all.push(format!("read {}", words.join(" ")));
    } else if name == "printf" && words.first() == Some(&"-v") {
        all.extend(words.get(1).map(|name| (*name).to_owned()));
    } else if COMMANDS_WITH_WORDS.contains(&name) {
        let sets = match name {
            "alias" => words.iter().any(|word| word.contains('=')),
            // Without words, or with `-p`, these commands print the state.
            _ => words.first().is_some_and(|word| *word != "-p"),
        };
        if sets {
            all.push(format!("{name} {}", words.join(" ")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_that_a_line_sets_for_later_lines_is_found() {
        for (line, want) in [
            ("export DB=prod; sqlite3 y.db", &["DB"][..]),
            ("x=$(cat) y+=1; echo ${#x}; x=2", &["x", "y"]),
            ("a[0]=1; vim", &["a"]),
            (". .venv/bin/activate && python3", &[". .venv/bin/activate"]),
            ("source \"$x\"; vim", &["source \"$x\""]),
            ("alias zz=ls l='ls -l'; python3", &["alias zz=ls l='ls -l'"]),
            (
                "shopt -s extglob; set -o vi; vim a",
                &["shopt -s extglob", "set -o vi"],
            ),
            ("declare -x A B=1; builtin unset C; vim", &["A", "B", "C"]),
            ("f() { x=1; }; function g { ls; }; vim", &["f()", "g()"]),
            ("{ x=1; vim; }", &["x"]),
            (
                "trap 'rm a' EXIT; umask 077; vim",
                &["trap 'rm a' EXIT", "umask 077"],
            ),
            (
                "eval \"$(ssh-agent)\"; ssh host",
                &["eval \"$(ssh-agent)\""],
            ),
            ("mapfile lines", &["mapfile lines"]),
            ("read -r ver < README.md; python3", &["read -r ver"]),
            ("printf -v out %s x; python3", &["out"]),
        ] {
            assert_eq!(state_set_by(&Parsed::read(line)), want, "{line}");
        }
        for line in [
            "A=1 vim",
            "(x=1; vim); echo $(z=1)",
            "x=1 | vim; vim | y=1",
            "x=1 & vim",
            "for f in *; do n=$f; rm -i $n; done",
            "if x; then y=1; fi; vim",
            "alias; alias -p; alias ls; export -p; set; trap -p; umask; declare -p x; vim",
            "echo export x=1; vim",
            "read -p 'name? ' name; printf %s -v",
            "vim a=b",
            "> x",
        ] {
            assert_eq!(
                state_set_by(&Parsed::read(line)),
                Vec::<String>::new(),
                "{line}"
            );
        }
    }
}
