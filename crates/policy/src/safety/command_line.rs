//! Command-line matching for table-driven rules: options, and subcommands in order.

use super::path::{Location, PathBase, PathDanger, PathWorth, WORTHS, danger, worth};
use crate::syntax::git::GitCommandLine;
use crate::syntax::pattern;
use crate::syntax::run::{Field, ResolvedCommand};
use crate::syntax::value::{UnknownCause, Value, ValuePiece};

/// True if an option is present: `-x` alone or in a cluster, `--long` with or without a value or
/// abbreviated. Any other text (`-delete`, `mklabel`) must equal a word.
pub(super) fn has_option(arguments: &[Field], option: &str) -> bool {
    arguments
        .iter()
        .any(|field| is_option(field.value.prefix(), option))
}

/// True if at least one of these options is present.
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

/// An action of a program that a rule refuses: a row of a built-in rule, or a user's rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Action {
    pub(super) programs: Vec<String>,
    /// The subcommands, in order; `a|b` means either.
    pub(super) words: Vec<String>,
    /// True if the subcommand may follow other words.
    pub(super) is_anywhere: bool,
    /// One option or word of each non-empty list must be present.
    pub(super) with: [Vec<String>; 2],
    /// If one of these options or words is present, the command does not perform the action.
    pub(super) without: Vec<String>,
    /// The first operand must match one of these patterns; empty for any.
    pub(super) first: Vec<String>,
    /// One operand must match one of these patterns; empty for any.
    pub(super) operands: Vec<String>,
    /// True if an operand must be the output of a command.
    pub(super) is_computed: bool,
    /// True if an operand must be a block device.
    pub(super) is_on_device: bool,
    /// True if an operand must be a path that `no_dangerous_rm` protects.
    pub(super) is_on_protected: bool,
    /// True if the last operand must be the root, a system directory or a home.
    pub(super) is_into_landmark: bool,
    /// An operand must be a path of one of these worths; empty for any.
    pub(super) worths: Vec<PathWorth>,
    /// An operand before the last must be a path of one of these worths, and the last operand must
    /// not be a copy in the same directory; empty for any.
    pub(super) from: Vec<PathWorth>,
    /// The last operand must be a path of one of these worths, and the operand before it must not
    /// have the same name; empty for any.
    pub(super) onto: Vec<PathWorth>,
    /// True if the program must read nothing from standard input, and have no operand.
    pub(super) is_emptied: bool,
}

/// Options with which most programs do nothing.
pub(super) const HARMLESS_OPTIONS: [&str; 4] = ["--help", "-help", "--dry-run", "--dryrun"];

impl Action {
    /// Parses a row, `PROGRAMS / SUBCOMMANDS ; KEY VALUE ; …`, into its action and its example.
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

    /// True if the command performs the action.
    pub(super) fn is_performed_by(&self, command: &ResolvedCommand, base: &PathBase<'_>) -> bool {
        self.matched(command, base).is_some()
    }

    /// Returns `Some` if the command performs the action, so that `?` can end the check early.
    fn matched(&self, command: &ResolvedCommand, base: &PathBase<'_>) -> Option<()> {
        let arguments = command.arguments();
        let after_words = if self.programs.iter().any(|name| name == "git") {
            // `GitCommandLine` knows git's global options.
            let git = GitCommandLine::read(&command.words);
            let (first, rest) = self.words.split_first()?;
            is_one_of(git.subcommand()?, first).then_some(())?;
            arguments_after(git.arguments, rest, false)?
        } else {
            arguments_after(arguments, &self.words, self.is_anywhere)?
        };
        let ends_options = |field: &Field| field.value.literal() == Some("--");
        let options = arguments.split(ends_options).next().unwrap_or_default();
        let mut required = self.with.iter().filter(|with| !with.is_empty());
        let has_required = required.all(|with| has_any(options, with));
        let asks_version = self.words.is_empty() && has_option(options, "--version");
        if !has_required
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
        let operands = after_words.iter().filter(is_operand);
        let any = |is_required: bool, holds: &dyn Fn(&Field) -> bool| {
            !is_required || operands.clone().any(holds)
        };
        let first = operands.clone().next();
        let is_first = self.first.is_empty() || matches(first?, &self.first);
        let location = |field: &Field| Location::of(&field.value, base);
        let on_device = |field: &Field| location(field).is_some_and(|path| path.is_block_device());
        let is_protected = |field: &Field| {
            danger(&field.value, base).is_some_and(|danger| danger != PathDanger::Unknown)
        };
        let is_landmark =
            |field: &Field| location(field).is_some_and(|path| path.is_landmark(base.home));
        let found_worth = |field: &Field, worths: &[PathWorth]| {
            let is_output = field.value.prefix().starts_with("of=");
            let path = &field
                .value
                .without_prefix(usize::from(is_output) * "of=".len());
            let found = worth(path, base).filter(|worth| worths.contains(worth))?;
            let is_created = || command.is_in_created_repository(path);
            (found != PathWorth::Git || !is_created()).then_some(found)
        };
        let has_target_option = has_any(options, &["-t", "--target-directory"]);
        let target = operands.clone().next_back().filter(|_| !has_target_option);
        let sources = operands
            .clone()
            .take_while(|source| target.is_none_or(|target| !std::ptr::eq(*source, target)));
        // True if the target is a copy in the same directory, with a longer name (`x` to `x.bak`).
        let is_kept = |source: &Field, worth: PathWorth| {
            let suffix =
                target.and_then(|target| target.value.prefix().strip_prefix(source.value.prefix()));
            worth != PathWorth::Landmark
                && suffix.is_some_and(|suffix| suffix.len() > 1 && !suffix.starts_with('/'))
        };
        let is_lost = |source: &Field| {
            found_worth(source, &self.from).is_some_and(|worth| !is_kept(source, worth))
        };
        // True if the last source has the target's name: the user installs a new version of it.
        let is_deployed = |target: &Field| {
            let source = sources.clone().last();
            source.is_some_and(|source| {
                file_name(&source.value).starts_with(file_name(&target.value))
            })
        };
        let is_replaced =
            |target: &Field| found_worth(target, &self.onto).is_some() && !is_deployed(target);
        let holds = is_first
            && any(!self.operands.is_empty(), &|field| {
                matches(field, &self.operands)
            })
            && any(!self.worths.is_empty(), &|field| {
                found_worth(field, &self.worths).is_some()
            })
            && (self.from.is_empty() || sources.clone().any(is_lost))
            && (self.onto.is_empty() || target.is_some_and(is_replaced))
            && any(self.is_computed, &|field| {
                !command.may_never_run && is_output(field, command)
            })
            && any(self.is_on_device, &on_device)
            && any(self.is_on_protected, &is_protected)
            && (!self.is_emptied || first.is_none() && reads_nothing(command))
            && (!self.is_into_landmark || operands.clone().next_back().is_some_and(is_landmark));
        holds.then_some(())
    }
}

/// Returns the name at the end of a path.
fn file_name(path: &Value) -> &str {
    path.prefix().rsplit('/').next().unwrap_or_default()
}

/// True if standard input is known to be empty.
fn reads_nothing(command: &ResolvedCommand) -> bool {
    let text = command.stdin.as_deref().and_then(Value::literal);
    text.is_some_and(|text| text.trim().is_empty())
}

/// True if an operand is the output of a command, which may be any number of names.
fn is_output(field: &Field, command: &ResolvedCommand) -> bool {
    let value = &field.value;
    let by_xargs = command
        .started_by
        .last()
        .is_some_and(|program| program == "xargs");
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

/// True if a word is one of `a|b|c`, in which `*` stands for any text.
pub(super) fn is_one_of(word: &str, alternatives: &str) -> bool {
    alternatives.split('|').any(|alternative| {
        alternative == word || alternative.contains('*') && pattern::matches(alternative, word)
    })
}

/// Returns the arguments after these subcommands; `None` if the command has other subcommands.
/// Options may stand between the subcommands, and a word after an option may be the option's value.
/// With `anywhere`, other words may stand between them, too. A pattern then matches no word after
/// an option: `aws lambda invoke --function-name delete-user`.
fn arguments_after<'f>(
    arguments: &'f [Field],
    words: &[String],
    anywhere: bool,
) -> Option<&'f [Field]> {
    let mut wanted = words.iter();
    let Some(mut next) = wanted.next() else {
        return Some(arguments);
    };
    let mut after_option = false;
    for (index, field) in arguments.iter().enumerate() {
        let text = field.value.prefix();
        // A pattern is not compared with a word that is probably the value of an option.
        let is_value = after_option && anywhere && next.contains('*');
        if field
            .value
            .literal()
            .is_some_and(|text| !is_value && !text.starts_with('-') && is_one_of(text, next))
        {
            after_option = false;
            match wanted.next() {
                Some(word) => next = word,
                None => return arguments.get(index + 1..),
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
    fn action_is_recognised_by_subcommands_options_and_operands() {
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
                initial_cwd: "/w",
                home: None,
                host: &crate::syntax::CommandHost::Local,
            };
            let mut tools = script
                .commands
                .iter()
                .filter(|command| command.name() == Some("tool"));
            let is_done = tools.any(|command| action.is_performed_by(command, &base));
            assert_eq!(is_done, expect, "{row}: {text}");
        }
    }
}
