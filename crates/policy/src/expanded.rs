//! The definitions of a shell that a script uses: what its aliases and functions stand for.

use crate::Script;
use crate::syntax::DefinitionKind;
use serde::Serialize;

/// Maximum number of listed definitions.
const MAX_DEFINITIONS: usize = 32;

/// Maximum length of a definition's text in characters; a longer text is cut.
const MAX_TEXT_CHARS: usize = 2_000;

/// A definition that a shell has before the script, and that the script uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExpandedDefinition {
    /// `alias`, `function`, or `git alias` for an alias in git's configuration.
    pub kind: &'static str,
    /// The name.
    pub name: String,
    /// The alias's value, or the function's definition as bash prints it; cut if it is long.
    pub text: String,
}

/// Returns the definitions that a script uses, also those within other definitions.
pub fn expanded_definitions(script: &Script<'_>) -> Vec<ExpandedDefinition> {
    let used = script.used_definitions.iter().take(MAX_DEFINITIONS);
    used.filter_map(|(kind, name)| {
        let text = script.context.predefined.text(*kind, name)?;
        let end = text.char_indices().nth(MAX_TEXT_CHARS);
        let text = match end {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        };
        Some(ExpandedDefinition {
            kind: match kind {
                DefinitionKind::Alias => "alias",
                DefinitionKind::Function => "function",
                DefinitionKind::GitAlias => "git alias",
            },
            name: name.clone(),
            text,
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, Predefined};
    use std::collections::BTreeMap;
    use std::sync::Arc;

    #[test]
    fn expanded_definitions_are_those_that_the_script_uses() {
        let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            let pairs = pairs.iter();
            pairs
                .map(|(name, text)| ((*name).into(), (*text).into()))
                .collect()
        };
        let long = format!("long () \n{{ \n    echo {}\n}}", "x".repeat(3_000));
        let predefined = Predefined {
            aliases: Arc::new(map(&[("g", "git"), ("unused", "rm")])),
            functions: Arc::new(map(&[
                ("deploy", "deploy () \n{ \n    g pf\n}"),
                ("long", &long),
            ])),
            git_aliases: map(&[("pf", "push --force")]),
            expands_aliases: true,
            ..Predefined::default()
        };
        let context = Context::new("/").with_predefined(Arc::new(predefined));
        let names = |script: &str| -> Vec<String> {
            let expanded = expanded_definitions(&Script::read(script, &context));
            let name = |definition: &ExpandedDefinition| {
                format!("{} {}", definition.kind, definition.name)
            };
            expanded.iter().map(name).collect()
        };
        assert_eq!(names("g status; ls"), ["alias g"]);
        assert_eq!(
            names("deploy"),
            ["function deploy", "alias g", "git alias pf"]
        );
        assert!(names("git status; echo unused").is_empty());
        assert!(names("deploy() { ls; }; deploy").is_empty(), "redefined");
        assert!(names("alias g=ls; g").is_empty(), "redefined");
        let cut = expanded_definitions(&Script::read("long", &context));
        assert!(cut[0].text.ends_with('…') && cut[0].text.len() < long.len());
    }
}
