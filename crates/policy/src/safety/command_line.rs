//! Command-line matching for table-driven rules: options, and subcommands in order.

use super::rule::{Hit, is_git};
use crate::syntax::git::Git;
use crate::syntax::run::{Field, ResolvedCommand};

/// True if an option is given: `-x` alone or in a cluster, `--long` with or without a value or
/// abbreviated; anything else (`-delete`, `mklabel`) must be a word.
pub(super) fn has_option(arguments: &[Field], option: &str) -> bool {
    arguments
        .iter()
        .any(|field| is_option(field.value.prefix(), option))
}

/// True if any of several options is given.
pub(super) fn has_any(arguments: &[Field], options: &[&str]) -> bool {
    options.iter().any(|option| has_option(arguments, option))
}

/// Minimum length of an abbreviated long option.
const MIN_ABBREVIATION_BYTES: usize = "--rec".len();

fn is_option(text: &str, option: &str) -> bool {
    let name = text.split('=').next().unwrap_or(text);
    if option.contains('=') {
        return text == option;
    }
    if name == option {
        return !text.ends_with("=false");
    }
    if option.starts_with("--") {
        return name.len() >= MIN_ABBREVIATION_BYTES && option.starts_with(name);
    }
    match (option.strip_prefix('-'), text.strip_prefix('-')) {
        (Some(letter), Some(cluster)) => {
            letter.len() == 1
                && !cluster.starts_with('-')
                && cluster.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && cluster.contains(letter)
        }
        _ => false,
    }
}

/// An action of a program.
#[derive(Debug)]
pub(super) struct Deed {
    /// The programs.
    pub(super) programs: &'static [&'static str],
    /// The subcommands, in order; `a|b` means either.
    pub(super) words: &'static [&'static str],
    /// If not empty, one of these must be given: options, or words after the subcommands.
    pub(super) with: &'static [&'static str],
    /// With one of these words, the action does not take place.
    pub(super) without: &'static [&'static str],
}

/// Options with which most programs do nothing.
pub(super) const HARMLESS_OPTIONS: [&str; 5] =
    ["--help", "-help", "--dry-run", "--dryrun", "--version"];

impl Deed {
    /// Returns an entry: these programs perform these actions at these subcommands.
    pub(super) const fn of(
        programs: &'static [&'static str],
        words: &'static [&'static str],
    ) -> Deed {
        Deed {
            programs,
            words,
            with: &[],
            without: &[],
        }
    }

    /// Requires one of these options.
    pub(super) const fn with(self, with: &'static [&'static str]) -> Deed {
        Deed { with, ..self }
    }

    /// Requires that none of these options is given.
    pub(super) const fn without(self, without: &'static [&'static str]) -> Deed {
        Deed { without, ..self }
    }

    /// The words after the subcommands, if the command does this.
    fn done<'r>(&self, name: &str, arguments: &'r [Field]) -> Option<&'r [Field]> {
        if !self.programs.contains(&name) {
            return None;
        }
        let behind = behind(arguments, self.words)?;
        let end = arguments
            .iter()
            .position(|field| field.value.literal() == Some("--"));
        let arguments = &arguments[..end.unwrap_or(arguments.len())];
        let wanted = self.with.is_empty() || has_any(arguments, self.with);
        let spared = has_any(arguments, &HARMLESS_OPTIONS) || has_any(arguments, self.without);
        (wanted && !spared).then_some(behind)
    }
}

/// The first of these actions that the command performs, and the words after its subcommands.
pub(super) fn deed<'d, 'r>(
    deeds: &'d [Deed],
    ran: &'r ResolvedCommand,
) -> Option<(&'d Deed, &'r [Field])> {
    let name = ran.name().filter(|_| !ran.is_function)?;
    deeds
        .iter()
        .find_map(|deed| Some((deed, deed.done(name, ran.arguments())?)))
}

/// Returns the hit if the command performs one of these actions.
pub(super) fn found(deeds: &[Deed], ran: &ResolvedCommand) -> Option<Hit> {
    deed(deeds, ran).map(|_| Hit::on(ran, ran.arguments()))
}

/// Finds an action of git, whose programs are git's subcommands.
pub(super) fn found_of_git(deeds: &[Deed], ran: &ResolvedCommand) -> Option<Hit> {
    is_git(ran)?;
    let git = Git::read(&ran.words);
    let name = git.subcommand()?;
    let done = deeds
        .iter()
        .any(|deed| deed.done(name, git.arguments).is_some());
    done.then(|| Hit::on(ran, git.arguments))
}

/// The arguments after these subcommands. Options may stand between them, and a word after an
/// option may be its value.
fn behind<'f>(arguments: &'f [Field], words: &[&str]) -> Option<&'f [Field]> {
    let mut wanted = words.iter();
    let Some(mut next) = wanted.next() else {
        return Some(arguments);
    };
    let mut after_option = false;
    for (at, field) in arguments.iter().enumerate() {
        let text = field.value.prefix();
        if field
            .value
            .literal()
            .is_some_and(|text| next.split('|').any(|word| word == text))
        {
            after_option = false;
            match wanted.next() {
                Some(word) => next = word,
                None => return arguments.get(at + 1..),
            }
        } else if text.len() > 1 && text.starts_with(['-', '+']) {
            after_option = !text.contains('=');
        } else if !std::mem::take(&mut after_option) {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, Script};

    #[test]
    fn options_are_known_in_all_their_spellings() {
        for (text, option, expect) in [
            ("-a", "-a", true),
            ("-fa", "-a", true),
            ("--all", "--all", true),
            ("--all=x", "--all", true),
            ("--recurs", "--recursive", true),
            ("--force=false", "--force", false),
            ("--re", "--recursive", false),
            ("--all", "-a", false),
            ("-x=a", "-a", false),
            ("-auto-approve", "-auto-approve", true),
            ("-auto-approve", "-a", false),
            ("a", "-a", false),
            ("mklabel", "mklabel", true),
        ] {
            assert_eq!(is_option(text, option), expect, "{text} {option}");
        }
    }

    #[test]
    fn a_deed_is_told_by_its_subcommands() {
        let deed = Deed {
            programs: &["tool"],
            words: &["volume|vol", "rm"],
            with: &["-f", "--force"],
            without: &["--keep"],
        };
        let context = Context::new("/w");
        for (text, expect) in [
            ("tool volume rm -f x", true),
            ("tool vol rm --force x", true),
            ("tool -H there --x=y volume rm -f x", true),
            ("tool volume -f rm x", true),
            ("tool volume rm x", false),
            ("tool volume rm -f --keep x", false),
            ("tool volume rm -f --dry-run x", false),
            ("tool run volume rm -f", false),
            ("tool volume ls rm -f", false),
            ("other volume rm -f", false),
        ] {
            let script = Script::read(text, &context);
            let ran = &script.ran[0];
            let done = deed.done(ran.name().unwrap(), ran.arguments()).is_some();
            assert_eq!(done, expect, "{text}");
        }
    }
}
