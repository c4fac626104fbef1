//! The path that an expression of another language builds.

use super::tokens::{Token, is_name};

/// True if the token at `index` ends an expression for the home directory: `environ["HOME"]`,
/// `$ENV{HOME}`, `process.env.HOME`, `Dir.home`, `homedir()`.
pub(super) fn is_home(tokens: &[Token], index: usize) -> bool {
    let token_before = |distance: usize| {
        let index = index.checked_sub(distance)?;
        tokens.get(index)
    };
    let has_owner = |names: &[&str]| {
        [token_before(1), token_before(2)]
            .into_iter()
            .flatten()
            .any(|token| is_name(token, names))
    };
    match tokens.get(index) {
        Some(Token::Text(text) | Token::Name(text)) if text == "HOME" => {
            has_owner(&["environ", "getenv", "ENV", "env", "get"])
        }
        Some(Token::Name(name)) if matches!(name.as_str(), "home" | "homedir") => {
            tokens.get(index + 1) == Some(&Token::Mark('(')) || has_owner(&["Dir"])
        }
        _ => false,
    }
}

/// Returns the path that an expression builds; `None` if it contains unknown values.
pub(super) fn built_path(expression: &[Token]) -> Option<String> {
    let name = |index: Option<usize>| match index.and_then(|index| expression.get(index)) {
        Some(Token::Name(name)) => name.as_str(),
        _ => "",
    };
    let mut pieces: Vec<&str> = Vec::new();
    for (index, token) in expression.iter().enumerate() {
        // `environ["X"]`, `require("os")`; `Dir.pwd`
        let owners = [name(index.checked_sub(1)), name(index.checked_sub(2))];
        let has_owner = |names: &[&str]| owners.iter().any(|owner| names.contains(owner));
        let next = expression.get(index + 1);
        let is_called = next == Some(&Token::Mark('('));
        let is_module_or_function =
            is_called || matches!(next, Some(Token::Mark('.' | '[' | '{' | ':')));
        match token {
            _ if is_home(expression, index) => pieces.push("~"),
            Token::Text(_) if has_owner(&["environ", "getenv", "ENV", "env", "get"]) => {
                return None;
            }
            Token::Text(_) if has_owner(&["require", "__import__", "import_module"]) => {}
            Token::Text(text) => pieces.push(text),
            Token::Name(name) => match name.as_str() {
                "HOME" => pieces.push("~"),
                "cwd" | "getcwd" | "pwd" if is_called || has_owner(&["Dir"]) => pieces.push("."),
                "sep" => pieces.push("/"),
                // Keywords, and names that are not part of the path.
                "True" | "False" | "true" | "false" | "for" | "in" | "if" | "env" => {}
                _ if is_module_or_function => {}
                _ => return None,
            },
            Token::Interpolated(_) => return None,
            Token::Mark(_) => {}
        }
    }
    (!pieces.is_empty()).then(|| pieces.join("/"))
}
