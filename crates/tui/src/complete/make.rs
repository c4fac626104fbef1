//! The targets of a makefile, as they stand there: nothing of it is run, and what its functions, patterns and includes would come to is
//! not known.

use super::candidate::{Begun, Candidate};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Makefiles, in the order in which `make` looks for them.
const FILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// The most that is read of one.
const MOST: u64 = 1 << 20;

/// Options that have a word of their own. Which file they mean is not followed.
const WITH_WORD: [&str; 12] = [
    "-C",
    "-E",
    "-I",
    "-W",
    "-f",
    "-j",
    "-l",
    "-o",
    "--directory",
    "--eval",
    "--file",
    "--makefile",
];

/// What may follow these words; `None` if it is not targets.
pub(super) fn complete(
    before: &[String],
    begun: Begun<'_>,
    directory: &Path,
) -> Option<Vec<Candidate>> {
    let (program, words) = before.split_first()?;
    let is_make = matches!(program.as_str(), "make" | "gmake");
    let is_elsewhere = words
        .iter()
        .any(|word| WITH_WORD.contains(&&**word) && word != "-j");
    if !is_make || is_elsewhere || begun.written.starts_with('-') {
        return None;
    }
    let file = FILES.iter().find_map(|name| {
        let file = directory.join(name);
        // A pipe would never end.
        file.is_file().then_some(file)
    })?;
    let mut text = Vec::new();
    File::open(file)
        .ok()?
        .take(MOST)
        .read_to_end(&mut text)
        .ok()?;
    let text = String::from_utf8_lossy(&text);
    let targets = begun.of(targets(&text));
    // A file can be a target by a rule for all of its kind.
    (!targets.is_empty() || !begun.written.contains(['/', '.'])).then_some(targets)
}

/// The names in front of the colons of rules.
fn targets(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let is_rule = !goes_on && !line.starts_with(['\t', ' ', '#']);
        goes_on = line.ends_with('\\');
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
    fn plain_targets_are_found_and_nothing_else() {
        let makefile = "CC := cc\nURL = http://x:1\nA ::= b\nall: build test\n\nbuild test : main.o\n\techo a: b\n\
                        .PHONY: all\n%.o: %.c\n$(X): y\n# no: comment\nlong: a \\\n  b: c\nclean::\n\trm\nv: X = 1\n\
                        define d\nendef\n";
        assert_eq!(
            targets(makefile),
            ["all", "build", "test", "long", "clean", "v"]
        );
    }
}
