//! The names of files that run, configure or instruct programs outside the sandbox.

use agent_bash_core::words;
use std::ffi::OsStr;
use std::path::Path;

/// The project settings of this program.
pub(super) const PROJECT_SETTINGS: &str = ".agent-bash.toml";

/// The stored files of change sets if the store is on another mount: at the top of a tree, or in
/// its `.git`. A name of `agent-bash-changes`.
pub(super) const CHANGES_IN_TREE: &str = ".agent-bash-changes";

/// Files that an editor, shell, debugger, interpreter or agent loads from its directory. At the top
/// of a writable directory, the sandbox makes these files read-only. Further below, they are
/// compared after the call.
pub(super) const PROTECTED_NAMES: &[&str] = &[
    PROJECT_SETTINGS, ".mcp.json", ".vscode", ".idea", ".claude", ".codex", ".gemini", ".cursor",
    ".opencode", "opencode.json", "opencode.jsonc", ".crush", ".crush.json", "crush.json",
    ".windsurf", ".continue", ".aider.conf.yml", ".aider.model.settings.yml", ".agent", ".agents",
    ".amazonq", ".amp", ".augment", ".cline", ".clinerules", ".codebuddy", ".copilot", ".factory",
    ".goose", ".grok", ".iflow", ".junie", ".kilocode", ".kimi", ".kimi-code", ".kiro", ".letta",
    ".openhands", ".pi", ".qoder", ".qwen", ".roo", ".rovodev", ".trae", ".vibe", ".warp", ".zed",
    ".fleet", ".helix", ".lapce", ".nova", ".theia", ".vim", ".vs", ".kateproject",
    ".devcontainer", ".devcontainer.json",
    // Run when an editor, a debugger or a shell enters the directory.
    ".envrc", ".shadowenv.d", ".rvmrc", ".rbenv-vars", ".phpbrewrc", ".tmux-sessionizer", ".exrc",
    ".vimrc", ".gvimrc", ".lvimrc", ".local.vimrc", ".nvimrc", ".nvim.lua", ".lazy.lua",
    ".dir-locals.el", ".dir-locals-2.el", ".gdbinit", ".lldbinit", ".gdbearlyinit", ".jdbrc",
    ".pdbrc", ".perldb", ".byebugrc", ".rdbgrc",
    // Run by an interpreter that starts there for interactive use.
    ".irbrc", ".pryrc", ".iex.exs", ".ghci", ".ocamlinit", ".octaverc", ".erlang", ".psysh.php",
    // Run by latexmk, which editors start on each save.
    ".latexmkrc", "latexmkrc", // Configuration of other version control.
    ".hg/hgrc", ".hg/hgrc-not-shared", ".hg/sharedpath", ".jj/repo/config.toml",
    ".jj/workspace-config.toml", ".sl/config", ".git/sl/config", ".pijul/config",
    "_darcs/prefs/defaults",
];

/// Files that calls may write as part of their work, and that are compared after the call:
/// instructions for agents, and files that git hooks or shells run once the user has agreed.
const COMPARED_NAMES: &[&str] = words![
    "AGENTS.md AGENTS.override.md AGENT.md CLAUDE.md CLAUDE.local.md CODEBUDDY.md CRUSH.md",
    "GEMINI.md IFLOW.md QWEN.md WARP.md .cursorrules .windsurfrules .kilocodemodes .roomodes",
    ".roorules .rules .goosehints .augment-guidelines .openhands_instructions .continuerc.json",
    ".aiassistant .sourcegraph .tabnine .kilo kilo.json kilo.jsonc gptme.toml",
    // Run by git.
    ".husky .githooks .pre-commit-config.yaml .pre-commit-config.yml .overcommit.yml prek.toml",
    "hk.pkl captainhook.json",
    // Run or obeyed by a shell that enters the directory.
    ".mise .mise.toml .mise.local.toml mise.toml mise.local.toml .tool-versions .prototools",
    ".sdkmanrc .nvmrc .node-version .python-version .ruby-version .java-version .go-version",
    ".terraform-version .autoenv .autoenv.zsh .autoenv_leave.zsh .env .env.leave .ruby-env",
    ".versions.conf .perl-version .php-version .lua-version .swift-version .crystal-version",
    ".exenv-version .bun-version .deno-version .zig-version .opentofu-version",
    ".terragrunt-version rust-toolchain rust-toolchain.toml",
    // Run by direnv, if an `.envrc` uses them: it does not ask again.
    "flake.nix shell.nix devenv.nix devenv.yaml devbox.json",
    // Run by programs that create worktrees for agents.
    "conductor.json .gtrconfig .workmux.yaml .superset .emdash.json",
    // Run by a terminal multiplexer that opens the directory.
    ".tmuxinator.yml .tmuxp.yaml .tmuxp.json",
    // Run by an interpreter that starts there; `renv` and R write the first three.
    ".Rprofile .Renviron .RData startup.m .scilab scilab.ini irbrc _irbrc $irbrc",
    // Run or obeyed by an editor that opens the directory, or by a program that the editor starts.
    ".project .externalToolBuilders .factorypath .run .gitpod.yml .idx .codesandbox .replit .trunk",
    ".ycm_extra_conf.py .vimspector.json .neoconf.json .nlsp-settings .luarc.json .luarc.jsonc",
    ".ctags .ctags.d ctags.d gtags.conf .lite_project.lua",
    // Name programs that lazygit, RBTools and ugrep run, and files that valgrind writes.
    ".lazygit.yml .reviewboardrc .ugrep .valgrindrc",
];

/// All names without a pattern.
pub(super) const ALL_NAMES: [&[&str]; 2] = [PROTECTED_NAMES, COMPARED_NAMES];

/// The ends of further paths that are treated like those of [`COMPARED_NAMES`].
const COMPARED_PATHS: &[&str] = words![
    ".github/copilot-instructions.md .github/instructions .github/prompts .github/chatmodes",
    ".github/agents .github/hooks .github/skills .github/copilot .github/lsp.json .github/mcp.json",
    ".config/mise .config/mise.toml .config/wt.toml mise/config.toml .bin/hermit.hcl .hg/hgrc",
    ".hg/hgrc-not-shared .hg/sharedpath .jj/repo/config.toml .jj/repo/config-id",
    ".jj/workspace-config.toml .jj/workspace-config-id .sl/config .pijul/config",
    "_darcs/prefs/defaults",
];

/// The ends of paths that are treated like those of [`COMPARED_PATHS`], unless a directory is
/// there. The file of Jujutsu names another repository.
const COMPARED_FILES: &[&str] = &[".jj/repo"];

/// Returns the names of [`COMPARED_PATHS`] and [`COMPARED_FILES`] in this directory.
pub(super) fn compared_names_in(directory: &Path) -> impl Iterator<Item = &'static str> + '_ {
    let ends = COMPARED_PATHS.iter().chain(COMPARED_FILES);
    ends.filter_map(move |end| name_in(end, directory))
}

/// Returns the name of an end of a path, if the rest of the end leads to this directory.
fn name_in<'a>(end: &'a str, directory: &Path) -> Option<&'a str> {
    let (within, name) = end.rsplit_once('/')?;
    directory.ends_with(within).then_some(name)
}

/// True if the list contains the name. Some file systems do not distinguish cases.
fn is_in(names: &[&str], name: &str) -> bool {
    names.iter().any(|listed| listed.eq_ignore_ascii_case(name))
}

/// True if the sandbox protects a file or directory of this name at the top of a writable
/// directory.
pub(super) fn is_protected_name(name: &str) -> bool {
    is_in(PROTECTED_NAMES, name)
        || name
            .strip_suffix(".code-workspace")
            .is_some_and(|stem| !stem.is_empty())
        || (name.starts_with(".aider") && has_extension(name, &["yml", "yaml"]))
        // Variables that plugins of version managers set: `.nodenv-vars`, `.plenv-vars`, ...
        || (name.starts_with('.') && name.ends_with("env-vars"))
}

/// True if a change of this path is reported after a call. The path may be at any depth, and there
/// may be a directory at it.
pub(super) fn is_reported_path(path: &Path, is_directory: bool) -> bool {
    let name = path.file_name().map(OsStr::to_string_lossy);
    let directory = path.parent().unwrap_or(Path::new(""));
    name.is_some_and(|name| is_reported_entry(directory, &name, is_directory))
}

/// True if [`is_reported_path`] is true for this entry of the directory.
pub(super) fn is_reported_entry(directory: &Path, name: &str, is_directory: bool) -> bool {
    let is_end = |end: &&str| name_in(end, directory) == Some(name);
    is_protected_name(name)
        || is_in(COMPARED_NAMES, name)
        || matches_pattern(directory, name)
        || COMPARED_PATHS.iter().any(is_end)
        || (!is_directory && COMPARED_FILES.iter().any(is_end))
}

/// True for names that a program accepts in several forms.
fn matches_pattern(directory: &Path, name: &str) -> bool {
    let plain = name.trim_start_matches('.');
    (plain.starts_with("lefthook")
        && has_extension(name, &["yml", "yaml", "toml", "json", "jsonc"]))
        || (plain.starts_with("mise.") && has_extension(name, &["toml"]))
        || name.starts_with(".lintstagedrc")
        || name.starts_with("lint-staged.config.")
        || (name.starts_with("jupyter_")
            && (name.ends_with("config.py") || name.ends_with("config.json")))
        || has_extension(name, &["sublime-project"])
        || name.starts_with(".envrc.")
        // An allowed `.envrc` runs the scripts that nix-direnv stored.
        || (has_extension(name, &["rc"]) && directory.ends_with(".direnv"))
}

fn has_extension(name: &str, extensions: &[&str]) -> bool {
    let extension = Path::new(name)
        .extension()
        .and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| extensions.contains(&extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_reported_path_matches_names_and_patterns() {
        for (path, protected, named) in [
            ("/w/.vscode", true, true),
            ("/w/a/b/.envrc", true, true),
            ("/w/x.code-workspace", true, true),
            ("/w/.code-workspace", false, false),
            ("/w/.aider.any.yml", true, true),
            ("/w/lefthook-local.yml", false, true),
            ("/w/AGENTS.md", false, true),
            ("/w/.github/copilot-instructions.md", false, true),
            ("/w/.VSCode", true, true),
            ("/w/Agents.md", false, true),
            ("/w/.pi", true, true),
            ("/w/.github/hooks", false, true),
            ("/w/docs/copilot-instructions.md", false, false),
            ("/w/.npmrc", false, false),
            ("/w/conftest.py", false, false),
            ("/w/.iex.exs", true, true),
            ("/w/.pdbrc", true, true),
            ("/w/.psysh.php", true, true),
            ("/w/.lazygit.yml", false, true),
            ("/w/.Rprofile", false, true),
            ("/w/lib/.hg/hgrc", false, true),
            ("/w/hgrc", false, false),
            ("/w/.rbenv-vars", true, true),
            ("/w/a/.nodenv-vars", true, true),
            ("/w/lib/.jj/repo/config.toml", false, true),
            ("/w/repo/config.toml", false, false),
            ("/w/lib/.jj/repo", false, true),
            ("/w/.jj/workspace-config.toml", false, true),
            ("/w/.direnv/flake-profile-a.rc", false, true),
            ("/w/flake-profile-a.rc", false, false),
            ("/w/mise.ci.toml", false, true),
            ("/w/jupyter_server_config.py", false, true),
            ("/w/jupyter_kernels.py", false, false),
            ("/w/x.sublime-project", false, true),
            ("/w/.lintstagedrc.json", false, true),
            ("/w/.env", false, true),
            ("/w/.envrc.local", false, true),
            ("/w/rust-toolchain.toml", false, true),
            ("/w/a/flake.nix", false, true),
            ("/w/flake.lock", false, false),
            ("/w/.env.example", false, false),
        ] {
            let name = Path::new(path).file_name().unwrap().to_str().unwrap();
            assert_eq!(is_protected_name(name), protected, "{path}");
            assert_eq!(is_reported_path(Path::new(path), false), named, "{path}");
        }
    }

    #[test]
    fn repository_of_jujutsu_is_reported_only_as_a_file() {
        let path = Path::new("/w/.jj/repo");
        assert!(is_reported_path(path, false) && !is_reported_path(path, true));
        let names: Vec<&str> = compared_names_in(Path::new("/w/.jj")).collect();
        assert_eq!(
            names,
            ["workspace-config.toml", "workspace-config-id", "repo"]
        );
    }
}
