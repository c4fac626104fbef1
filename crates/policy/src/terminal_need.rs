//! Finds commands that need a terminal: editors, pagers, interpreters without a script, programs
//! that ask for a password.

mod table;

use agent_bash_syntax::Script;
use agent_bash_syntax::ast::{Command, Link};
use agent_bash_syntax::git::GitCommandLine;
use agent_bash_syntax::run::{Field, ResolvedCommand};
use table::{PROGRAM_FORMS, ProgramForm, TerminalUse};

/// The terminal that a script needs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TerminalNeed {
    /// The program.
    pub program: String,
    /// True if the script draws on the whole screen.
    pub draws: bool,
}

/// Programs that run their command on another terminal, or without a terminal.
const REMOTE_RUNNERS: [&str; 6] = ["ssh", "docker", "podman", "kubectl", "tmux", "screen"];

/// Programs in which the user types commands.
const INTERACTIVE_PROGRAMS: [&str; 12] = [
    "bash", "dash", "fish", "ksh", "nu", "pwsh", "screen", "script", "sh", "tmux", "zellij", "zsh",
];

/// Options with which a program only prints its version or help.
const INFO_OPTIONS: [&str; 2] = ["--version", "--help"];

/// Returns the first command that draws on the screen, or else the first command that needs a
/// terminal. `None` if no command needs a terminal.
pub fn needed_terminal(script: &Script<'_>) -> Option<TerminalNeed> {
    let mut needs = run_here(script).filter_map(|command| {
        Some(TerminalNeed {
            draws: wanted_by(command, script)? == TerminalUse::Screen,
            program: command.name()?.to_owned(),
        })
    });
    let first = needs.next()?;
    let drawing = needs.find(|need| need.draws && !first.draws);
    Some(drawing.unwrap_or(first))
}

/// Returns the first command of a script that opens an interactive shell, or a terminal
/// multiplexer.
pub(crate) fn opens_shell(script: &Script<'_>) -> Option<&'static str> {
    let mut here = run_here(script).filter(|command| wanted_by(command, script).is_some());
    here.find_map(|command| {
        let mut shells = INTERACTIVE_PROGRAMS.into_iter();
        shells.find(|shell| command.name() == Some(shell))
    })
}

/// True if the user reads the output of the script's last command from its beginning: git would
/// show that output in a pager.
pub fn reads_from_top(script: &Script<'_>) -> bool {
    const PAGED_SUBCOMMANDS: [&str; 9] = [
        "blame", "diff", "grep", "help", "log", "reflog", "shortlog", "show", "whatchanged",
    ];
    let last = run_here(script)
        .next_back()
        .filter(|command| command.name() == Some("git") && !prints_elsewhere(command));
    let is_paged = |git: GitCommandLine<'_>| match git.subcommand() {
        Some("stash") => {
            git.arguments.first().and_then(|word| word.value.literal()) == Some("list")
        }
        Some(subcommand) => PAGED_SUBCOMMANDS.contains(&subcommand),
        None => false,
    };
    last.is_some_and(|command| is_paged(GitCommandLine::read(&command.words)))
}

/// Returns the first command that a script puts into the background with `&`, as written.
pub fn in_background<'t>(script: &Script<'t>) -> Option<&'t str> {
    let span = |command: &Command| match command {
        Command::Simple(simple) => simple.span,
        Command::Compound(compound) => compound.span,
    };
    let mut entries = script.parsed.list.entries.iter();
    let first = entries.find(|entry| entry.background)?;
    let start = first.stages.first().map(span)?.start;
    // The list `a && b &` runs in the background as a whole.
    let rest = entries.take_while(|entry| entry.link != Link::Next && entry.background);
    let last = rest.last().unwrap_or(first);
    let end = last.stages.last().map(span)?.end;
    script.parsed.text.get(start..end)
}

/// True if a command of the script changes the directory of the shell.
pub fn changes_directory(script: &Script<'_>) -> bool {
    const DIRECTORY_COMMANDS: [&str; 3] = ["cd", "pushd", "popd"];
    let mut commands = script.commands.iter();
    commands.any(|command| {
        let is_here = !command.may_never_run && command.started_by.is_empty();
        let mut names = DIRECTORY_COMMANDS.iter();
        is_here && names.any(|name| command.name() == Some(*name))
    })
}

/// Returns the commands that run on the terminal of the script.
fn run_here<'s>(script: &'s Script<'_>) -> impl DoubleEndedIterator<Item = &'s ResolvedCommand> {
    let is_elsewhere = |outer: &String| REMOTE_RUNNERS.contains(&outer.as_str());
    script.commands.iter().filter(move |command| {
        let mut started_by = command.started_by.iter();
        !command.may_never_run && !command.is_function && !started_by.any(is_elsewhere)
    })
}

/// Returns how a command uses the terminal; `None` if it needs no terminal.
fn wanted_by(command: &ResolvedCommand, script: &Script<'_>) -> Option<TerminalUse> {
    let name = command.name()?;
    let words = command.arguments();
    if words.iter().any(|word| is_one_of(word, &INFO_OPTIONS)) {
        return None;
    }
    let mut forms = PROGRAM_FORMS.rows_of(name);
    let form = forms.find(|form| form.is_met_by(name, command))?;
    let is_met = match form.wants {
        TerminalUse::Screen => !prints_elsewhere(command),
        TerminalUse::Lines => !reads_elsewhere(command),
        // A redirection around several commands may apply to each of these commands.
        TerminalUse::Answer => !reads_elsewhere(command) && !script.parsed.text.contains('<'),
        // A filter in `>( … )` reads from a pipe.
        TerminalUse::Text => {
            let text = script.parsed.text;
            !reads_elsewhere(command) && !text.contains('<') && !text.contains(">(")
        }
        TerminalUse::Terminal => true,
    };
    is_met.then_some(form.wants)
}

impl ProgramForm {
    /// True if a command of the program `name` has this form.
    fn is_met_by(&self, name: &str, command: &ResolvedCommand) -> bool {
        let git;
        let (verb, words) = if name == "git" {
            git = GitCommandLine::read(&command.words);
            (git.subcommand(), git.arguments)
        } else if self.verbs.is_empty() {
            (None, command.arguments())
        } else {
            let words = command.arguments();
            let first = words
                .iter()
                .find(|word| !word.value.prefix().starts_with('-'));
            (first.and_then(|word| word.value.literal()), words)
        };
        if !self.verbs.is_empty() && !verb.is_some_and(|verb| self.verbs.contains(&verb)) {
            return false;
        }
        let mut operands = 0;
        let (mut has_wanted, mut lacks_unwanted) = (self.with.is_empty(), true);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let text = word.value.prefix();
            if text == "--" {
                operands += words.len();
                break;
            }
            if text.len() < 2 || !text.starts_with('-') {
                operands += 1;
                continue;
            }
            has_wanted |= is_one_of(word, &self.with);
            lacks_unwanted &= !is_one_of(word, &self.without);
            // The value of an option is the next word, unless it is in the same word.
            let last = text.chars().next_back();
            if !text.starts_with("--") && last.is_some_and(|last| self.valued.contains(last)) {
                words.next();
            }
        }
        has_wanted && lacks_unwanted && operands <= self.operands
    }
}

/// True if a word is one of these options. An option of one letter may be in a cluster (`-xzf`).
fn is_one_of(word: &Field, options: &[&str]) -> bool {
    let text = word.value.prefix();
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    let cluster = text.strip_prefix('-').unwrap_or_default();
    options.iter().any(|option| match option.strip_prefix('-') {
        Some(letter) if letter.len() == 1 => !cluster.starts_with('-') && cluster.contains(letter),
        _ => name == *option,
    })
}

/// True if the command's output goes to another program or a file.
fn prints_elsewhere(command: &ResolvedCommand) -> bool {
    let mut redirections = command.redirections.iter();
    command.output_is_used
        || redirections
            .any(|redirection| redirection.writes() && redirection.fd.is_none_or(|fd| fd == 1))
}

/// True if the command reads from another program or a file.
fn reads_elsewhere(command: &ResolvedCommand) -> bool {
    let mut redirections = command.redirections.iter();
    let is_input = |operator: &str| operator.starts_with('<');
    command.reads_pipe
        || command.stdin.is_some()
        || redirections.any(|redirection| {
            is_input(redirection.operator) && redirection.fd.is_none_or(|fd| fd == 0)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_syntax::Context;
    use std::collections::BTreeSet;

    fn wanted(script: &str) -> Option<(String, bool)> {
        let context = Context::new("/w").with_home("/home/u");
        let wants = needed_terminal(&Script::read(script, &context))?;
        Some((wants.program, wants.draws))
    }

    #[test]
    fn background_commands_are_found() {
        let context = Context::new("/w");
        for (script, want) in [
            ("sleep 60 & echo bg > bg.txt", Some("sleep 60")),
            ("make; a | b -c >x & wait", Some("a | b -c >x")),
            ("cd x && make &\necho", Some("cd x && make")),
            (
                "(while :; do date; done) & sleep 1",
                Some("(while :; do date; done)"),
            ),
            ("sleep 1 && echo '&' 2>&1", None),
            ("ls &", Some("ls")),
        ] {
            assert_eq!(
                in_background(&Script::read(script, &context)),
                want,
                "{script}"
            );
        }
    }

    #[test]
    fn commands_that_draw_are_known_and_their_scripted_forms_are_not() {
        for script in [
            "vim", "vim -u NONE a.rs", "cd src && vi a", "sudo vim /etc/hosts", "nano a",
            "less a.log", "seq 500 | less", "man bash", "top", "htop", "watch -n1 date", "tig",
            "lazygit", "git commit", "git commit --amend", "git -C sub commit -a",
            "git rebase -i HEAD~3", "git rebase --continue", "crontab -e", "make menuconfig",
            "/usr/bin/vim x", "f() { vim \"$1\"; }; f x", "EDITOR=vi git commit", "tmux",
            "git tag -a v1", "if true; then vim x; fi",
        ] {
            assert_eq!(wanted(script).map(|it| it.1), Some(true), "{script}");
        }
        for script in [
            "vim --version", "vim -es -c 'wq' a", "less a | cat", "man bash > a", "top -b -n1",
            "git commit -m x", "git commit -am x", "git commit --message=x", "git commit -F msg",
            "git commit --amend --no-edit", "git rebase main", "git log", "echo vim", "# vim",
            "echo 'git commit'", "crontab -l", "make", "tmux ls", "ssh host vim x",
            "docker run image vim x", "vim() { :; }; vim x", "f() { vim; }", "git tag -a v1 -m x",
            "emacs --batch -f x", "which vim",
        ] {
            assert_eq!(wanted(script), None, "{script}");
        }
    }

    #[test]
    fn commands_that_ask_are_known_and_their_scripted_forms_are_not() {
        for script in [
            "python3", "python3 -q", "python3 -i a.py", "node", "psql", "psql -h db -U u name",
            "sqlite3 a.db", "bash", "ssh host", "ssh -p 22 u@host", "ssh -t host make",
            "git add -p", "git stash push -p", "docker run -it image", "docker exec -ti a sh",
            "sudo make install", "passwd", "npm init", "php -a", "read -p 'name? ' name",
            "read -rsp 'Word: ' word", "if read -p 'y? '; then x; fi", "read line",
            "read -r prompt", "read", "while read l; do x $l; done", "rm -i a", "rm -ri a",
            "cp -i a b", "mv -vi a b", "ln -si a b", "for f in *; do rm -i x; done",
            "sudo -n rm -i a", "python3 -m pdb a.py", "cat > notes", "cat >> notes", "sort -u",
            "tee a b", "cat | wc -l", "cat | sort > y", "cat | python3 -m json.tool",
            "(sort; echo) | cat", "cat; ls | wc", "tee a | grep x", "ls | wc; cat",
            "f() { python3 \"$@\"; }; f", "f() { cat; }; f | wc",
        ] {
            assert_eq!(wanted(script).map(|it| it.1), Some(false), "{script}");
        }
        for script in [
            "python3 a.py", "python3 -c 'print(1)'", "python3 -m http.server", "python3 < a.py",
            "echo 1 | python3", "python3 <<< 1", "{ python3; } <<< 1", "python3 - <<E\n1\nE",
            "node a.js", "node -e 1", "psql -c 'select 1'", "sqlite3 a.db 'select 1'", "bash a.sh",
            "bash -c ls", "curl x | bash", "ssh host make", "ssh -N host", "yes | git add -p",
            "git add .", "docker run image", "sudo -n make install", "npm init -y", "php a.php",
            "yes | read -p '> ' x", "read -p '> ' x < a", "while read p; do x; done < a",
            "x | while read p; do x; done", "read x < a", "read x <<< 1", "read -d '' x <<E\n1\nE",
            "read -u 3 x", "exec < a; read x", "{ read a; read b; } < x", "f() { read x; }; f < a",
            "f() { read x; }", "while x; do rm -i; done <a", "x | while y; do rm -i; done",
            "yes | rm -i a", "ls | xargs rm -i", "rm -i a < /dev/null", "rm -f i", "rm -- -i",
            "rm a", "cp -r a b", "echo read", "mapfile lines", "python3 a.py -m pdb", "cat a",
            "cat <<E > a\n1\nE", "echo x | cat", "{ cat; } < a", "f() { cat; }; x | f", "sort a",
            "x | tee a", "cat < a", "x=$(cat < a)", "ls | { cat; }", "ls | (sort | wc)",
            "cat a | wc", "ls > >(cat)", "seq 3 | tee >(wc)", "ls | while x; do cat; done",
            "ls | xargs cat", "f() { python3 \"$@\"; }; f a",
        ] {
            assert_eq!(wanted(script), None, "{script}");
        }
    }

    #[test]
    fn directory_changes_of_the_shell_are_found() {
        let context = Context::new("/w");
        for (script, expected) in [
            ("cd src", true),
            ("cd src && make", true),
            ("pushd a", true),
            ("make -C src", false),
            ("echo cd", false),
            ("bash -c 'cd src'", false),
            ("f() { cd x; }", false),
        ] {
            let read = Script::read(script, &context);
            assert_eq!(changes_directory(&read), expected, "{script}");
        }
    }

    #[test]
    fn output_that_git_would_page_is_shown_from_its_start() {
        let context = Context::new("/w");
        for (script, expected) in [
            ("git log", true),
            ("git -C x log --oneline -p", true),
            ("cd x && git diff HEAD~1", true),
            ("git stash list", true),
            ("git stash", false),
            ("git log | cat", false),
            ("git log > x", false),
            ("git log; make", false),
            ("git status", false),
            ("echo git log", false),
        ] {
            let read = Script::read(script, &context);
            assert_eq!(reads_from_top(&read), expected, "{script}");
        }
    }

    /// True if a row may have this field. The table takes an unknown field for another one.
    fn is_valid_field(field: &str) -> bool {
        let (key, value) = field.split_once(' ').unwrap_or_default();
        let has_words = value.split(' ').all(|word| !word.is_empty());
        has_words
            && match key {
                "verbs" | "with" | "without" => true,
                "valued" => value.bytes().all(|letter| letter.is_ascii_alphanumeric()),
                "operands" => value.parse::<usize>().is_ok(),
                // `screen` is the default, and not written.
                "uses" => ["lines", "answer", "text", "terminal"].contains(&value),
                _ => false,
            }
    }

    #[test]
    fn invalid_fields_are_found() {
        for field in [
            "uses", "uses line", "uses screen", "operands many", "valued L f", "without -a  -b",
            "wants lines",
        ] {
            assert!(!is_valid_field(field), "{field}");
        }
    }

    #[test]
    fn every_row_has_known_keys_and_is_reached() {
        let rows = include_str!("terminal_need/programs.conf").lines();
        let mut seen = BTreeSet::new();
        for row in rows.filter(|row| !row.is_empty() && !row.starts_with('#')) {
            let mut fields = row.split(" ; ");
            let names = fields.next().unwrap_or_default();
            assert!(fields.all(is_valid_field), "{row}");
            // Two rows of a program differ in more than what they want.
            let form = ProgramForm::from_row(row);
            for name in names.split(' ') {
                let key = (name, form.verbs.clone(), form.with.clone(), form.operands);
                assert!(seen.insert(key), "{name} is there twice: {row}");
            }
        }
        assert!(seen.len() > 100);
    }
}
