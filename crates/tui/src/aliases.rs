//! The aliases of the prompt's shell, which help to decide whether a line needs a terminal.

use agent_bash::policy::Script;
use agent_bash_render::syntax::tokens::{Token, TokenKind, Tokens};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Aliases and their expansions.
#[derive(Debug, Default)]
pub(crate) struct Aliases {
    known: BTreeMap<String, String>,
}

impl Aliases {
    /// Adds the aliases of the user's configuration. Aliases typed meanwhile take precedence.
    pub(crate) fn add_configured(&mut self, aliases: Vec<(String, String)>) {
        for (name, value) in aliases {
            self.known.entry(name).or_insert(value);
        }
    }

    /// Adds the aliases that a script defines in the shell that runs it, and drops those that the
    /// script removes.
    pub(crate) fn apply_script(&mut self, script: &Script<'_>) {
        let commands = script.commands.iter();
        for ran in commands.filter(|ran| !ran.may_never_run && ran.started_by.is_empty()) {
            let words = ran.arguments();
            let words = words.iter().filter_map(|word| word.value.literal());
            match ran.name() {
                Some("alias") => {
                    let aliases = words.filter_map(|word| word.split_once('='));
                    let aliases = aliases.map(|(name, value)| (name.to_owned(), value.to_owned()));
                    self.known.extend(aliases);
                }
                Some("unalias") => words.for_each(|word| match word {
                    "-a" => self.known.clear(),
                    name => drop(self.known.remove(name)),
                }),
                _ => {}
            }
        }
    }

    /// Expands the aliases in a line once. Aliases inside an expansion are not expanded.
    pub(crate) fn expand<'t>(&self, line: &'t str) -> Cow<'t, str> {
        if self.known.is_empty() {
            return Cow::Borrowed(line);
        }
        let tokens = Tokens::of(line).tokens;
        let mut out = Cow::Borrowed(line);
        for (at, token) in tokens.iter().enumerate().rev() {
            let word = &line[token.span.start..token.span.end];
            let before = at.checked_sub(1).map(|at| &tokens[at]);
            if token.kind != TokenKind::Command
                || !is_word(&tokens, at)
                || before.is_some_and(|before| is_run_by(before, token, line))
            {
                continue;
            }
            if let Some(value) = self.known.get(word) {
                out.to_mut()
                    .replace_range(token.span.start..token.span.end, value);
            }
        }
        out
    }
}

/// True if a token is a whole word: `v`, not `v"x"`.
pub(crate) fn is_word(tokens: &[Token], at: usize) -> bool {
    let is_separate = |other: Option<&Token>| {
        other.is_none_or(|other| {
            let touches =
                other.span.end == tokens[at].span.start || other.span.start == tokens[at].span.end;
            !touches || other.kind == TokenKind::Operator
        })
    };
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    is_separate(before) && is_separate(tokens.get(at + 1))
}

/// True if a program runs the command, as in `sudo v`: bash expands no alias there.
fn is_run_by(before: &Token, token: &Token, line: &str) -> bool {
    let between = &line[before.span.end..token.span.start];
    before.kind == TokenKind::Command && !between.contains('\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash::policy::Context;

    fn aliases(typed: &str) -> Aliases {
        let mut aliases = Aliases::default();
        let context = Context::new("/work");
        aliases.apply_script(&Script::read(typed, &context));
        let configured = [("g", "git"), ("gc", "git commit"), ("v", "never")];
        let configured = configured.map(|(name, value)| (name.to_owned(), value.to_owned()));
        aliases.add_configured(configured.to_vec());
        aliases
    }

    #[test]
    fn only_the_first_word_of_a_command_is_expanded_once() {
        let aliases = aliases("alias v=vim vim='vim -p'; f() { alias x=y; }");
        for (line, want) in [
            ("v a.rs", "vim a.rs"),
            ("gc; v a && x", "git commit; vim a && x"),
            ("A=1 v\ng log", "A=1 vim\ngit log"),
            ("vim v", "vim -p v"),
            ("if v; then :; fi", "if vim; then :; fi"),
            ("echo v; sudo v; \\v", "echo v; sudo v; \\v"),
            ("v'' a; 'v'; v$x; ''v", "v'' a; 'v'; v$x; ''v"),
            ("(v)|v", "(vim)|vim"),
        ] {
            assert_eq!(aliases.expand(line), want, "{line}");
        }
    }

    #[test]
    fn removed_aliases_are_not_expanded() {
        let mut aliases = aliases("alias v=vim");
        let context = Context::new("/work");
        aliases.apply_script(&Script::read("unalias v", &context));
        assert_eq!(aliases.expand("v; g"), "v; git");
        aliases.apply_script(&Script::read("unalias -a", &context));
        assert_eq!(aliases.expand("v; g"), "v; g");
    }
}
