use super::*;
use clap::CommandFactory;
use clap::error::ErrorKind;
use std::time::Duration;

fn run_args(words: &[&str]) -> Result<RunArgs, ErrorKind> {
    let words = ["agent-bash", "run"].iter().chain(words);
    match Cli::try_parse_from(words) {
        Ok(Cli {
            command: Command::Run(args),
        }) => Ok(args),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.kind()),
    }
}

#[test]
fn definition_of_the_command_line_passes_claps_checks() {
    Cli::command().debug_assert();
}

/// The snapshot shows a change of any help text in review.
#[test]
fn help_texts_equal_their_snapshot() {
    use std::fmt::Write as _;
    let mut texts = String::new();
    let mut program = Cli::command();
    program.build();
    let mut commands = vec![program];
    while let Some(mut command) = commands.pop() {
        let name = command.get_bin_name().unwrap_or("agent-bash").to_owned();
        let help = command.render_long_help();
        writeln!(texts, "==== {name} --help\n{help}").unwrap();
        let mut subcommands: Vec<_> = command.get_subcommands().cloned().collect();
        subcommands.retain(|command| command.get_name() != "help");
        subcommands.sort_by(|a, b| b.get_name().cmp(a.get_name()));
        commands.extend(subcommands);
    }
    insta::assert_snapshot!("help", texts);
}

/// Clap wraps help to a fixed width. A longer line, wrapped by hand, would be wrapped again.
#[test]
fn text_after_the_options_fits_in_100_columns() {
    const MAX_COLUMNS: usize = 100;
    let mut program = Cli::command();
    program.build();
    let mut commands = vec![program];
    while let Some(command) = commands.pop() {
        if let Some(help) = command.get_after_help() {
            let help = help.to_string();
            let name = command.get_name();
            assert!(
                !help.starts_with(' '),
                "{name}: clap removes leading spaces"
            );
            for line in help.lines() {
                assert!(line.chars().count() <= MAX_COLUMNS, "{name}: {line}");
            }
        }
        commands.extend(command.get_subcommands().cloned());
    }
}

#[test]
fn options_are_accepted_before_and_after_the_script() {
    for words in [
        &["--json", "--timeout", "2m", "ls | wc -l"][..],
        &["ls | wc -l", "--json", "--timeout=2m"],
        &["--json", "--timeout", "120", "--", "ls | wc -l"],
    ] {
        let args = run_args(words).unwrap();
        assert_eq!(args.script, ["ls | wc -l"]);
        assert_eq!(
            (args.json, args.timeout),
            (true, Some(Duration::from_secs(120)))
        );
    }
    let words = run_args(&["--", "ls", "-la", "--json"]).unwrap();
    assert_eq!(words.script, ["ls", "-la", "--json"]);
    assert!(!words.json, "after -- every argument is a word");
    assert_eq!(run_args(&["-"]).unwrap().script, ["-"]);
}

#[test]
fn invalid_arguments_are_usage_errors() {
    for (words, kind) in [
        (&[][..], ErrorKind::MissingRequiredArgument),
        (&["--request", "ls"], ErrorKind::ArgumentConflict),
        (
            &["--request", "--timeout", "1"],
            ErrorKind::ArgumentConflict,
        ),
        (&["--timeout", "-1", "ls"], ErrorKind::ValueValidation),
        (&["--timeout=-1", "ls"], ErrorKind::ValueValidation),
        (&["--timeout", "soon", "ls"], ErrorKind::ValueValidation),
        (&["--head", "0", "ls"], ErrorKind::ValueValidation),
        (&["--env", "=x", "ls"], ErrorKind::ValueValidation),
        (&["--env", "NAME", "ls"], ErrorKind::ValueValidation),
        (&["--profile", "other", "ls"], ErrorKind::InvalidValue),
        (&["--state", "../x", "ls"], ErrorKind::ValueValidation),
        (&["--state", "..", "ls"], ErrorKind::ValueValidation),
        (&["--state", "", "ls"], ErrorKind::ValueValidation),
        (&["--state", "journal", "ls"], ErrorKind::ValueValidation),
        (&["ls", "-la"], ErrorKind::UnknownArgument),
    ] {
        assert_eq!(run_args(words).err(), Some(kind), "{words:?}");
    }
}
