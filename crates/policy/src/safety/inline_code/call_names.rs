//! Names of calls that run commands, or list, remove or select files, in other languages than the
//! shell's.

use super::tokens::Token;
use std::collections::HashMap;

/// The effect of a call, by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CallKind {
    /// The call runs a command.
    Runs,
    /// The call removes a tree.
    Removes,
    /// The call removes a tree if an argument is `recursive`.
    RemovesRecursively,
    /// The call lists files. A program that removes each listed file removes a tree.
    Lists,
    /// The call opens a file, or a command that is marked by `|`.
    Opens,
}

/// The known names of calls, without their module.
#[rustfmt::skip]
const CALL_NAMES: [(CallKind, &[&str]); 5] = [
    (
        CallKind::Runs,
        &[
            "system", "popen", "Popen", "popen2", "popen3", "exec", "execl", "execle", "execlp", "execlpe", "execv",
            "execve", "execvp", "execvpe", "execSync", "execFile", "execFileSync", "spawn", "spawnl", "spawnle",
            "spawnlp", "spawnlpe", "spawnv", "spawnve", "spawnvp", "spawnvpe", "spawnSync", "spawn_sync",
            "posix_spawn", "posix_spawnp", "run", "call", "check_call", "check_output", "getoutput",
            "getstatusoutput", "create_subprocess_shell", "create_subprocess_exec", "shell_exec", "passthru",
            "proc_open", "pcntl_exec", "execute", "sh", "command", "Command", "capture2", "capture2e", "capture3",
            "system2", "shell", "cmd", "eval", "os_cmd",
        ],
    ),
    (
        CallKind::Removes,
        &[
            "rmtree", "remove_tree", "rm_rf", "rm_r", "remove_entry_secure", "remove_entry", "remove_dir", "rmSync",
            "rmdirSync", "removeSync", "rimraf", "rimrafSync", "emptyDirSync", "deltree", "RemoveAll",
            "remove_dir_all", "rm",
        ],
    ),
    (
        CallKind::RemovesRecursively,
        &["unlink", "rmdir", "remove", "unlinkSync", "rmfile", "removedirs", "delete"],
    ),
    (
        CallKind::Lists,
        &[
            "walk", "fwalk", "glob", "iglob", "rglob", "iterdir", "listdir", "scandir", "readdir", "readdirSync",
            "globSync", "find", "finddepth", "children", "Glob", "WalkDir", "each_child", "opendir", "entries",
            "each_entry", "foreach", "Dir", "readDirSync", "readDir",
        ],
    ),
    (CallKind::Opens, &["open", "open3", "open2", "pipe"]),
];

/// Returns the effect of a call with this name.
pub(super) fn call_kind(name: &str) -> Option<CallKind> {
    CALL_NAMES
        .iter()
        .find(|(_, names)| names.contains(&name))
        .map(|(kind, _)| *kind)
}

/// Returns the other names that a program gives to calls: `import rmtree as r`, `{execSync: x} =
/// …`, `x = os.system`.
pub(super) fn aliases(tokens: &[Token]) -> HashMap<&str, CallKind> {
    let alias = |index: usize| {
        let Token::Name(name) = &tokens[index] else {
            return None;
        };
        let kind = call_kind(name)?;
        let after = tokens.get(index + 1..).unwrap_or_default();
        let before = tokens.get(..index).unwrap_or_default();
        let is_end = |token: Option<&Token>| {
            matches!(token, None | Some(Token::Mark('\n' | ';' | ',' | '}')))
        };
        // `x = os.system`
        let before_module = match before {
            [rest @ .., Token::Name(_), Token::Mark('.')] => rest,
            before => before,
        };
        let alias = match (before_module, after) {
            (_, [Token::Mark(':'), Token::Name(alias), rest @ ..]) if is_end(rest.first()) => alias,
            (_, [Token::Name(word), Token::Name(alias), ..]) if word == "as" => alias,
            ([.., Token::Name(alias), Token::Mark('=')], rest) if is_end(rest.first()) => alias,
            _ => return None,
        };
        Some((alias.as_str(), kind))
    };
    (0..tokens.len()).filter_map(alias).collect()
}

/// Names of calls that print or count their arguments.
pub(super) const SHOWING_CALLS: [&str; 10] = [
    "print", "puts", "p", "pp", "log", "echo", "say", "len", "print_r", "var_dump",
];

/// Names of calls that list the working directory unless an argument names another directory.
pub(super) const LISTS_CWD: [&str; 2] = ["listdir", "scandir"];

/// Words before a condition.
pub(super) const TEST_WORDS: [&str; 4] = ["if", "unless", "when", "and"];

/// Names of calls that test the kind of a file.
pub(super) const KIND_TESTS: [&str; 11] = [
    "isdir", "isfile", "is_dir", "is_file", "isDirectory", "isFile", "islink", "exists", "file",
    "directory", "existsSync",
];

/// Names of calls and fields that select some of the listed files.
pub(super) const SELECTING_NAMES: [&str; 12] = [
    "endswith", "endsWith", "startswith", "startsWith", "suffix", "fnmatch", "match", "filter",
    "grep", "extname", "includes", "indexOf",
];
