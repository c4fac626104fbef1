//! The targets that a makefile names literally. The makefile is not run, so targets from functions,
//! patterns and includes are unknown.

use super::candidate::{Candidate, NamePrefix};
use agent_bash::core::words;
use agent_bash_os::read_regular_text;
use std::path::Path;

/// Makefiles, in the order in which `make` looks for them.
const MAKEFILE_NAMES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// Limit of bytes read of a makefile.
const MAX_MAKEFILE_BYTES: u64 = 1 << 20;

/// Options that take a word. With one of them, except `-j`, no targets are completed: most change
/// which makefile or directory `make` reads.
const OPTIONS_WITH_WORD: &[&str] =
    words!["-C -E -I -W -f -j -l -o --directory --eval --file --makefile"];

/// Returns the targets that may follow these words. `None` if the word is not a target.
pub(super) fn complete(
    before: &[String],
    prefix: NamePrefix<'_>,
    directory: &Path,
) -> Option<Vec<Candidate>> {
    let (program, words) = before.split_first()?;
    let is_make = matches!(program.as_str(), "make" | "gmake");
    let has_unsupported_option = words
        .iter()
        .any(|word| OPTIONS_WITH_WORD.contains(&&**word) && word != "-j");
    if !is_make || has_unsupported_option || prefix.written.starts_with('-') {
        return None;
    }
    let mut files = MAKEFILE_NAMES.iter().map(|name| directory.join(name));
    let text = files.find_map(|file| read_regular_text(&file, MAX_MAKEFILE_BYTES))?;
    let targets = prefix.matching(targets(&text));
    // A word with `/` or `.` that matches no target may be a file: pattern rules can make any file.
    (!targets.is_empty() || !prefix.written.contains(['/', '.'])).then_some(targets)
}

/// The names in front of the colons of rules.
fn targets(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut continues = false;
    for line in text.lines() {
        let is_rule = !continues && !line.starts_with(['\t', ' ', '#']);
        continues = line.ends_with('\\');
        let Some((names, rest)) = line.split_once(':').filter(|_| is_rule) else {
            continue;
        };
        // `a := b`, `a ::= b`, `a = b:c`
        let is_assigned = rest.trim_start_matches(':').starts_with('=') || names.contains('=');
        if is_assigned || names.contains(['$', '%', '(', '"']) {
            continue;
        }
        let names = names.split_whitespace();
        found.extend(names.filter(|name| !name.starts_with('.')));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_literal_targets_are_found() {
        let makefile = "CC := cc\nURL = http://x:1\nA ::= b\nall: build test\n\nbuild test : main.o\n\techo a: b\n\
                        .PHONY: all\n%.o: %.c\n$(X): y\n# no: comment\nlong: a \\\n  b: c\nclean::\n\trm\nv: X = 1\n\
                        define d\nendef\n";
        assert_eq!(
            targets(makefile),
            ["all", "build", "test", "long", "clean", "v"]
        );
    }
}
