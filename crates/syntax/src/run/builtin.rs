//! Builtins that change the shell's state or run text: `cd`, `set`, `eval`, `trap`, `read`, …

use std::rc::Rc;

use super::super::state::{ShellState, VariableValue};
use super::super::value::{UnknownCause, Value};
use super::Walker;
use super::call::Call;
use super::directory::{directory_text, mark_tested, target_of_cd};
use super::expand::join;
use super::path::lexical;
use super::predefined::{define_aliases, remove_aliases, switch_options};
use super::sourced::sourced_files;

/// True for builtins whose arguments are assignments.
pub(super) fn declares(name: &str) -> bool {
    matches!(
        name,
        "declare" | "typeset" | "local" | "export" | "readonly"
    )
}

/// True if a builtin lists what it otherwise sets.
fn lists(name: &str, call: &Call) -> bool {
    let is_setter = matches!(
        name,
        "alias" | "set" | "trap" | "umask" | "ulimit" | "hash" | "shopt"
    );
    (is_setter || declares(name)) && (call.words.len() == 1 || call.literal(1) == Some("-p"))
}

impl Walker<'_> {
    /// Performs a builtin; `None` if `name` is not a builtin that affects the walk.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        call: &Call,
        shell: &mut ShellState,
    ) -> Option<Value> {
        match name {
            "cd" | "chdir" => Self::cd(call, shell),
            "pushd" => {
                let current = shell.cwd.clone();
                Rc::make_mut(&mut shell.pushed).push(current);
                Self::cd(call, shell);
            }
            "popd" => {
                let cwd = Rc::make_mut(&mut shell.pushed).pop().flatten();
                shell.change_directory(cwd);
            }
            "declare" | "typeset" | "local" | "export" | "readonly" => self.declare(call, shell),
            "unset" => {
                self.subscripts(&call.values(1), shell);
                for value in call.values(1) {
                    if let Some(name) = value.literal() {
                        Rc::make_mut(&mut shell.vars).remove(name);
                    }
                }
            }
            "set" => set(call, shell),
            "shift" => {
                let count = call
                    .literal(1)
                    .map_or(1, |text| text.parse::<usize>().unwrap_or(1));
                if let Some(values) = shell.positional.as_ref() {
                    shell.positional = Some(Rc::new(values.iter().skip(count).cloned().collect()));
                }
            }
            "eval" => {
                let first = 1 + usize::from(call.literal(1) == Some("--"));
                let text = join(&call.values(first), " ");
                self.started_by.push("eval".to_owned());
                let out = self.script(&text, shell);
                self.started_by.pop();
                return Some(out);
            }
            "source" | "." => {
                let (files, arguments) = sourced_files(&call.words);
                let text = files.iter().find_map(|file| Self::file(file, shell))?;
                let outer = shell.positional.clone();
                if !arguments.is_empty() {
                    let values = arguments.iter().map(|field| field.value.clone());
                    shell.positional = Some(Rc::new(values.collect()));
                }
                self.started_by.push("source".to_owned());
                let out = self.script(&text, shell);
                self.started_by.pop();
                if !arguments.is_empty() {
                    shell.positional = outer;
                }
                return Some(out);
            }
            "trap" => self.trap(call, shell),
            "hash" => {
                if let (Some("-p"), Some(path), Some(name)) =
                    (call.literal(1), call.literal(2), call.literal(3))
                {
                    Rc::make_mut(&mut shell.hashed).insert(name.to_owned(), path.to_owned());
                }
            }
            "read" => self.read_builtin(call, shell),
            "mapfile" | "readarray" => {
                self.text_option(call, shell);
                Self::mapfile(call, shell);
            }
            "let" => {
                for value in call.values(1) {
                    self.evaluate_text(&value, shell);
                }
            }
            "test" | "[" | "wait" | "getopts" => {
                self.subscripts(&call.values(1), shell);
                mark_tested(&call.values(1), shell);
            }
            "compgen" | "complete" => self.text_option(call, shell),
            "exit" | "return" | "break" | "continue" => shell.ended = true,
            "alias" => define_aliases(call, shell),
            "unalias" => remove_aliases(call, shell),
            "shopt" => switch_options(call, shell),
            ":" | "true" | "false" | "umask" | "ulimit" | "enable" | "jobs" => {}
            _ => return None,
        }
        Some(if lists(name, call) {
            Value::unknown(UnknownCause::Output)
        } else {
            Value::default()
        })
    }

    fn cd(call: &Call, shell: &mut ShellState) {
        let mut operands = call.values(1);
        operands.retain(|value| {
            !value
                .literal()
                .is_some_and(|text| text.len() > 1 && text.starts_with('-'))
        });
        let target = match operands.first() {
            None => shell.home().map(Rc::from),
            Some(value) if value.literal() == Some("-") => shell.previous.clone(),
            Some(value) => target_of_cd(value, shell),
        };
        if let Some(found) = through_cdpath(call, &operands, shell) {
            let otherwise = target.or_else(|| shell.cwd.clone());
            shell.change_directory(Some(found));
            shell.cwd_if_cd_failed = otherwise;
            return;
        }
        // After a `cd` to an absolute path, the previous directory is irrelevant.
        shell.cwd_if_cd_failed = match (
            shell.cwd_if_cd_failed.take(),
            operands.first().and_then(directory_text),
        ) {
            (Some(directory), Some(path)) if !path.starts_with(['/', '-']) => {
                Some(Rc::from(lexical(&format!("{directory}/{path}"))))
            }
            _ => None,
        };
        shell.change_directory(target);
    }

    /// Performs `declare`, `export` and similar builtins.
    fn declare(&mut self, call: &Call, shell: &mut ShellState) {
        let values = call.values(1);
        self.subscripts(&values, shell);
        let exports = call.literal(0) == Some("export")
            || values.iter().any(|value| {
                let text = value.prefix();
                text.starts_with('-') && text.contains('x')
            });
        let is_nameref = values.iter().any(|value| {
            let text = value.prefix();
            text.starts_with('-') && text.contains('n') && call.literal(0) != Some("export")
        });
        for value in values {
            if is_nameref
                && let Some((name, target)) = value.literal().and_then(|text| text.split_once('='))
            {
                Rc::make_mut(&mut shell.namerefs).insert(name.to_owned(), target.to_owned());
                continue;
            }
            if exports {
                let text = value.prefix();
                let name = text.split('=').next().unwrap_or(text);
                shell.export(name.trim_end_matches('+'));
            }
            // The name may be known even if the value is unknown.
            let prefix = value.prefix();
            let Some(equals) = prefix.find('=') else {
                continue;
            };
            let name = prefix[..equals].trim_end_matches('+').to_owned();
            if matches!(
                shell.var(&name).and_then(|possible| possible.last()),
                Some(VariableValue::Array(_))
            ) {
                continue;
            }
            let mut rest = Value::text(&prefix[equals + 1..]);
            for piece in value.pieces().iter().skip(1) {
                rest.extend(&Value::from(piece.clone()));
            }
            self.set_variable(&name, rest, prefix[..equals].ends_with('+'), false, shell);
        }
    }

    /// Follows subscripts that bash evaluates in arguments: `test -v 'a[$(…)]'`, `read 'a[…]'`,
    /// `unset`.
    pub(super) fn subscripts(&mut self, values: &[Value], shell: &mut ShellState) {
        for value in values {
            if value
                .literal()
                .is_some_and(|text| text.contains('[') && text.contains(['$', '`']))
            {
                self.evaluate_text(value, shell);
            }
        }
    }

    fn read_builtin(&mut self, call: &Call, shell: &mut ShellState) {
        self.subscripts(&call.values(1), shell);
        let mut names = Vec::new();
        let mut array = None;
        let mut words = call.values(1).into_iter();
        while let Some(value) = words.next() {
            let Some(text) = value.literal() else {
                continue;
            };
            let Some(letters) = text.strip_prefix('-') else {
                names.push(text.to_owned());
                continue;
            };
            // The first letter with a value ends the cluster: `-ra name`, `-rp prompt`, `-n1`.
            if let Some(index) = letters.find(['a', 'd', 'i', 'n', 'N', 'p', 't', 'u']) {
                let attached = &letters[index + 1..];
                let value = if attached.is_empty() {
                    words
                        .next()
                        .and_then(|value| value.literal().map(ToOwned::to_owned))
                } else {
                    Some(attached.to_owned())
                };
                if letters[index..].starts_with('a') {
                    array = value;
                }
            }
        }
        let lines = match &shell.stdin {
            Some(text) => text.split(&['\n', '\0']),
            None => vec![Value::unknown(UnknownCause::Input)],
        };
        // `IFS=, read …` applies to this command only.
        let call_ifs = call.env.iter().rfind(|(name, _)| name == "IFS");
        let separators: Vec<char> = match call_ifs {
            Some((_, value)) => value.script().chars().collect(),
            None => Self::separators(shell).chars().collect(),
        };
        let separator = separators.first().unwrap_or(&' ').to_string();
        if let Some(array) = array {
            let fields = lines
                .iter()
                .flat_map(|line| line.split(&separators))
                .collect();
            shell.set(&array, VariableValue::Array(fields));
        }
        if names.is_empty() {
            names.push("REPLY".to_owned());
        }
        let last = names.len() - 1;
        for (index, name) in names.iter().enumerate() {
            let values: Vec<Value> = lines
                .iter()
                .map(|line| {
                    if last == 0 {
                        return trimmed(line);
                    }
                    let fields = line.split(&separators);
                    if index < last {
                        fields.get(index).cloned().unwrap_or_default()
                    } else {
                        join(fields.get(index..).unwrap_or(&[]), &separator)
                    }
                })
                .collect();
            shell.set_any(name, values);
        }
    }

    fn mapfile(call: &Call, shell: &mut ShellState) {
        let name = call
            .words
            .last()
            .and_then(|field| field.value.literal())
            .filter(|text| !text.starts_with('-'));
        let name = if call.words.len() > 1 {
            name.unwrap_or("MAPFILE")
        } else {
            "MAPFILE"
        };
        let values = match &shell.stdin {
            Some(text) => text.split(&['\n', '\0']),
            None => vec![Value::unknown(UnknownCause::Input)],
        };
        shell.set(name, VariableValue::Array(values));
    }

    /// Follows the command of `compgen -C 'command'`, `mapfile -C 'command'` and `complete -C
    /// 'command'`.
    fn text_option(&mut self, call: &Call, shell: &ShellState) {
        for pair in call.values(1).windows(2) {
            if pair[0].literal() == Some("-C") {
                self.script(&pair[1], &mut shell.clone());
            }
        }
    }
}

fn trimmed(line: &Value) -> Value {
    match line.literal() {
        Some(text) => Value::text(text.trim_matches([' ', '\t'])),
        None => line.clone(),
    }
}

/// Performs `set -- a b c`, `set a b c`, and the options that affect the walk.
fn set(call: &Call, shell: &mut ShellState) {
    let values = call.values(1);
    for value in &values {
        let text = value.prefix();
        let has_letter_e = |sign: char| {
            text.strip_prefix(sign)
                .is_some_and(|letters| !letters.starts_with('-') && letters.contains('e'))
        };
        shell.exits_on_error =
            (shell.exits_on_error || has_letter_e('-')) && !has_letter_e('+') || text == "errexit";
    }
    let exports_all = values.iter().any(|value| {
        let text = value.prefix();
        text == "allexport"
            || (text.starts_with('-') && !text.starts_with("--") && text.contains('a'))
    });
    if exports_all {
        shell.export("*");
    }
    let dashes = values
        .iter()
        .position(|value| value.literal() == Some("--"));
    let operands = if let Some(dashes) = dashes {
        &values[dashes + 1..]
    } else {
        let operand = values
            .iter()
            .position(|value| !value.prefix().starts_with(['-', '+']));
        match operand {
            // `set -o name`
            Some(index) if index > 0 && values[index - 1].prefix().ends_with('o') => return,
            Some(index) => &values[index..],
            None => return,
        }
    };
    shell.positional = Some(Rc::new(operands.to_vec()));
}

/// Returns the directory below an entry of `CDPATH` to which `cd` may change; `None` if `cd` does
/// not search `CDPATH`.
fn through_cdpath(call: &Call, operands: &[Value], shell: &ShellState) -> Option<Rc<str>> {
    let path = operands.first()?.literal()?;
    let is_searched = !path.starts_with(['/', '.', '-']) && !path.is_empty();
    let call_cdpath = call.env.iter().find(|(name, _)| name == "CDPATH");
    let list = match call_cdpath {
        Some((_, value)) => value.literal(),
        None => shell.literal("CDPATH"),
    };
    let entry = list?
        .split(':')
        .find(|entry| entry.starts_with('/') && is_searched)?;
    Some(Rc::from(lexical(&format!("{entry}/{path}"))))
}
