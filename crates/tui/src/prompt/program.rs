//! A command that is a path. Another thread checks whether it exists, because a file system may be
//! slow.

use super::Prompt;
use super::prompt_memory::{LookedUpProgram, is_plain};
use crate::aliases::is_word;
use agent_bash_render::syntax::tokens::{TokenKind, Tokens};

/// Maximum length of an examined text in bytes.
const MAX_TEXT_BYTES: usize = 16 << 10;

impl Prompt {
    /// Returns the command to look up, if it differs from the last one looked up, or if `again` is
    /// set. Only the first command of a line is looked up: it could create later commands, or
    /// change the directory.
    pub(crate) fn wanted_path(&mut self, again: bool) -> Option<String> {
        let text = self.text();
        let path = first_path(text.trim_start_matches('!'));
        let is_same = self.program.as_ref().map(|program| &program.path) == path.as_ref();
        if is_same && !again {
            return None;
        }
        // The old result stays until the new one arrives.
        if !is_same {
            self.program = path.clone().map(|path| LookedUpProgram {
                path,
                is_program: None,
            });
        }
        path
    }

    /// Stores the result of a lookup. Returns the path to look up next, if the typed one has
    /// changed.
    pub(crate) fn looked_up(&mut self, path: &str, is_program: bool) -> Option<String> {
        let program = self.program.as_mut()?;
        if program.path == path {
            program.is_program = Some(is_program);
            return None;
        }
        program.is_program.is_none().then(|| program.path.clone())
    }

    /// True if the command is known not to exist.
    pub(super) fn is_missing(&self, path: &str) -> bool {
        let program = self.program.as_ref();
        program.is_some_and(|program| program.path == path && program.is_program == Some(false))
    }
}

/// The first command of a line, if it is a path that bash would use literally.
fn first_path(text: &str) -> Option<String> {
    if text.len() > MAX_TEXT_BYTES || !text.contains('/') {
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
    fn path_is_missing_only_once_the_lookup_has_failed() {
        let mut prompt = Prompt::new(&Theme::plain());
        prompt.paste("!./a");
        assert_eq!(prompt.wanted_path(false).as_deref(), Some("./a"));
        assert_eq!(prompt.wanted_path(false), None);
        prompt.paste("b");
        assert_eq!(prompt.wanted_path(false).as_deref(), Some("./ab"));
        // The answer for the path typed before.
        assert_eq!(prompt.looked_up("./a", false).as_deref(), Some("./ab"));
        assert!(!prompt.is_missing("./ab"));
        assert_eq!(prompt.looked_up("./ab", false), None);
        assert!(prompt.is_missing("./ab") && !prompt.is_missing("./a"));
        // A command that has ended may have created the file.
        assert_eq!(prompt.wanted_path(true).as_deref(), Some("./ab"));
        assert!(prompt.is_missing("./ab"));
        prompt.looked_up("./ab", true);
        assert!(!prompt.is_missing("./ab"));
        prompt.clear();
        assert_eq!(prompt.wanted_path(true), None);
    }
}
