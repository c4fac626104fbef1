//! [`complete`]: finds candidates for the word at the end of a text, and inserts one.

use super::candidate::{Candidate, MAX_CANDIDATES, NamePrefix};
use super::{commands, git, make, paths, quoting, variables};
use agent_bash_render::syntax::tokens::{LastWord, Tokens};
use std::path::PathBuf;

/// Programs whose arguments are directories only.
const DIRECTORY_PROGRAMS: [&str; 3] = ["cd", "pushd", "rmdir"];

/// The text to complete, and the sources of candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompletionInput {
    /// The text in front of the cursor, including the `!` of a `!command`.
    pub(crate) before: String,
    /// The command's working directory.
    pub(crate) directory: PathBuf,
    pub(crate) home: Option<PathBuf>,
    /// The directories of `PATH`.
    pub(crate) path: Vec<PathBuf>,
    /// Functions and aliases.
    pub(crate) defined: Vec<String>,
    /// Names of variables; needed only if [`variables::typed_variable`] returns one.
    pub(crate) variables: Vec<String>,
}

/// The candidates for a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Completion {
    /// The text that was completed.
    pub(crate) before: String,
    /// The byte offset of the word that is replaced.
    start: usize,
    /// The typed part of the word, without quotes.
    written: String,
    quote: Option<char>,
    /// True if names were compared without case, because no name matches with case.
    ignores_case: bool,
    /// The text to add after an accepted candidate; a blank if `None`.
    suffix: Option<&'static str>,
    /// Sorted.
    pub(crate) candidates: Vec<Candidate>,
    /// True if there are more candidates.
    pub(crate) is_cut: bool,
}

/// Finds candidates. Reads directories, which may block, so this function must not run on the
/// interface's task.
pub(crate) fn complete(input: &CompletionInput) -> Completion {
    let bang_len = input.before.len() - input.before.trim_start_matches('!').len();
    let bang_len = bang_len.min(2);
    let nothing = Completion {
        before: input.before.clone(),
        start: input.before.len(),
        written: String::new(),
        quote: None,
        ignores_case: false,
        suffix: None,
        candidates: Vec::new(),
        is_cut: false,
    };
    if let Some(variable) = variables::typed_variable(&input.before) {
        let mut completion = Completion {
            start: variable.start,
            written: input.before[variable.start..].to_owned(),
            suffix: Some(variable.suffix),
            ..nothing
        };
        completion.fill_with(|completion| {
            let names = input.variables.iter().map(String::as_str);
            completion.candidates = completion.prefix().matching(names);
        });
        return completion;
    }
    let Some(word) = Tokens::of(&input.before[bang_len..]).last_word else {
        return nothing;
    };
    let Some(value) = word.value.clone() else {
        return nothing;
    };
    let mut completion = Completion {
        start: bang_len + word.start,
        written: value,
        quote: word.quote,
        ..nothing
    };
    completion.fill_with(|completion| completion.fill(input, &word));
    completion
}

impl Completion {
    /// Runs `find`. If there is no candidate, runs `find` again and ignores case.
    fn fill_with(&mut self, mut find: impl FnMut(&mut Self)) {
        find(self);
        if self.candidates.is_empty() && !self.written.is_empty() {
            self.ignores_case = true;
            find(self);
        }
        self.candidates.sort();
        self.candidates.dedup_by(|a, b| a.word == b.word);
        if self.candidates.len() > MAX_CANDIDATES {
            self.candidates.truncate(MAX_CANDIDATES);
            self.is_cut = true;
        }
    }

    fn prefix(&self) -> NamePrefix<'_> {
        NamePrefix {
            written: &self.written,
            ignores_case: self.ignores_case,
        }
    }

    fn fill(&mut self, input: &CompletionInput, word: &LastWord) {
        if word.is_command && !self.written.contains('/') && !self.written.starts_with('~') {
            let found = commands::beginning_with(self.prefix(), &input.path, &input.defined);
            self.candidates.extend(found);
            return;
        }
        let found = git::complete(&word.before, self.prefix(), &input.directory);
        if let Some((references, paths_too)) = found {
            self.candidates.extend(references);
            if !paths_too {
                return;
            }
        }
        if let Some(targets) = make::complete(&word.before, self.prefix(), &input.directory) {
            self.candidates.extend(targets);
            return;
        }
        // Only the value of `--file=src/ma` is completed.
        let raw = &input.before[self.start..];
        if raw.starts_with('-')
            && let (Some(at), Some((_, value))) = (raw.find('='), self.written.split_once('='))
        {
            self.start += at + 1;
            self.written = value.to_owned();
        }
        let program = word.before.first().map_or("", String::as_str);
        let is_home = input.before[self.start..].starts_with('~');
        let look = paths::PathSearch {
            written: self.prefix(),
            directory: &input.directory,
            home: input.home.as_deref().filter(|_| is_home),
            directories_only: DIRECTORY_PROGRAMS.contains(&program),
            executables_only: word.is_command,
        };
        let (found, is_cut) = look.candidates();
        self.candidates.extend(found);
        self.is_cut |= is_cut;
    }

    /// The common prefix of all candidates, if it is longer than the typed part.
    fn common_prefix(&self) -> Option<&str> {
        let first = self.candidates.first()?;
        let mut common = first.word.as_str();
        for candidate in &self.candidates {
            let same = common
                .char_indices()
                .zip(candidate.word.chars())
                .find(|((_, a), b)| a != b)
                .map_or(common.len().min(candidate.word.len()), |((at, _), _)| at);
            common = &common[..same];
        }
        (common != self.written && self.prefix().fits(common)).then_some(common)
    }

    /// The text that replaces the word, and the byte offset of the word: the only candidate, or the
    /// common prefix.
    pub(crate) fn insertion(&self) -> Option<(usize, String)> {
        match self.candidates.as_slice() {
            [only] => Some(self.edit_for(only)),
            _ => self.common_prefix().map(|common| {
                let keeps_tilde = self.before[self.start..].starts_with('~');
                (
                    self.start,
                    quoting::quote_open(common, self.quote, keeps_tilde),
                )
            }),
        }
    }

    /// Returns the edit that inserts one of the candidates.
    pub(crate) fn edit_for(&self, candidate: &Candidate) -> (usize, String) {
        let keeps_tilde = self.before[self.start..].starts_with('~');
        let mut text = quoting::quote_open(&candidate.word, self.quote, keeps_tilde);
        if let Some(closer) = self.suffix {
            text.push_str(closer);
        } else if !candidate.continues {
            text.extend(self.quote);
            text.push(' ');
        }
        (self.start, text)
    }
}
