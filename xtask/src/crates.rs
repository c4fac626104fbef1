//! The crates of the workspace and what each may name: the picture of docs/architecture.md as data.
//!
//! `layers` compares this with every `Cargo.toml`. The spokes (policy, sink, exec, pty, render) never name each other;
//! a third-party crate stands in the rows of its door alone, apart from the vocabulary crates (serde, thiserror, …).

/// One crate and what its manifest may name.
pub(crate) struct Crate {
    pub(crate) package: &'static str,
    /// Crates of this workspace.
    pub(crate) workspace: &'static [&'static str],
    /// Crates from the registry. For tests alone any may be named.
    pub(crate) third_party: &'static [&'static str],
    /// Crates of this workspace that only tests, examples and benches name.
    pub(crate) dev_workspace: &'static [&'static str],
}

pub(crate) const CRATES: &[Crate] = &[
    Crate {
        package: "agent-bash-core",
        workspace: &[],
        third_party: &[
            "async-trait",
            "humantime",
            "schemars",
            "serde",
            "serde_json",
            "strsim",
            "thiserror",
            "tokio-util",
        ],
        dev_workspace: &[],
    },
    Crate {
        package: "agent-bash-policy",
        workspace: &["agent-bash-core"],
        third_party: &[
            "regex",
            "serde",
            "thiserror",
            "tree-sitter",
            "tree-sitter-bash",
        ],
        dev_workspace: &[],
    },
    Crate {
        package: "agent-bash-sink",
        workspace: &["agent-bash-core"],
        third_party: &[
            "memchr",
            "regex",
            "rustix",
            "serde",
            "serde_json",
            "thiserror",
            "vte",
        ],
        dev_workspace: &[],
    },
    Crate {
        package: "agent-bash-process",
        workspace: &["agent-bash-core"],
        third_party: &[
            "async-trait",
            "nix",
            "rustix",
            "serde",
            "serde_json",
            "signal-hook",
            "thiserror",
            "tokio",
            "tracing",
        ],
        dev_workspace: &[],
    },
    Crate {
        package: "agent-bash-exec",
        workspace: &["agent-bash-core", "agent-bash-process"],
        third_party: &[
            "async-trait",
            "rustix",
            "serde",
            "serde_json",
            "tempfile",
            "thiserror",
            "tokio",
            "tracing",
        ],
        dev_workspace: &[],
    },
    Crate {
        package: "agent-bash-pty",
        workspace: &["agent-bash-core", "agent-bash-process"],
        third_party: &[
            "async-trait",
            "filedescriptor",
            "portable-pty",
            "rustix",
            "serde_json",
            "thiserror",
            "tokio",
            "tracing",
            "vt100",
        ],
        dev_workspace: &[],
    },
    Crate {
        package: "agent-bash-render",
        workspace: &["agent-bash-core"],
        third_party: &[
            "crossterm",
            "ratatui",
            "unicode-segmentation",
            "unicode-width",
            "vte",
        ],
        dev_workspace: &[],
    },
    Crate {
        package: "agent-bash",
        workspace: &[
            "agent-bash-core",
            "agent-bash-exec",
            "agent-bash-policy",
            "agent-bash-process",
            "agent-bash-pty",
            "agent-bash-sink",
        ],
        third_party: &[
            "async-trait",
            "serde",
            "serde_json",
            "strsim",
            "thiserror",
            "tokio",
            "toml",
            "tracing",
        ],
        dev_workspace: &[],
    },
    Crate {
        package: "agent-bash-server",
        workspace: &["agent-bash"],
        third_party: &[
            "rmcp",
            "schemars",
            "serde",
            "serde_json",
            "thiserror",
            "tokio",
            "tracing",
        ],
        dev_workspace: &[],
    },
    Crate {
        package: "agent-bash-cli",
        workspace: &["agent-bash", "agent-bash-server"],
        third_party: &[
            "anyhow",
            "clap",
            "clap_complete",
            "clap_mangen",
            "serde_json",
            "shlex",
            "tokio",
            "tracing-subscriber",
        ],
        dev_workspace: &[],
    },
    Crate {
        package: "agent-bash-tests",
        workspace: &["agent-bash-core"],
        third_party: &[
            "anyhow",
            "regex",
            "rustix",
            "serde",
            "serde_json",
            "signal-hook",
            "tempfile",
            "toml",
        ],
        dev_workspace: &["agent-bash"],
    },
    Crate {
        package: "xtask",
        workspace: &[
            "agent-bash-core",
            "agent-bash-policy",
            "agent-bash-server",
            "agent-bash-tests",
        ],
        third_party: &[
            "anyhow",
            "cargo_metadata",
            "regex",
            "rustix",
            "schemars",
            "serde_json",
            "tempfile",
            "xshell",
        ],
        dev_workspace: &[],
    },
];
