//! Brace expansion: `{a,b}` and `{1..9}`, before anything else is expanded.

use crate::ast::WordPart;
use crate::value::HOLE_CHAR;

/// Maximum number of words from one brace expression. A longer range is cut, because its members
/// are similar.
const MAX_WORDS: usize = 128;

/// Maximum nesting depth up to which braces are expanded.
const MAX_DEPTH: usize = 6;

/// Maximum number of opening braces in a word; a word with more is unknown.
const MAX_BRACES: usize = 24;

/// An unquoted character, or another part of a word. Single characters let braces enclose quoted
/// parts.
#[derive(Clone)]
enum BraceAtom {
    Char(char),
    Part(WordPart),
}

/// Returns the words to which a word with braces expands; the word itself if it has no braces.
pub(super) fn expand(parts: &[WordPart]) -> Vec<Vec<WordPart>> {
    let has_brace = parts
        .iter()
        .any(|part| matches!(part, WordPart::Bare(text) if text.contains('{')));
    if !has_brace {
        return vec![parts.to_vec()];
    }
    let mut atoms = Vec::new();
    let braces: usize = parts
        .iter()
        .map(|part| {
            if let WordPart::Bare(text) = part {
                text.matches('{').count()
            } else {
                0
            }
        })
        .sum();
    if braces > MAX_BRACES {
        return vec![vec![WordPart::Quoted(HOLE_CHAR.to_string())]];
    }
    for part in parts {
        match part {
            WordPart::Bare(text) => atoms.extend(text.chars().map(BraceAtom::Char)),
            other => atoms.push(BraceAtom::Part(other.clone())),
        }
    }
    expand_atoms(&atoms, MAX_DEPTH)
        .into_iter()
        .map(|atoms| join_atoms(&atoms))
        .collect()
}

fn join_atoms(atoms: &[BraceAtom]) -> Vec<WordPart> {
    let mut parts: Vec<WordPart> = Vec::new();
    for atom in atoms {
        match (atom, parts.last_mut()) {
            (BraceAtom::Char(c), Some(WordPart::Bare(text))) => text.push(*c),
            (BraceAtom::Char(c), _) => parts.push(WordPart::Bare(c.to_string())),
            (BraceAtom::Part(part), _) => parts.push(part.clone()),
        }
    }
    parts
}

fn expand_atoms(atoms: &[BraceAtom], depth: usize) -> Vec<Vec<BraceAtom>> {
    let Some((start, end, alternatives)) = (depth > 0).then(|| first_brace(atoms)).flatten() else {
        return vec![atoms.to_vec()];
    };
    let tails = expand_atoms(&atoms[end + 1..], depth);
    let mut out = Vec::new();
    for alternative in alternatives {
        for middle in expand_atoms(&alternative, depth - 1) {
            for tail in &tails {
                if out.len() >= MAX_WORDS {
                    return out;
                }
                let mut word = atoms[..start].to_vec();
                word.extend(middle.iter().cloned());
                word.extend(tail.iter().cloned());
                out.push(word);
            }
        }
    }
    out
}

/// Finds the first brace expression. Returns the indices of its braces, and its expansions.
fn first_brace(atoms: &[BraceAtom]) -> Option<(usize, usize, Vec<Vec<BraceAtom>>)> {
    for start in 0..atoms.len() {
        if !is_char(&atoms[start], '{') {
            continue;
        }
        let mut open = 0_usize;
        let mut commas = Vec::new();
        for end in start..atoms.len() {
            if is_char(&atoms[end], '{') {
                open += 1;
            } else if is_char(&atoms[end], '}') {
                open -= 1;
                if open == 0 {
                    let inside = &atoms[start + 1..end];
                    let expansions = if commas.is_empty() {
                        range(inside)
                    } else {
                        Some(pieces(atoms, start, end, &commas))
                    };
                    if let Some(expansions) = expansions {
                        return Some((start, end, expansions));
                    }
                    break;
                }
            } else if open == 1 && is_char(&atoms[end], ',') {
                commas.push(end);
            }
        }
    }
    None
}

fn is_char(atom: &BraceAtom, c: char) -> bool {
    matches!(atom, BraceAtom::Char(found) if *found == c)
}

/// Returns the atoms between the commas of a brace expression.
fn pieces(atoms: &[BraceAtom], start: usize, end: usize, commas: &[usize]) -> Vec<Vec<BraceAtom>> {
    let mut piece_start = start + 1;
    let mut out = Vec::new();
    for piece_end in commas.iter().copied().chain([end]) {
        out.push(atoms[piece_start..piece_end].to_vec());
        piece_start = piece_end + 1;
    }
    out
}

/// Expands `{a..f}` and `{1..9}`, with or without a step.
fn range(inside: &[BraceAtom]) -> Option<Vec<Vec<BraceAtom>>> {
    let mut text = String::new();
    for atom in inside {
        let BraceAtom::Char(c) = atom else {
            return None;
        };
        text.push(*c);
    }
    let mut ends = text.split("..");
    let (from, to, step) = (ends.next()?, ends.next()?, ends.next());
    let expansions: Vec<String> =
        if let (Ok(from), Ok(to)) = (from.parse::<i64>(), to.parse::<i64>()) {
            let step = step
                .and_then(|step| step.parse::<i64>().ok())
                .unwrap_or(1)
                .unsigned_abs()
                .max(1);
            let count = (from.abs_diff(to) / step).min(MAX_WORDS as u64 - 1);
            (0..=count)
                .map(|index| {
                    let offset = (index * step).cast_signed();
                    (if from <= to {
                        from.wrapping_add(offset)
                    } else {
                        from.wrapping_sub(offset)
                    })
                    .to_string()
                })
                .collect()
        } else {
            let (from, to) = (single_char(from)?, single_char(to)?);
            let (low, high) = (from.min(to), from.max(to));
            (low..=high)
                .map(|byte| char::from(byte).to_string())
                .collect()
        };
    Some(
        expansions
            .into_iter()
            .map(|word| word.chars().map(BraceAtom::Char).collect())
            .collect(),
    )
}

fn single_char(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() => Some(*byte),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        expand(&[WordPart::Bare(text.to_owned())])
            .into_iter()
            .map(|parts| match parts.as_slice() {
                [WordPart::Bare(text)] => text.clone(),
                _ => String::new(),
            })
            .collect()
    }

    #[test]
    fn braces_expand_as_in_bash() {
        for (text, expect) in [
            ("{a,b}", vec!["a", "b"]),
            ("x{a,b}y", vec!["xay", "xby"]),
            ("{a,{b,c}}", vec!["a", "b", "c"]),
            ("{a,b}{1,2}", vec!["a1", "a2", "b1", "b2"]),
            ("{1..3}", vec!["1", "2", "3"]),
            ("{3..1}", vec!["3", "2", "1"]),
            ("{a..c}", vec!["a", "b", "c"]),
            ("{1..9..4}", vec!["1", "5", "9"]),
            ("{}", vec!["{}"]),
            ("{a}", vec!["{a}"]),
            ("{a,b", vec!["{a,b"]),
            ("{}{a,b}", vec!["{}a", "{}b"]),
            ("{/,/usr}", vec!["/", "/usr"]),
            ("{,.}", vec!["", "."]),
        ] {
            assert_eq!(words(text), expect, "{text}");
        }
    }
}
