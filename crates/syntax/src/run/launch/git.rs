//! Commands that git starts: aliases, `bisect run`, `submodule foreach`, `rebase --exec`, filters.

use std::rc::Rc;

use super::super::super::git::{GitArgument, GitCommandLine, GitOptionTable};
use super::super::super::predefined::DefinitionKind;
use super::super::super::state::ShellState;
use super::super::super::value::Value;
use super::super::call::Call;
use super::super::expand::join;
use super::super::{Walker, directory};

impl Walker<'_> {
    /// Follows the commands that git runs: `!` aliases, `bisect run`, `submodule foreach`, `rebase
    /// --exec`, `filter-branch`.
    pub(super) fn git(&mut self, call: &Call, shell: &mut ShellState) {
        let git = GitCommandLine::read(&call.words);
        let values: Vec<Value> = git
            .arguments
            .iter()
            .map(|field| field.value.clone())
            .collect();
        // An alias is followed even if it is never called. The words of the alias precede the words
        // of the call.
        let settings = git.config.iter().cloned().chain(git.configures());
        let settings = settings.chain(settings_in_variables(call, shell));
        let is_defined_only = git.subcommand() == Some("config");
        for (name, value) in settings {
            let Some(alias) = name.strip_prefix("alias.") else {
                self.git_setting(&name, &value, shell);
                continue;
            };
            if is_defined_only {
                let text = value.script();
                Rc::make_mut(&mut shell.hashed).insert(format!("git {alias}"), text);
            }
            let text = match value.script().strip_prefix('!') {
                Some(script) => script.to_owned(),
                None if is_defined_only => continue,
                None => format!("git {}", value.script()),
            };
            let call_words = if is_defined_only { &[] } else { &values[..] };
            let words = [&[Value::text(text)], call_words].concat();
            self.script_with(&join(&words, " "), Vec::new(), "git", shell);
        }
        let configured = git.subcommand().filter(|_| !shell.hashed.is_empty());
        let configured =
            configured.and_then(|name| shell.hashed.get(&format!("git {name}")).cloned());
        if let Some(text) = configured {
            let predefined = &self.context.predefined;
            if let Some(name) = git.subcommand()
                && predefined.text(DefinitionKind::GitAlias, name) == Some(text.as_str())
            {
                self.note_used(DefinitionKind::GitAlias, name);
            }
            let text = match text.strip_prefix('!') {
                Some(script) => script.to_owned(),
                None => format!("git {text}"),
            };
            let words = [&[Value::text(text)], &values[..]].concat();
            self.script_with(&join(&words, " "), Vec::new(), "git", shell);
        }
        match (git.subcommand(), values.first().and_then(Value::literal)) {
            (Some("bisect"), Some("run")) => {
                let words = git.arguments[1..].to_vec();
                self.start(&call.with_words(words), "git bisect", shell);
            }
            (Some("submodule"), Some("foreach")) => {
                // The options of `foreach` precede the command.
                let command_start = 1 + values[1..]
                    .iter()
                    .take_while(|value| value.prefix().starts_with('-'))
                    .count();
                let text = join(&values[command_start..], " ");
                self.script_with(&text, Vec::new(), "git submodule", shell);
            }
            (Some("clone"), _) => clone(&git, shell),
            // Without a directory, `git init` may be called in a repository of the user.
            (Some("init"), _) => {
                // A variable may name a repository of the user.
                let named = |value: &&Value| directory::directory_text(value).is_some();
                if let Some(directory) = values.last().filter(named) {
                    directory::mark_repository(directory, shell);
                }
            }
            (Some("rebase" | "filter-branch"), _) => {
                for (index, value) in values.iter().enumerate() {
                    let text = value.prefix();
                    let text = if let Some((_, text)) = text
                        .strip_prefix("--exec")
                        .and_then(|rest| rest.split_once('='))
                    {
                        Value::text(text)
                    } else if matches!(text, "-x" | "--exec") || text.ends_with("-filter") {
                        values.get(index + 1).cloned().unwrap_or_default()
                    } else {
                        continue;
                    };
                    self.script_with(&text, Vec::new(), "git", shell);
                }
            }
            _ => {}
        }
    }
}

/// Maximum number of settings that are read from variables.
const MAX_VARIABLES: usize = 16;

/// Returns the settings of `GIT_CONFIG_KEY_0` and `GIT_CONFIG_VALUE_0`, and so on.
fn settings_in_variables(call: &Call, shell: &ShellState) -> Vec<(String, Value)> {
    let value = |name: &str| {
        let call_value = call.env.iter().find(|(other, _)| other == name);
        call_value.map_or_else(|| shell.literal(name), |(_, value)| value.literal())
    };
    let setting = |index: usize| {
        let name = value(&format!("GIT_CONFIG_KEY_{index}"))?.to_ascii_lowercase();
        Some((
            name,
            Value::text(value(&format!("GIT_CONFIG_VALUE_{index}"))?),
        ))
    };
    (0..MAX_VARIABLES).map_while(setting).collect()
}

/// Options of `git clone` with a separate value.
const CLONE_OPTIONS: GitOptionTable = GitOptionTable {
    valued: "bcjou",
    long: &[
        "branch=", "config=", "depth=", "filter=", "jobs=", "origin=", "reference=", "revision=",
        "separate-git-dir=", "server-option=", "shallow-exclude=", "shallow-since=", "template=",
        "upload-pack=",
    ],
};

/// Records the directory that a `clone` creates, and the repository in it.
fn clone(git: &GitCommandLine<'_>, shell: &mut ShellState) {
    let arguments = CLONE_OPTIONS.read(git.arguments);
    let operands: Vec<&Value> = arguments
        .iter()
        .filter_map(|argument| match argument {
            GitArgument::Operand(field) => Some(&field.value),
            _ => None,
        })
        .collect();
    let directory = match operands.as_slice() {
        [url] => {
            let Some(url) = url.literal() else { return };
            let url = url.trim_end_matches('/').trim_end_matches(".git");
            Value::text(url.rsplit(['/', ':']).next().unwrap_or(url))
        }
        [_, directory] => (*directory).clone(),
        _ => return,
    };
    directory::mark_repository(&directory, shell);
}
