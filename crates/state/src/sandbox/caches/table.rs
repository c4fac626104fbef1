//! The table of the tools' caches. Each variable comes from the tool's documentation.

/// When a call uses a private cache instead of the user's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PrivateCacheUse {
    /// Always. For a tool that fails if it cannot write its cache, or that builds the contents
    /// itself.
    Always,
    /// If the call has a network, or if the user has no such cache. Without a network, the tool
    /// could not fill a private cache, so it reads the user's cache.
    WithNetwork,
    /// If the user has no such cache. For programs and models that a tool installs permanently.
    IfUserHasNone,
    /// If the user has no such directory, or the sandbox hides it. For a directory with keys, which
    /// is never shared.
    IfHidden,
}

/// The value of a variable that moves a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VariableValue {
    /// The directory's path.
    Directory,
    /// The options that the variable has already, then this option followed by the directory's
    /// path.
    Option(&'static str),
}

/// A cache of a tool.
#[derive(Debug)]
pub(super) struct Cache {
    /// The name of the tool, and of the cache's private directory.
    pub(super) tool: &'static str,
    /// The variable that moves the cache.
    pub(super) variable: &'static str,
    pub(super) value: VariableValue,
    /// The tool's default directory, relative to the home directory.
    pub(super) directory: &'static str,
    pub(super) private_use: PrivateCacheUse,
    /// The entries that calls may write if the cache is shared. If empty, calls may write the whole
    /// cache.
    pub(super) parts: &'static [&'static str],
    /// Files with the user's settings. The private cache has symbolic links to these files.
    pub(super) settings: &'static [&'static str],
    /// Texts by which the tool reports that its cache lacks a file. They name no path.
    pub(super) misses: &'static [&'static str],
}

/// A directory in `/tmp` that a tool must be able to write, even if `TMPDIR` is another directory.
#[derive(Debug)]
pub(super) struct PrivateMount {
    /// The name of the private directory. The directory in `/tmp` is called `NAME-UID`.
    pub(super) name: &'static str,
    /// The tool's program.
    pub(super) program: &'static str,
}

const fn mount(name: &'static str, program: &'static str) -> PrivateMount {
    PrivateMount { name, program }
}

const fn cache(
    tool: &'static str,
    variable: &'static str,
    directory: &'static str,
    private_use: PrivateCacheUse,
) -> Cache {
    Cache {
        tool,
        variable,
        value: VariableValue::Directory,
        directory,
        private_use,
        parts: &[],
        settings: &[],
        misses: &[],
    }
}

use PrivateCacheUse::{Always, IfHidden, IfUserHasNone, WithNetwork};

pub(super) const CACHES: &[Cache] = &[
    Cache {
        misses: &["ENOTCACHED"],
        ..cache("npm", "npm_config_cache", ".npm", WithNetwork)
    },
    cache(
        "corepack",
        "COREPACK_HOME",
        ".cache/node/corepack",
        WithNetwork,
    ),
    // pnpm 12 reads the variables `pnpm_config_…`; versions up to 10 read `npm_config_…`.
    Cache {
        misses: &[
            "ERR_PNPM_NO_OFFLINE",
            "STORE_OPERATION_LOCK",
            "STORE_DIR_OPEN_OPERATION_LOCK",
        ],
        ..cache(
            "pnpm-store",
            "pnpm_config_store_dir",
            ".local/share/pnpm/store",
            Always,
        )
    },
    cache("pnpm-cache", "pnpm_config_cache_dir", ".cache/pnpm", Always),
    cache(
        "pnpm-state",
        "pnpm_config_state_dir",
        ".local/state/pnpm",
        Always,
    ),
    Cache {
        misses: &["in our cache (possible versions are"],
        ..cache("yarn", "YARN_CACHE_FOLDER", ".cache/yarn", Always)
    },
    cache(
        "yarn-berry",
        "YARN_GLOBAL_FOLDER",
        ".yarn/berry",
        WithNetwork,
    ),
    cache(
        "bun",
        "BUN_INSTALL_CACHE_DIR",
        ".bun/install/cache",
        WithNetwork,
    ),
    cache("deno", "DENO_DIR", ".cache/deno", WithNetwork),
    cache(
        "electron",
        "electron_config_cache",
        ".cache/electron",
        WithNetwork,
    ),
    cache(
        "cypress",
        "CYPRESS_CACHE_FOLDER",
        ".cache/Cypress",
        IfUserHasNone,
    ),
    cache(
        "playwright",
        "PLAYWRIGHT_BROWSERS_PATH",
        ".cache/ms-playwright",
        IfUserHasNone,
    ),
    cache(
        "puppeteer",
        "PUPPETEER_CACHE_DIR",
        ".cache/puppeteer",
        IfUserHasNone,
    ),
    cache("pip", "PIP_CACHE_DIR", ".cache/pip", WithNetwork),
    cache("uv", "UV_CACHE_DIR", ".cache/uv", Always),
    // Also holds virtual environments.
    cache(
        "poetry",
        "POETRY_CACHE_DIR",
        ".cache/pypoetry",
        IfUserHasNone,
    ),
    cache("pipenv", "PIPENV_CACHE_DIR", ".cache/pipenv", WithNetwork),
    cache("pdm", "PDM_CACHE_DIR", ".cache/pdm", WithNetwork),
    cache("conda", "CONDA_PKGS_DIRS", ".conda/pkgs", WithNetwork),
    cache(
        "pre-commit",
        "PRE_COMMIT_HOME",
        ".cache/pre-commit",
        WithNetwork,
    ),
    cache(
        "matplotlib",
        "MPLCONFIGDIR",
        ".config/matplotlib",
        IfUserHasNone,
    ),
    cache(
        "jupyter",
        "JUPYTER_RUNTIME_DIR",
        ".local/share/jupyter/runtime",
        Always,
    ),
    // A mark that jupyter makes as soon as the directory of `ipython` exists.
    Cache {
        parts: &["migrated"],
        ..cache(
            "jupyter-config",
            "JUPYTER_CONFIG_DIR",
            ".jupyter",
            IfUserHasNone,
        )
    },
    cache("ipython", "IPYTHONDIR", ".ipython", IfUserHasNone),
    cache(
        "huggingface",
        "HF_HUB_CACHE",
        ".cache/huggingface/hub",
        IfUserHasNone,
    ),
    cache("go-build", "GOCACHE", ".cache/go-build", Always),
    cache("go-mod", "GOMODCACHE", "go/pkg/mod", WithNetwork),
    cache(
        "golangci-lint",
        "GOLANGCI_LINT_CACHE",
        ".cache/golangci-lint",
        Always,
    ),
    cache(
        "staticcheck",
        "STATICCHECK_CACHE",
        ".cache/staticcheck",
        Always,
    ),
    Cache {
        parts: &[
            "registry",
            "git",
            ".package-cache",
            ".package-cache-mutate",
            ".global-cache",
        ],
        settings: &["config", "config.toml"],
        ..cache("cargo", "CARGO_HOME", ".cargo", WithNetwork)
    },
    cache("ccache", "CCACHE_DIR", ".cache/ccache", Always),
    cache("sccache", "SCCACHE_DIR", ".cache/sccache", Always),
    cache("zig", "ZIG_GLOBAL_CACHE_DIR", ".cache/zig", Always),
    cache("dune", "DUNE_CACHE_ROOT", ".cache/dune", Always),
    Cache {
        parts: &["caches", "wrapper", "daemon", "native", ".tmp"],
        settings: &["init.gradle", "init.gradle.kts", "init.d"],
        ..cache("gradle", "GRADLE_USER_HOME", ".gradle", Always)
    },
    Cache {
        value: VariableValue::Option("-Dmaven.repo.local="),
        ..cache("maven", "MAVEN_OPTS", ".m2/repository", WithNetwork)
    },
    cache(
        "coursier",
        "COURSIER_CACHE",
        ".cache/coursier/v1",
        WithNetwork,
    ),
    cache("nuget", "NUGET_PACKAGES", ".nuget/packages", WithNetwork),
    cache(
        "composer",
        "COMPOSER_CACHE_DIR",
        ".cache/composer",
        WithNetwork,
    ),
    cache("bundler", "BUNDLE_USER_CACHE", ".bundle/cache", WithNetwork),
    cache("r", "R_USER_CACHE_DIR", ".cache/R", Always),
    cache("helm", "HELM_CACHE_HOME", ".cache/helm", WithNetwork),
    cache("kubectl", "KUBECACHEDIR", ".kube/cache", Always),
    cache("trivy", "TRIVY_CACHE_DIR", ".cache/trivy", WithNetwork),
    // gpg creates a missing directory only if it has this name.
    Cache {
        misses: &["o secret key", "o public key"],
        ..cache(".gnupg", "GNUPGHOME", ".gnupg", IfHidden)
    },
    cache("buf", "BUF_CACHE_DIR", ".cache/buf", WithNetwork),
];

/// pnpm 12 creates the locks of its store and of the project in `/tmp`, even if `TMPDIR` is another
/// directory.
pub(super) const MOUNTS: &[PrivateMount] = &[
    mount("pnpm-store-operation-locks", "pnpm"),
    mount("pnpm-dir-locks", "pnpm"),
    mount("pnpm-modules-swaps", "pnpm"),
];
