//! Checks names and sentences by the rules of `CONTRIBUTING.md`: banned names, banned words, long
//! comment lines.
//!
//! Names are those of types, modules, files, fields, variants and public functions. Sentences are
//! comments, string literals with a blank in them, and pages. The rules are tables here; the
//! exemptions are a table in [`exceptions`], each with its reason. An exemption that is no longer
//! needed is an offence itself.

mod exceptions;
mod names;
mod prose;

use crate::{Tree, say, source_rules};
use anyhow::{Result, bail};
use exceptions::EXCEPTIONS;
use regex::Regex;
use std::collections::BTreeMap;
use std::path::Path;

/// Longest line of a comment, in columns.
const MAX_COLUMNS: usize = 100;

/// Everyday words that do not name a thing by themselves. Compared with whole names, in any case.
const BANNED_NAMES: &[&str] = &[
    "said", "told", "kept", "given", "taken", "left", "seen", "here", "there", "late", "later",
    "spare", "own", "beside", "besides", "beneath", "apart", "turn", "took", "remark", "spell",
    "steady", "deeds", "reach", "judged", "asked", "came", "gone", "whose", "place", "living",
];

/// Nouns that are too vague as the whole name of a type.
const VAGUE_TYPES: &[&str] = &[
    "Place", "State", "Part", "Entry", "Kind", "Found", "Ready", "Answer", "Record", "Session",
];

/// Words within a name that describe a process as a person. Applies to names of tests, too.
const PERSONS_IN_NAMES: &[&str] = &[
    "nobody", "nobodys", "somebody", "anybody", "everybody", "whoever", "who", "whose", "whom",
];

/// Constants of a single word that are complete without a unit: control characters of ASCII. Names
/// of signals are accepted, too.
const COMPLETE_NUMBERS: &[&str] = &["BEL", "CAN", "DEL", "ESC", "SUB"];

/// The types of constants that need a unit or an object in their name.
const TYPES_WITH_UNIT: &[&str] = &[
    "usize", "isize", "u8", "u16", "u32", "u64", "u128", "i8", "i16", "i32", "i64", "i128", "f32",
    "f64", "Duration",
];

/// A pattern over sentences, and what to write instead.
struct ProseRule {
    name: &'static str,
    pattern: &'static str,
    /// A match is accepted if this pattern matches the text before it.
    unless_after: Option<&'static str>,
    scope: ProseScope,
    advice: &'static str,
}

/// The sentences that a rule applies to.
#[derive(PartialEq, Eq)]
enum ProseScope {
    All,
    /// The start of a paragraph in a comment.
    CommentStart,
    /// The start of a doc comment in a crate's sources.
    DocStart,
}

const PROSE_RULES: &[ProseRule] = &[
    ProseRule {
        name: "nobody",
        pattern: r"(?i)\b(nobody|somebody|anybody|everybody|whoever|whomever|whosoever)\b",
        unless_after: None,
        scope: ProseScope::All,
        advice: "name the process, the user, the caller",
    },
    ProseRule {
        name: "who",
        pattern: r"\b([Ww]ho|[Ww]hom)\b",
        unless_after: Some(
            r"(?i)\b(users?|persons?|people|callers?|authors?|readers?|developers?|maintainers?|contributors?|humans?|root|owners?|attackers?|administrators?|anyone|everyone|someone|you|newcomers?),?( \w+)? $",
        ),
        scope: ProseScope::All,
        advice: "a process is no person: `a process that …`; of people name them: `a user who …`",
    },
    ProseRule {
        name: "whose",
        pattern: r"\b(process|processes|thread|threads|shell|shells|supervisor|supervisors|parent|parents|child|children|one|ones|those|others?|it|that|of|on|to|say|says|know|knows|known|said) whose\b|\bWhose\b|\bwhose (it|they|that|this|those) (is|are|was|were)\b",
        unless_after: None,
        scope: ProseScope::All,
        advice: "`a process with …`, `the owner of …`",
    },
    ProseRule {
        name: "is none",
        pattern: r"\b(is|are|was|were|be|being|as|that's) none\b",
        unless_after: Some(r"(?i)\bthere ((has|have|may|can|could|will|would|must) )?$"),
        scope: ProseScope::All,
        advice: "say what it is instead: `is not a …`, `an invalid …`",
    },
    ProseRule {
        name: "of which",
        pattern: r"(?i)\bof (which|whom)\b",
        unless_after: Some(
            r"(?i)\b(each|most|all|some|both|many|any|one|two|three|neither|either|half) $",
        ),
        scope: ProseScope::All,
        advice: "two sentences, or `with`, `whose`",
    },
    ProseRule {
        name: "that of",
        pattern: r"\b(That|Those|Theirs) of\b|\b(that|those) of (which|it|them|theirs|ours|those|one|what|who)\b|\b(in|on|by|of|to|from|for|and|or|as) that of (the|a|an) \w+[.:;]|\bthat of an? (older|earlier|later|former)\b",
        unless_after: None,
        scope: ProseScope::All,
        advice: "repeat the noun: `the timeout of the job`",
    },
    ProseRule {
        name: "subject",
        pattern: r"^(What|Whatever|Whoever|Who|That|Those|It|They)\b",
        unless_after: None,
        scope: ProseScope::CommentStart,
        advice: "start with the subject or with what the item returns or does: `The path of …`, `Returns …`",
    },
    ProseRule {
        name: "doc subject",
        pattern: r"^(Its|Their|Where|Which|Whichever|Also|Likewise|Like|As|Whether (it|they|that|this|these|there)|All of them|One of them|The same)\b",
        unless_after: None,
        scope: ProseScope::DocStart,
        advice: "name the subject: `The job's name.`, `True if the call …`, `Returns … as [`other`] does`",
    },
];

/// One line that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Offence {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) rule: &'static str,
    /// The name or the words, with some context.
    pub(crate) excerpt: String,
    advice: &'static str,
}

impl Offence {
    fn shown(&self) -> String {
        format!(
            "{}:{}: {}: {}",
            self.path, self.line, self.rule, self.excerpt
        )
    }
}

/// `cargo xtask words [--checkout DIRECTORY] [PATH…]`: the offences below some paths, and their
/// number by rule.
pub(crate) fn command(tree: &Tree, arguments: &[String]) -> Result<()> {
    let other_tree;
    let (tree, prefixes) = match arguments {
        [option, directory, rest @ ..] if option == "--checkout" => {
            other_tree = Tree::at(Path::new(directory))?;
            (&other_tree, rest)
        }
        _ => (tree, arguments),
    };
    let offences = offences_of(tree, prefixes)?;
    let mut counts = BTreeMap::<(&str, &str), usize>::new();
    for offence in &offences {
        say(&offence.shown());
        *counts.entry((offence.rule, offence.advice)).or_default() += 1;
    }
    for ((rule, advice), count) in &counts {
        say(&format!("{count:>6}  {rule}: {advice}"));
    }
    say(&format!("{:>6}  in all", offences.len()));
    if offences.is_empty() {
        return Ok(());
    }
    bail!("names and sentences: {} offences", offences.len());
}

/// The step of the suite.
pub(crate) fn check_tree(tree: &Tree) -> Result<()> {
    let offences = offences_of(tree, &[])?;
    if offences.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = offences.iter().map(Offence::shown).collect();
    bail!("{}", shown.join("\n"));
}

/// Returns the offences of a checkout below `prefixes`, or all if there are none, sorted by file
/// and line.
fn offences_of(tree: &Tree, prefixes: &[String]) -> Result<Vec<Offence>> {
    let rules = CompiledRules::compile()?;
    let mut offences = Vec::new();
    for path in source_rules::listed_files(tree)? {
        let is_selected =
            prefixes.is_empty() || prefixes.iter().any(|prefix| path.starts_with(prefix));
        // A file that is not UTF-8 has no sentences.
        if is_selected
            && !exceptions::is_exempt_file(&path)
            && !tree.root.join(&path).is_symlink()
            && let Ok(text) = std::fs::read_to_string(tree.root.join(&path))
        {
            offences.extend(rules.offences_in(&path, &text));
        }
    }
    Ok(without_exceptions(offences, prefixes.is_empty()))
}

/// Removes the offences that the table excuses. If all files were read, adds an offence for each
/// exception that excuses nothing.
fn without_exceptions(mut offences: Vec<Offence>, all_files: bool) -> Vec<Offence> {
    let mut is_needed = vec![false; EXCEPTIONS.len()];
    offences.retain(|offence| {
        let found = EXCEPTIONS
            .iter()
            .position(|exception| exception.excuses(offence));
        if let Some(index) = found {
            is_needed[index] = true;
        }
        found.is_none()
    });
    let unneeded = EXCEPTIONS
        .iter()
        .zip(is_needed)
        .filter(|(_, is_needed)| !is_needed);
    if all_files {
        offences.extend(unneeded.map(|(exception, _)| exception.as_offence()));
    }
    offences.sort();
    offences
}

/// The compiled patterns of [`PROSE_RULES`]: `pattern` and `unless_after` of each rule.
struct CompiledRules {
    prose: Vec<(Regex, Option<Regex>)>,
}

impl CompiledRules {
    fn compile() -> Result<Self> {
        let mut prose = Vec::new();
        for rule in PROSE_RULES {
            let unless_after = rule.unless_after.map(Regex::new).transpose()?;
            prose.push((Regex::new(rule.pattern)?, unless_after));
        }
        Ok(Self { prose })
    }

    /// The offences of one file, before exceptions.
    fn offences_in(&self, path: &str, text: &str) -> Vec<Offence> {
        let mut offences = Vec::new();
        if source_rules::is_rust(path) {
            offences.extend(
                names::file_name(path)
                    .map(|name| offence_of_name(path, 1, "file", &name))
                    .into_iter()
                    .flatten(),
            );
            for name in names::declared(text) {
                offences.extend(offence_of_name(path, name.line, name.kind, name.text));
            }
            if is_source(path) {
                offences.extend(bare_constants(path, text));
            }
            offences.extend(long_comment_lines(path, text));
        }
        for piece in prose::pieces(path, text) {
            offences.extend(self.prose_offences(path, &piece));
        }
        offences
    }

    fn prose_offences(&self, path: &str, piece: &prose::Piece) -> Vec<Offence> {
        let mut offences = Vec::new();
        for (rule, (pattern, unless_after)) in PROSE_RULES.iter().zip(&self.prose) {
            let applies = match rule.scope {
                ProseScope::All => true,
                ProseScope::CommentStart => piece.is_comment,
                ProseScope::DocStart => piece.is_doc_start && is_source(path),
            };
            if !applies {
                continue;
            }
            for found in pattern.find_iter(&piece.words) {
                let is_excused = unless_after.as_ref().is_some_and(|unless_after| {
                    unless_after.is_match(&piece.words[..found.start()])
                });
                if !is_excused {
                    offences.push(Offence {
                        path: path.to_owned(),
                        line: piece.line_at(found.start()),
                        rule: rule.name,
                        excerpt: piece.excerpt(found.range()),
                        advice: rule.advice,
                    });
                }
            }
        }
        offences
    }
}

/// Returns the offence of a name of this kind, if it breaks a rule.
fn offence_of_name(path: &str, line: usize, kind: &str, name: &str) -> Option<Offence> {
    let offence = |rule, advice| {
        Some(Offence {
            path: path.to_owned(),
            line,
            rule,
            excerpt: format!("{kind} `{name}`"),
            advice,
        })
    };
    let parts = names::words_of(name);
    let is_visible = kind != "private function";
    if is_visible && parts.len() == 1 && BANNED_NAMES.contains(&parts[0].as_str()) {
        return offence("banned name", "use the noun of the field");
    }
    if kind == "type" && VAGUE_TYPES.contains(&name) {
        return offence("vague type", "say of what: `JobState`, `JournalEntry`");
    }
    if parts
        .iter()
        .any(|part| PERSONS_IN_NAMES.contains(&part.as_str()))
    {
        return offence("person in a name", "name the process or the condition");
    }
    None
}

/// Returns an offence for each constant of a number or a duration with a name of a single word.
fn bare_constants(path: &str, text: &str) -> Vec<Offence> {
    let bare = names::constants(text).into_iter().filter(|(name, kind)| {
        TYPES_WITH_UNIT.contains(kind)
            && names::words_of(name.text).len() == 1
            && !COMPLETE_NUMBERS.contains(&name.text)
            && !name.text.starts_with("SIG")
    });
    bare.map(|(name, _)| Offence {
        path: path.to_owned(),
        line: name.line,
        rule: "bare constant",
        excerpt: format!("{} `{}`", name.kind, name.text),
        advice: "say of what, and the unit: `MAX_OUTPUT_BYTES`, `ANSWER_TIMEOUT`",
    })
    .collect()
}

/// True for sources of a crate, not of its tests.
fn is_source(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/") && !path.ends_with("_tests.rs")
}

/// Comment lines with more columns than allowed. A line without a blank, such as an address, cannot
/// be wrapped.
fn long_comment_lines(path: &str, text: &str) -> Vec<Offence> {
    let mut offences = Vec::new();
    for (number, line) in prose::comment_lines(text) {
        let columns = line.chars().count();
        let body = line.trim_start().trim_start_matches(['/', '!', '*', ' ']);
        if columns > MAX_COLUMNS
            && body.contains(' ')
            && !body.contains("://")
            && !body.starts_with('|')
        {
            offences.push(Offence {
                path: path.to_owned(),
                line: number,
                rule: "long comment",
                excerpt: format!("{columns} columns"),
                advice: "wrap at 100 columns",
            });
        }
    }
    offences
}

#[cfg(test)]
#[path = "word_rules/word_rules_tests.rs"]
mod tests;
