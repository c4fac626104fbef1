//! A command that is a path: whether it is there is looked up elsewhere, as a file system may be slow.

use super::Prompt;
use super::prompt_memory::{Program, is_plain};
use crate::aliases::is_word;
use agent_bash_render::syntax::tokens::{TokenKind, Tokens};

/// Longer texts are not looked through.
const MOST: usize = 16 << 10;

impl Prompt {
    /// The command to be looked up, if it is another one than the last time, or `again`. Only the first one of a line is: what runs
    /// before others may make them, or go elsewhere.
    pub(crate) fn wanted_path(&mut self, again: bool) -> Option<String> {
        let text = self.text();
        let path = first_path(text.trim_start_matches('!'));
        let is_same = self.program.as_ref().map(|program| &program.path) == path.as_ref();
        if is_same && !again {
            return None;
        }
        // Looked up again, it is what it was until that is known.
        if !is_same {
            self.program = path.clone().map(|path| Program {
                path,
                is_there: None,
            });
        }
        path
    }

    /// It was looked up. Returns what is to be looked up by now instead.
    pub(crate) fn looked_up(&mut self, path: &str, is_there: bool) -> Option<String> {
        let program = self.program.as_mut()?;
        if program.path == path {
            program.is_there = Some(is_there);
            return None;
        }
        program.is_there.is_none().then(|| program.path.clone())
    }

    /// Whether it is known that no such command is there.
    pub(super) fn is_missing(&self, path: &str) -> bool {
        let program = self.program.as_ref();
        program.is_some_and(|program| program.path == path && program.is_there == Some(false))
    }
}

/// The first command of a line, if it is a path that means the same to bash as to us.
fn first_path(text: &str) -> Option<String> {
    if text.len() > MOST || !text.contains('/') {
        return None;
    }
    let tokens = Tokens::of(text).tokens;
    let mut commands = tokens.iter().enumerate();
    let (at, first) = commands.find(|(_, token)| token.kind == TokenKind::Command)?;
    let path = &text[first.span.start..first.span.end];
    let rest = path.strip_prefix("~/").unwrap_or(path);
    let is_plain = rest.chars().all(|c| is_plain(c) || c == '/');
    (is_word(&tokens, at) && is_plain && path.contains('/')).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_render::Theme;

    #[test]
    fn only_the_first_command_of_a_line_is_looked_up() {
        for (text, want) in [
            ("./run.sh a/b", Some("./run.sh")),
            ("x=1 /bin/ls", Some("/bin/ls")),
            ("if ~/bin/x; then", Some("~/bin/x")),
            ("./a|./b", Some("./a")),
            ("make && ./a", None),
            ("cat a/b", None),
            ("./a\"b\"", None),
            ("./a\\ b", None),
            ("$x/b", None),
            ("./$x", None),
            ("./a*", None),
        ] {
            assert_eq!(first_path(text).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn it_is_missing_once_that_is_known() {
        let mut prompt = Prompt::new(&Theme::plain());
        prompt.paste("!./a");
        assert_eq!(prompt.wanted_path(false).as_deref(), Some("./a"));
        assert_eq!(prompt.wanted_path(false), None);
        prompt.paste("b");
        assert_eq!(prompt.wanted_path(false).as_deref(), Some("./ab"));
        // The answer for what was typed before.
        assert_eq!(prompt.looked_up("./a", false).as_deref(), Some("./ab"));
        assert!(!prompt.is_missing("./ab"));
        assert_eq!(prompt.looked_up("./ab", false), None);
        assert!(prompt.is_missing("./ab") && !prompt.is_missing("./a"));
        // A command that has ended may have made it.
        assert_eq!(prompt.wanted_path(true).as_deref(), Some("./ab"));
        assert!(prompt.is_missing("./ab"));
        prompt.looked_up("./ab", true);
        assert!(!prompt.is_missing("./ab"));
        prompt.clear();
        assert_eq!(prompt.wanted_path(true), None);
    }
}
