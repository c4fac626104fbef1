//! Command-line matching for table-driven rules: options, and subcommands in order.

use super::path::{Location, PathBase, PathDanger, PathWorth, WORTHS, danger, worth};
use crate::syntax::git::GitCommandLine;
use crate::syntax::pattern;
use crate::syntax::run::{Field, ResolvedCommand};
use crate::syntax::value::{UnknownCause, Value, ValuePiece};

/// Returns true if an option is given: `-x` alone or in a cluster, `--long` with or without a value
/// or abbreviated. Anything else (`-delete`, `mklabel`) must be a word.
pub(super) fn has_option(arguments: &[Field], option: &str) -> bool {
    arguments
        .iter()
        .any(|field| is_option(field.value.prefix(), option))
}

/// Returns true if any of several options is given.
pub(super) fn has_any(arguments: &[Field], options: &[impl AsRef<str>]) -> bool {
    options
        .iter()
        .any(|option| has_option(arguments, option.as_ref()))
}

/// Minimum length of an abbreviated long option.
const MIN_ABBREVIATION_BYTES: usize = "--rec".len();

fn is_option(text: &str, option: &str) -> bool {
    let name = text.split('=').next().unwrap_or(text);
    if option.contains('*') {
        return pattern::matches(option, text);
    }
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

/// An action of a program: a row of a rule, or of a user's rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Action {
    /// The programs.
    pub(super) programs: Vec<String>,
    /// The subcommands, in order; `a|b` means either.
    pub(super) words: Vec<String>,
    /// True if the subcommand may follow other words.
    pub(super) is_anywhere: bool,
    /// Of each non-empty list, one entry must be present: options, or words.
    pub(super) with: [Vec<String>; 2],
    /// With one of these options or words, the action does not take place.
    pub(super) without: Vec<String>,
    /// The accepted first operands; empty: any.
    pub(super) first: Vec<String>,
    /// One operand must be in this list; empty: any.
    pub(super) operands: Vec<String>,
    /// True if an operand must be the output of a command.
    pub(super) is_computed: bool,
    /// True if an operand must be a block device.
    pub(super) is_on_device: bool,
    /// True if an operand must be a path that `no_dangerous_rm` protects.
    pub(super) is_on_protected: bool,
    /// True if the last operand must be the root, a system directory or a home.
    pub(super) is_into_landmark: bool,
    /// An operand must be a path of one of these worths; empty: any.
    pub(super) worths: Vec<PathWorth>,
    /// An operand before the last must be one, unless the last is a copy beside it; empty: any.
    pub(super) from: Vec<PathWorth>,
    /// The last operand must be one, unless the one before has its name; empty: any.
    pub(super) onto: Vec<PathWorth>,
    /// True if the program must read nothing from standard input, and have no operand.
    pub(super) is_emptied: bool,
}

/// Options with which most programs do nothing.
pub(super) const HARMLESS_OPTIONS: [&str; 4] = ["--help", "-help", "--dry-run", "--dryrun"];

impl Action {
    /// Parses a row: `PROGRAMS / SUBCOMMANDS ; KEY VALUE ; …`; with it, its example.
    pub(super) fn of(row: &str) -> (Action, &str) {
        let words = |text: &str| text.split_whitespace().map(ToOwned::to_owned).collect();
        let worths = |text: &str| {
            let named = WORTHS
                .iter()
                .filter(|(name, _)| text.split(' ').any(|word| word == *name));
            named.map(|(_, worth)| *worth).collect()
        };
        let mut fields = row.split(" ; ");
        let names = fields.next().unwrap_or_default();
        let (programs, subcommands) = names.split_once(" / ").unwrap_or((names, ""));
        let mut action = Action {
            programs: words(programs),
            words: words(subcommands),
            ..Action::default()
        };
        let mut example = "";
        for field in fields {
            let (key, value) = field.split_once(' ').unwrap_or((field, ""));
            match key {
                "with" => action.with[0] = words(value),
                "with2" => action.with[1] = words(value),
                "without" => action.without = words(value),
                "first" => action.first = words(value),
                "operands" => action.operands = words(value),
                "anywhere" => action.is_anywhere = true,
                "computed" => action.is_computed = true,
                "device" => action.is_on_device = true,
                "protected" => action.is_on_protected = true,
                "into" => action.is_into_landmark = true,
                "worth" => action.worths = worths(value),
                "from" => action.from = worths(value),
                "onto" => action.onto = worths(value),
                "empty" => action.is_emptied = true,
                "try" => example = value,
                _ => {}
            }
        }
        (action, example)
    }

    /// Returns true if the command performs the action.
    pub(super) fn is_done(&self, ran: &ResolvedCommand, base: &PathBase<'_>) -> bool {
        self.found(ran, base).is_some()
    }

    fn found(&self, ran: &ResolvedCommand, base: &PathBase<'_>) -> Option<()> {
        let arguments = ran.arguments();
        let behind = if self.programs.iter().any(|name| name == "git") {
            // Its global options are known.
            let git = GitCommandLine::read(&ran.words);
            let (first, rest) = self.words.split_first()?;
            is_one_of(git.subcommand()?, first).then_some(())?;
            behind(git.arguments, rest, false)?
        } else {
            behind(arguments, &self.words, self.is_anywhere)?
        };
        let end = |field: &Field| field.value.literal() == Some("--");
        let options = arguments.split(end).next().unwrap_or_default();
        let mut needed = self.with.iter().filter(|with| !with.is_empty());
        let is_meant = needed.all(|with| has_any(options, with));
        let asks_version = self.words.is_empty() && has_option(options, "--version");
        if !is_meant
            || asks_version
            || has_any(options, &HARMLESS_OPTIONS)
            || has_any(options, &self.without)
        {
            return None;
        }
        let is_operand = |field: &&Field| !field.value.prefix().starts_with('-');
        let matches = |field: &Field, patterns: &[String]| {
            let text = field.value.script();
            patterns
                .iter()
                .any(|pattern| pattern::matches(pattern, &text))
        };
        let mut operands = behind.iter().filter(is_operand);
        let first = operands.clone().next();
        let is_first = self.first.is_empty() || matches(first?, &self.first);
        let is_named = self.operands.is_empty()
            || operands.clone().any(|field| matches(field, &self.operands));
        let is_computed = || !ran.dormant && operands.clone().any(|field| is_output(field, ran));
        let on_device = |field: &Field| {
            Location::of(&field.value, base).is_some_and(|location| location.is_block_device())
        };
        let is_protected = |field: &Field| {
            danger(&field.value, base).is_some_and(|danger| danger != PathDanger::Unknown)
        };
        let is_landmark = |field: &Field| {
            Location::of(&field.value, base).is_some_and(|at| at.is_landmark(base.home))
        };
        let has_worth = |field: &Field, worths: &[PathWorth]| {
            let is_output = field.value.prefix().starts_with("of=");
            let path = &field
                .value
                .without_prefix(usize::from(is_output) * "of=".len());
            worth(path, base).filter(|it| worths.contains(it))
        };
        let into = has_any(options, &["-t", "--target-directory"]);
        let target = operands.clone().next_back().filter(|_| !into);
        let sources = operands
            .clone()
            .take_while(|it| target.is_none_or(|to| !std::ptr::eq(*it, to)));
        // A copy under a longer name beside the file.
        let is_kept = |source: &Field, worth: PathWorth| {
            let behind =
                target.and_then(|to| to.value.prefix().strip_prefix(source.value.prefix()));
            worth != PathWorth::Landmark
                && behind.is_some_and(|it| it.len() > 1 && !it.starts_with('/'))
        };
        let is_lost =
            |it: &Field| has_worth(it, &self.from).is_some_and(|worth| !is_kept(it, worth));
        let is_deployed = |to: &Field| {
            let source = sources.clone().last();
            source.is_some_and(|it| file_name(&it.value).starts_with(file_name(&to.value)))
        };
        let is_replaced = |to: &Field| has_worth(to, &self.onto).is_some() && !is_deployed(to);
        let holds = is_first
            && (self.worths.is_empty()
                || operands
                    .clone()
                    .any(|it| has_worth(it, &self.worths).is_some()))
            && (self.from.is_empty() || sources.clone().any(is_lost))
            && (self.onto.is_empty() || target.is_some_and(is_replaced))
            && is_named
            && (!self.is_computed || is_computed())
            && (!self.is_on_device || operands.clone().any(on_device))
            && (!self.is_on_protected || operands.clone().any(is_protected))
            && (!self.is_emptied || first.is_none() && reads_nothing(ran))
            && (!self.is_into_landmark || operands.next_back().is_some_and(is_landmark));
        holds.then_some(())
    }
}

/// Returns the name at the end of a path.
fn file_name(path: &Value) -> &str {
    path.prefix().rsplit('/').next().unwrap_or_default()
}

/// True if standard input is known to be empty.
fn reads_nothing(ran: &ResolvedCommand) -> bool {
    let text = ran.stdin.as_deref().and_then(Value::literal);
    text.is_some_and(|text| text.trim().is_empty())
}

/// Returns true if an operand is the output of a command, which may be any number of names.
fn is_output(field: &Field, ran: &ResolvedCommand) -> bool {
    let value = &field.value;
    let by_xargs = ran.through.last().is_some_and(|program| program == "xargs");
    let is_variable = matches!(
        value.pieces(),
        [ValuePiece::Unknown {
            why: UnknownCause::Variable(_),
            ..
        }]
    );
    value.prefix().is_empty()
        && (value.may_split() && !is_variable || by_xargs && value.has_unknown())
}

/// Returns true if a word is one of `a|b|c`, in which `*` stands for any text.
pub(super) fn is_one_of(word: &str, alternatives: &str) -> bool {
    let mut all = alternatives.split('|');
    all.any(|one| one == word || one.contains('*') && pattern::matches(one, word))
}

/// Returns the arguments after these subcommands. Options may stand between the subcommands, and a
/// word after an option may be its value.
fn behind<'f>(arguments: &'f [Field], words: &[String], anywhere: bool) -> Option<&'f [Field]> {
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
            .is_some_and(|text| !text.starts_with('-') && is_one_of(text, next))
        {
            after_option = false;
            match wanted.next() {
                Some(word) => next = word,
                None => return arguments.get(at + 1..),
            }
        } else if text.len() > 1 && text.starts_with(['-', '+']) {
            after_option = !text.contains('=');
        } else if !std::mem::take(&mut after_option) && !anywhere {
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
            ("-sXDELETE", "-*XDELETE", true),
        ] {
            assert_eq!(is_option(text, option), expect, "{text} {option}");
        }
    }

    #[test]
    fn an_action_is_known_by_its_subcommands_options_and_operands() {
        let plain = "tool / volume|vol rm ; with -f --force ; without --keep";
        let context = Context::new("/w");
        for (row, text, expect) in [
            (plain, "tool volume rm -f x", true),
            (plain, "tool vol rm --force x", true),
            (plain, "tool -H there --x=y volume rm -f x", true),
            (plain, "tool volume -f rm x", true),
            (plain, "tool volume rm x", false),
            (plain, "tool volume rm -f --keep x", false),
            (plain, "tool volume rm -f --dry-run x", false),
            (plain, "tool run volume rm -f", false),
            (plain, "tool volume ls rm -f", false),
            ("tool / rm ; anywhere", "tool volume x rm", true),
            ("tool / rm ; first ns*", "tool rm -n x ns/a", false),
            ("tool / rm ; first ns*", "tool rm ns/a", true),
            (
                "tool / rm ; operands *:9200*", "tool rm http://a:9200/x", true,
            ),
            ("tool / rm ; computed", "tool rm $(tool ls)", true),
            ("tool / rm ; computed", "tool rm \"$NAME\"", false),
            ("tool / rm ; computed", "tool ls | xargs tool rm", true),
            ("tool ; device", "tool /dev/sda", true),
            ("tool ; device", "tool disk.img", false),
        ] {
            let script = Script::read(text, &context);
            let (action, _) = Action::of(row);
            let base = PathBase {
                cwd: None,
                base: "/w",
                home: None,
                host: &crate::syntax::CommandHost::Local,
            };
            let mut tools = script.ran.iter().filter(|ran| ran.name() == Some("tool"));
            let is_done = tools.any(|ran| action.is_done(ran, &base));
            assert_eq!(is_done, expect, "{row}: {text}");
        }
    }
}
