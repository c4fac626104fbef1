//! [`complete`]: candidates for the end of a text, and the insertion of one.

use super::candidate::{Candidate, MAX_CANDIDATES, NameBeginning};
use super::{commands, git, make, paths, quoted, variables};
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
    /// Names of variables; needed only if [`variables::written`] returns a variable.
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
    folds: bool,
    /// The text after an accepted candidate, instead of a blank.
    closer: Option<&'static str>,
    /// Sorted.
    pub(crate) candidates: Vec<Candidate>,
    /// True if there are more.
    pub(crate) is_cut: bool,
}

/// Finds candidates. Reads directories: it may take long, and must not run on the interface's task.
pub(crate) fn complete(wanted: &CompletionInput) -> Completion {
    let own = wanted.before.len() - wanted.before.trim_start_matches('!').len();
    let own = own.min(2);
    let nothing = Completion {
        before: wanted.before.clone(),
        start: wanted.before.len(),
        written: String::new(),
        quote: None,
        folds: false,
        closer: None,
        candidates: Vec::new(),
        is_cut: false,
    };
    if let Some(variable) = variables::written(&wanted.before) {
        let mut completion = Completion {
            start: variable.start,
            written: wanted.before[variable.start..].to_owned(),
            closer: Some(variable.closer),
            ..nothing
        };
        completion.find(|completion| {
            let names = wanted.variables.iter().map(String::as_str);
            completion.candidates = completion.begun().of(names);
        });
        return completion;
    }
    let Some(word) = Tokens::of(&wanted.before[own..]).last_word else {
        return nothing;
    };
    let Some(value) = word.value.clone() else {
        return nothing;
    };
    let mut completion = Completion {
        start: own + word.start,
        written: value,
        quote: word.quote,
        ..nothing
    };
    completion.find(|completion| completion.fill(wanted, &word));
    completion
}

impl Completion {
    /// Runs `find`, and again without regard to case if it found nothing.
    fn find(&mut self, mut find: impl FnMut(&mut Self)) {
        find(self);
        if self.candidates.is_empty() && !self.written.is_empty() {
            self.folds = true;
            find(self);
        }
        self.candidates.sort();
        self.candidates.dedup_by(|a, b| a.word == b.word);
        if self.candidates.len() > MAX_CANDIDATES {
            self.candidates.truncate(MAX_CANDIDATES);
            self.is_cut = true;
        }
    }

    fn begun(&self) -> NameBeginning<'_> {
        NameBeginning {
            written: &self.written,
            folds: self.folds,
        }
    }

    fn fill(&mut self, wanted: &CompletionInput, word: &LastWord) {
        if word.is_command && !self.written.contains('/') && !self.written.starts_with('~') {
            let found = commands::beginning_with(self.begun(), &wanted.path, &wanted.defined);
            self.candidates.extend(found);
            return;
        }
        if let Some(refs) = git::complete(&word.before, self.begun(), &wanted.directory) {
            self.candidates.extend(refs.candidates);
            if !refs.paths_too {
                return;
            }
        }
        if let Some(targets) = make::complete(&word.before, self.begun(), &wanted.directory) {
            self.candidates.extend(targets);
            return;
        }
        // As in `--file=src/ma`.
        let raw = &wanted.before[self.start..];
        if raw.starts_with('-')
            && let (Some(at), Some((_, value))) = (raw.find('='), self.written.split_once('='))
        {
            self.start += at + 1;
            self.written = value.to_owned();
        }
        let program = word.before.first().map_or("", String::as_str);
        let is_home = wanted.before[self.start..].starts_with('~');
        let look = paths::PathSearch {
            written: self.begun(),
            directory: &wanted.directory,
            home: wanted.home.as_deref().filter(|_| is_home),
            directories_only: DIRECTORY_PROGRAMS.contains(&program),
            executables_only: word.is_command,
        };
        let (found, is_cut) = look.candidates();
        self.candidates.extend(found);
        self.is_cut |= is_cut;
    }

    /// The common prefix of all candidates, if it is longer than the typed part.
    fn common(&self) -> Option<&str> {
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
        (common != self.written && self.begun().fits(common)).then_some(common)
    }

    /// The text that replaces the word, and the byte offset of the word: the only candidate, or the
    /// common prefix.
    pub(crate) fn insertion(&self) -> Option<(usize, String)> {
        match self.candidates.as_slice() {
            [only] => Some(self.taking(only)),
            _ => self.common().map(|common| {
                let keeps_tilde = self.before[self.start..].starts_with('~');
                (self.start, quoted::open(common, self.quote, keeps_tilde))
            }),
        }
    }

    /// Returns the edit that inserts one of the candidates.
    pub(crate) fn taking(&self, candidate: &Candidate) -> (usize, String) {
        let keeps_tilde = self.before[self.start..].starts_with('~');
        let mut text = quoted::open(&candidate.word, self.quote, keeps_tilde);
        if let Some(closer) = self.closer {
            text.push_str(closer);
        } else if !candidate.continues {
            text.extend(self.quote);
            text.push(' ');
        }
        (self.start, text)
    }
}
