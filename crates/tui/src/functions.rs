//! The functions of the prompt's shell that only run programs: their bodies decide whether a line
//! needs a terminal. Other functions change their shell; a shell started for one call would lose
//! that change.

use agent_bash::core::words;
use agent_bash::policy::Script;
use agent_bash_render::syntax::Parsed;
use agent_bash_render::syntax::ast::{Command, CompoundKind, List, ListEntry, WordPart};
use agent_bash_render::syntax::tokens::{TokenKind, Tokens};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum length of an examined function in bytes.
const MAX_FUNCTION_BYTES: usize = 16 << 10;

/// Commands that change the shell.
const SHELL_CHANGING_COMMANDS: &[&str] = words![
    ". alias cd declare enable eval exec exit export getopts hash mapfile popd pushd read",
    "readarray readonly set shopt source trap typeset unalias unset",
];

/// Functions with their text; `None` for functions that do more than run programs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Functions {
    known: BTreeMap<String, Option<String>>,
    /// Functions of the configuration, which every shell has.
    configured: BTreeMap<String, Option<String>>,
}

impl Functions {
    /// Reads the functions that a text defines.
    pub(crate) fn read(text: &str) -> Self {
        let known: BTreeMap<_, _> = defined_functions(&Parsed::read(text)).collect();
        Self {
            configured: known.clone(),
            known,
        }
    }

    /// Adds the functions of the user's configuration. Functions typed meanwhile take precedence.
    pub(crate) fn add_configured(&mut self, functions: Self) {
        self.configured = functions.configured;
        for (name, text) in functions.known {
            self.known.entry(name).or_insert(text);
        }
    }

    /// Drops the typed functions, because the shell was replaced.
    pub(crate) fn forget_typed(&mut self) {
        self.known.clone_from(&self.configured);
    }

    /// Adds the functions that a script defines in the shell that runs it, and drops those that the
    /// script removes.
    pub(crate) fn apply_script(&mut self, script: &Script<'_>) {
        self.known.extend(defined_functions(&script.parsed));
        let commands = script.commands.iter();
        for ran in commands.filter(|ran| !ran.may_never_run && ran.started_by.is_empty()) {
            if ran.name() == Some("unset") {
                let words = ran.arguments().iter();
                for name in words.filter_map(|word| word.value.literal()) {
                    self.known.remove(name);
                }
            }
        }
    }

    /// Returns true if a script may change functions, aliases or options.
    pub(crate) fn may_change(&self, script: &Script<'_>) -> bool {
        const SHELL_WORDS: [&str; 9] = [
            ".", "alias", "enable", "eval", "set", "shopt", "source", "unalias", "unset",
        ];
        let may = |name: &str| SHELL_WORDS.contains(&name) || self.known.contains_key(name);
        let mut names = script.commands.iter().filter_map(|ran| ran.name());
        let text = script.parsed.text;
        let mut words = text.split_whitespace();
        script.over_limit
            || text.contains("()")
            || names.any(may)
            || words.any(|word| word == "function")
    }

    /// Prefixes a line with the definitions of the functions that it calls.
    pub(crate) fn with_definitions<'t>(&self, line: &'t str) -> Cow<'t, str> {
        let mut out = String::new();
        let mut seen = BTreeSet::new();
        let mut names = called_commands(line);
        while let Some(name) = names.pop() {
            let Some(text) = self.known.get(&name) else {
                continue;
            };
            if !seen.insert(name) {
                continue;
            }
            let Some(text) = text
                .as_ref()
                .filter(|text| out.len() + text.len() < MAX_FUNCTION_BYTES)
            else {
                return Cow::Borrowed(line);
            };
            names.extend(called_commands(text));
            out.push_str(text);
            out.push('\n');
        }
        if out.is_empty() {
            return Cow::Borrowed(line);
        }
        out.push_str(line);
        Cow::Owned(out)
    }
}

/// The functions that a script defines for later commands.
fn defined_functions(parsed: &Parsed<'_>) -> impl Iterator<Item = (String, Option<String>)> {
    let alone = |entry: &&ListEntry| !entry.background;
    let entries = parsed.list.entries.iter().filter(alone);
    entries.filter_map(|entry| match &entry.stages[..] {
        [Command::Compound(compound)] => match &compound.kind {
            CompoundKind::Function { name, body } => {
                let span = compound.span;
                let text = parsed.text.get(span.start..span.end);
                let text = text.filter(|text| text.len() < MAX_FUNCTION_BYTES && is_plain(body));
                Some((name.clone(), text.map(str::to_owned)))
            }
            _ => None,
        },
        _ => None,
    })
}

/// Returns true if a body only runs programs, each unconditionally or only if those before it
/// succeed.
fn is_plain(body: &Command) -> bool {
    let Command::Compound(compound) = body else {
        return false;
    };
    let list: &List = match &compound.kind {
        CompoundKind::Group(list) => list,
        _ => return false,
    };
    let runs = |command: &Command| match command {
        Command::Simple(simple) => match simple.words.first().map(|word| &word.parts[..]) {
            Some([WordPart::Bare(name)]) => !SHELL_CHANGING_COMMANDS.contains(&name.as_str()),
            _ => false,
        },
        Command::Compound(_) => false,
    };
    let mut entries = list.entries.iter();
    compound.redirs.is_empty()
        && entries.all(|entry| !entry.background && entry.stages.iter().all(runs))
}

/// The command words of a text.
fn called_commands(text: &str) -> Vec<String> {
    let tokens = Tokens::of(text).tokens;
    let commands = tokens
        .iter()
        .filter(|token| token.kind == TokenKind::Command);
    let words = commands.map(|token| text[token.span.start..token.span.end].to_owned());
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash::policy::{Context, needed_terminal};

    fn typed(functions: &mut Functions, line: &str) {
        let context = Context::new("/work");
        functions.apply_script(&Script::read(line, &context));
    }

    #[test]
    fn line_gets_a_terminal_for_programs_in_its_functions() {
        let mut functions = Functions::default();
        for line in [
            "e() { vim \"$@\"; }; function p { python3 \"$@\"; }; ls",
            "g() { echo x && e \"$1\"; }",
            "deep() { if x; then vim; fi; }",
            "moves() { cd /tmp && vim; }; sets() { x=1; vim; }; with() { sets; vim; }",
            "w() { vim; } > log",
            "own() { own; vim; }",
        ] {
            typed(&mut functions, line);
        }
        let wants = |functions: &Functions, line: &str| {
            let context = Context::new("/work");
            let line = functions.with_definitions(line);
            let wants = needed_terminal(&Script::read(&line, &context));
            wants.map(|wants| wants.program)
        };
        for (line, wanted) in [
            ("e a.rs", Some("vim")),
            ("true && g a", Some("vim")),
            ("p", Some("python3")),
            ("own", Some("vim")),
            ("p a.py", None),
            ("ls | p", None),
            ("echo e", None),
            ("deep", None),
            ("moves", None),
            ("sets", None),
            ("with", None),
            ("w", None),
        ] {
            assert_eq!(wants(&functions, line).as_deref(), wanted, "{line}");
        }
        // The configuration does not replace typed functions.
        let own = "e() { cat a; }\nof_rc () \n{ \n    vim -R \"$@\"\n}\n";
        functions.add_configured(Functions::read(own));
        assert_eq!(wants(&functions, "e").as_deref(), Some("vim"));
        assert_eq!(wants(&functions, "of_rc a").as_deref(), Some("vim"));
        typed(&mut functions, "unset -f of_rc; e() { cat a; }");
        assert_eq!(wants(&functions, "e; of_rc"), None);
        // A new shell has only the configured functions.
        functions.forget_typed();
        assert_eq!(wants(&functions, "of_rc a; own").as_deref(), Some("vim"));
        assert_eq!(wants(&functions, "own"), None);
    }

    #[test]
    fn scripts_that_may_change_definitions_are_recognized() {
        let mut functions = Functions::default();
        typed(&mut functions, "f() { ls; }");
        for (line, want) in [
            ("ls | wc", false),
            ("cd /tmp; x=1", false),
            ("alias v=vim", true),
            ("shopt -s extglob", true),
            (". ./env", true),
            ("f() { ls; }", true),
            ("if x; then function g { ls; }; fi", true),
            ("f", true),
        ] {
            let context = Context::new("/work");
            let script = Script::read(line, &context);
            assert_eq!(functions.may_change(&script), want, "{line}");
        }
    }
}
