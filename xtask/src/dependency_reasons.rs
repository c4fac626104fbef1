//! The reason for each third-party crate of the product.

/// Names of crates, each with its purpose. `docs/generated/third-party-crates.md` shows them.
pub(crate) const REASONS: &[(&str, &str)] = &[
    (
        "aho-corasick",
        "finds all secrets of a host in one pass over its output; in regex's version",
    ),
    ("anyhow", "errors of a program"),
    ("async-trait", "traits used as `dyn`"),
    (
        "base64",
        "bytes in JSON and in the terminal's clipboard; credentials of a host's proxy; in rmcp's version",
    ),
    ("clap", "the command line, completions, manual pages"),
    (
        "clap_complete",
        "the command line, completions, manual pages",
    ),
    ("clap_mangen", "the command line, completions, manual pages"),
    ("crossterm", "terminal events; ratatui's own backend"),
    (
        "filedescriptor",
        "duplicates the pty's descriptor as an owned one, by a safe function",
    ),
    ("futures-core", "the trait of crossterm's event stream"),
    ("httparse", "heads of requests, with hyper's parser"),
    ("humantime", "RFC 3339 times"),
    (
        "jsonc-parser",
        "edits one entry of an agent's settings, and keeps all other bytes",
    ),
    ("landlock", "Landlock's rules, and what each kernel lacks"),
    (
        "libc",
        "numbers of system calls and errors; the structures of seccomp's notifications",
    ),
    (
        "maud",
        "a template that escapes every text by default (no dependencies at run time)",
    ),
    ("memchr", "newlines"),
    (
        "nix",
        "signal masks and dispositions, reads of another process's memory, `unshare`, closing by number; ptrace in a test",
    ),
    (
        "nucleo-matcher",
        "fuzzy search in the history, scored like fzf (MPL-2.0)",
    ),
    ("portable-pty", "opens the pty pair"),
    ("ratatui", "buffers, styles, layout; draws only changes"),
    (
        "ratatui-textarea",
        "the prompt: several lines, wrapping, undo",
    ),
    ("regex", "search in stored outputs; patterns in scripts"),
    (
        "rmcp",
        "the official MCP implementation; `~3.9`, as it has a major version every few months",
    ),
    (
        "rustix",
        "system calls as safe functions; received descriptors are `OwnedFd`",
    ),
    ("schemars", "JSON Schemas from the types"),
    (
        "seccompiler",
        "installs a filter of system calls, which our code assembles (by rust-vmm; last release in 2025)",
    ),
    ("serde", "data that crosses a process boundary"),
    ("serde_json", "data that crosses a process boundary"),
    (
        "sha2",
        "digests: commands in the audit log, the program on a target, the page's scripts",
    ),
    ("shlex", "quoting words"),
    (
        "signal-hook",
        "handlers of signals, by safe functions; a pipe for SIGCHLD",
    ),
    ("similar", "diffs; in insta's version"),
    ("strsim", "the nearest field name for a misspelt one"),
    ("tempfile", "atomic replacement; files for an editor"),
    (
        "terminal-colorsaurus",
        "the terminal's background (OSC 11, then DA1); used by delta and bat",
    ),
    ("thiserror", "one error enum per stage"),
    ("tokio", "pipes, timers, signals"),
    ("tokio-util", "`CancellationToken`, behind `Cancel`"),
    ("toml", "settings"),
    ("tracing", "diagnostic logs"),
    ("tracing-subscriber", "diagnostic logs"),
    ("tree-sitter", "the second reading of a script"),
    ("tree-sitter-bash", "the second reading of a script"),
    (
        "unicode-segmentation",
        "column widths and grapheme clusters, in ratatui's versions",
    ),
    (
        "unicode-width",
        "column widths and grapheme clusters, in ratatui's versions",
    ),
    ("vt100", "a terminal's screen"),
    (
        "vte",
        "the ends of escape sequences, with the parser that terminals use",
    ),
];
