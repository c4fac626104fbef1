//! Masks the answers that the user gave to a call's password prompts, on top of another mask.
//!
//! The answers become known while the output arrives. A program cannot print an answer
//! before it has received the answer, so earlier output needs no mask.

use agent_bash_core::{MaskStream, OutputMask, OutputPiece};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// The text in place of an answer.
const ANSWER_MASK: &str = "‹PROMPT_ANSWER›";

/// Minimum length of a masked answer, as of a secret variable: shorter ones also occur in unrelated
/// words.
const MIN_ANSWER_BYTES: usize = 6;

/// The answers of one call. Clones share them.
#[derive(Clone, Default)]
pub struct PromptAnswers(Arc<AnswerTable>);

#[derive(Default)]
struct AnswerTable {
    /// The answers that are masked.
    known: RwLock<Vec<Arc<str>>>,
    /// True after the user has declined a question.
    is_declined: AtomicBool,
}

impl PromptAnswers {
    /// Adds an answer, before the program gets it.
    pub fn add(&self, answer: &str) {
        let mut known = self.0.known.write().unwrap_or_else(PoisonError::into_inner);
        if answer.len() >= MIN_ANSWER_BYTES && !known.iter().any(|it| **it == *answer) {
            known.push(answer.into());
        }
    }

    /// Records that the user has declined a question.
    pub fn decline(&self) {
        self.0.is_declined.store(true, Ordering::Relaxed);
    }

    /// True after the user has declined a question.
    pub fn is_declined(&self) -> bool {
        self.0.is_declined.load(Ordering::Relaxed)
    }

    /// Returns the answers, longest first.
    fn sorted(&self) -> Vec<Arc<str>> {
        let known = self.0.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut known = known.clone();
        known.sort_by_key(|answer| std::cmp::Reverse(answer.len()));
        known
    }
}

/// Does not print the answers.
impl std::fmt::Debug for PromptAnswers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PromptAnswers(…)")
    }
}

/// A mask for the answers of a call and for the secrets of another mask.
#[derive(Debug)]
pub struct AnswerMask {
    /// The answers.
    pub answers: PromptAnswers,
    /// The other mask.
    pub others: Arc<dyn OutputMask>,
}

impl OutputMask for AnswerMask {
    fn stream(&self) -> Box<dyn MaskStream> {
        Box::new(AnswerMaskStream {
            answers: self.answers.clone(),
            others: Arc::clone(&self.others),
            inner: self.others.stream(),
            held: Vec::new(),
        })
    }
}

#[derive(Debug)]
struct AnswerMaskStream {
    answers: PromptAnswers,
    others: Arc<dyn OutputMask>,
    /// Masks the text between the answers.
    inner: Box<dyn MaskStream>,
    /// Bytes that may be the beginning of an answer.
    held: Vec<u8>,
}

impl AnswerMaskStream {
    /// Passes on the held bytes, except for an end that may begin an answer, unless `is_end`.
    fn pass_on(&mut self, is_end: bool, out: &mut dyn FnMut(OutputPiece<'_>)) {
        let answers = self.answers.sorted();
        let mut from = 0;
        let mut at = 0;
        while at < self.held.len() {
            let rest = &self.held[at..];
            let found = answers.iter().find(|it| rest.starts_with(it.as_bytes()));
            if let Some(answer) = found {
                self.inner.push(&self.held[from..at], out);
                self.inner.finish(out);
                self.inner = self.others.stream();
                out(OutputPiece::Masked {
                    text: ANSWER_MASK,
                    bytes: answer.len(),
                });
                at += answer.len();
                from = at;
            } else if !is_end && answers.iter().any(|it| it.as_bytes().starts_with(rest)) {
                break;
            } else {
                at += 1;
            }
        }
        self.inner.push(&self.held[from..at], out);
        self.held.drain(..at);
    }
}

impl MaskStream for AnswerMaskStream {
    fn push(&mut self, bytes: &[u8], out: &mut dyn FnMut(OutputPiece<'_>)) {
        let known = self.answers.0.known.read();
        let is_unused = known.unwrap_or_else(PoisonError::into_inner).is_empty();
        if is_unused && self.held.is_empty() {
            return self.inner.push(bytes, out);
        }
        self.held.extend_from_slice(bytes);
        self.pass_on(false, out);
    }

    fn finish(&mut self, out: &mut dyn FnMut(OutputPiece<'_>)) {
        self.pass_on(true, out);
        self.inner.finish(out);
    }

    fn held_bytes(&self) -> usize {
        self.held.len() + self.inner.held_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::{SecretFilter, SecretMask};
    use agent_bash_core::masked_text;
    use std::ffi::OsStr;

    fn mask() -> (PromptAnswers, Arc<dyn OutputMask>) {
        let variable = (OsStr::new("API_TOKEN"), OsStr::new("t0kent0kent0ken"));
        let others = SecretMask::new([variable], &SecretFilter::default(), false);
        let answers = PromptAnswers::default();
        let mask = AnswerMask {
            answers: answers.clone(),
            others: Arc::new(others),
        };
        (answers, Arc::new(mask))
    }

    #[test]
    fn answer_is_masked_once_it_is_known_at_any_chunk_border() {
        let text = "open sesame, t0kent0kent0ken open sesam open sesame!";
        let expected = "‹PROMPT_ANSWER›, ‹API_TOKEN› open sesam ‹PROMPT_ANSWER›!";
        for border in 0..text.len() {
            let (answers, mask) = mask();
            let mut shown = Vec::new();
            let mut printed = 0;
            let mut add = |piece: OutputPiece<'_>| {
                shown.extend_from_slice(piece.shown());
                printed += piece.printed_bytes();
            };
            let mut stream = mask.stream();
            stream.push(b"open sesame|", &mut add);
            answers.add("open sesame");
            let (first, second) = text.as_bytes().split_at(border);
            stream.push(first, &mut add);
            stream.push(second, &mut add);
            stream.finish(&mut add);
            assert_eq!(stream.held_bytes(), 0);
            let shown = String::from_utf8(shown).unwrap();
            assert_eq!(shown, format!("open sesame|{expected}"), "{border}");
            assert_eq!(printed, text.len() + "open sesame|".len());
        }
    }

    #[test]
    fn short_answer_is_not_masked_and_no_answer_is_printed() {
        let (answers, mask) = mask();
        answers.add("yes");
        answers.add("open sesame");
        assert_eq!(masked_text(Some(&*mask), "yes"), "yes");
        assert!(!format!("{mask:?}").contains("sesame"));
    }
}
