//! The names of files that run, configure or instruct programs outside the sandbox.

use std::path::Path;

/// The project settings of this program.
pub(super) const PROJECT_SETTINGS: &str = ".agent-bash.toml";

/// Files that an editor, shell, debugger, interpreter or agent loads from its directory. At the top
/// of a writable directory, the sandbox makes these files read-only. Further below, they are
/// compared after the call.
pub(super) const PROTECTED_NAMES: &[&str] = &[
    PROJECT_SETTINGS,
    ".mcp.json",
    ".vscode",
    ".idea",
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".opencode",
    "opencode.json",
    "opencode.jsonc",
    ".crush",
    ".crush.json",
    "crush.json",
    ".windsurf",
    ".continue",
    ".aider.conf.yml",
    ".aider.model.settings.yml",
    ".agent",
    ".agents",
    ".amazonq",
    ".amp",
    ".augment",
    ".cline",
    ".clinerules",
    ".codebuddy",
    ".copilot",
    ".factory",
    ".goose",
    ".grok",
    ".iflow",
    ".junie",
    ".kilocode",
    ".kimi",
    ".kimi-code",
    ".kiro",
    ".letta",
    ".openhands",
    ".pi",
    ".qoder",
    ".qwen",
    ".roo",
    ".rovodev",
    ".trae",
    ".vibe",
    ".warp",
    ".zed",
    ".fleet",
    ".helix",
    ".devcontainer",
    ".devcontainer.json",
    // Run when an editor, a debugger or a shell enters the directory.
    ".envrc",
    ".exrc",
    ".vimrc",
    ".gvimrc",
    ".lvimrc",
    ".nvimrc",
    ".nvim.lua",
    ".lazy.lua",
    ".dir-locals.el",
    ".dir-locals-2.el",
    ".gdbinit",
    ".lldbinit",
    ".gdbearlyinit",
    ".jdbrc",
    ".pdbrc",
    ".perldb",
    ".byebugrc",
    ".rdbgrc",
    // Run by an interpreter that starts there for interactive use.
    ".irbrc",
    ".pryrc",
    ".iex.exs",
    ".ghci",
    ".ocamlinit",
    ".octaverc",
    ".erlang",
    // Run by latexmk, which editors start on each save.
    ".latexmkrc",
    "latexmkrc",
    // Configuration of other version control.
    ".hg/hgrc",
    ".hg/hgrc-not-shared",
    ".hg/sharedpath",
    ".jj/repo/config.toml",
];

/// Files that calls may write as part of their work, and that are compared after the call:
/// instructions for agents, and files that git hooks or shells run once the user has agreed.
const COMPARED_NAMES: &[&str] = &[
    "AGENTS.md",
    "AGENTS.override.md",
    "AGENT.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "CRUSH.md",
    "GEMINI.md",
    "QWEN.md",
    "WARP.md",
    ".cursorrules",
    ".windsurfrules",
    ".kilocodemodes",
    ".roomodes",
    ".roorules",
    ".rules",
    ".goosehints",
    // Run by git.
    ".husky",
    ".githooks",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    // Run by a shell that enters the directory.
    ".mise",
    ".mise.toml",
    ".mise.local.toml",
    "mise.toml",
    "mise.local.toml",
    ".autoenv",
    ".autoenv.zsh",
    // Run by R; `renv` writes it.
    ".Rprofile",
    ".Renviron",
];

/// All names without a pattern.
pub(super) const ALL_NAMES: [&[&str]; 2] = [PROTECTED_NAMES, COMPARED_NAMES];

/// Pairs of a directory's name and a file's name. In such a directory, the file is treated like
/// those of [`COMPARED_NAMES`].
const COMPARED_NAMES_WITHIN: &[(&str, &str)] = &[
    (".github", "copilot-instructions.md"),
    (".github", "instructions"),
    (".github", "prompts"),
    (".github", "chatmodes"),
    (".github", "agents"),
    (".github", "hooks"),
    (".github", "skills"),
    (".config", "mise"),
    (".config", "mise.toml"),
    (".hg", "hgrc"),
    (".hg", "hgrc-not-shared"),
    (".hg", "sharedpath"),
];

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
}

/// True if a change of this path is reported after a call. The path may be at any depth.
pub fn is_reported_name(path: &Path) -> bool {
    let text =
        |part: Option<&std::ffi::OsStr>| part.and_then(|part| part.to_str().map(str::to_owned));
    let Some(name) = text(path.file_name()) else {
        return false;
    };
    let within = text(path.parent().and_then(Path::file_name)).unwrap_or_default();
    is_reported_name_in(&within, &name)
}

/// True if [`is_reported_name`] is true for the name alone, or in a directory with this name.
pub(super) fn is_reported_name_in(directory: &str, name: &str) -> bool {
    is_protected_name(name)
        || is_in(COMPARED_NAMES, name)
        || COMPARED_NAMES_WITHIN.contains(&(directory, name))
        || (name.trim_start_matches('.').starts_with("lefthook")
            && has_extension(name, &["yml", "yaml", "toml", "json", "jsonc"]))
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
    fn is_reported_name_matches_names_and_patterns() {
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
            ("/w/.Rprofile", false, true),
            ("/w/lib/.hg/hgrc", false, true),
            ("/w/hgrc", false, false),
        ] {
            let name = Path::new(path).file_name().unwrap().to_str().unwrap();
            assert_eq!(is_protected_name(name), protected, "{path}");
            assert_eq!(is_reported_name(Path::new(path)), named, "{path}");
        }
    }
}
