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

/// Makes the table. A row has the arguments of [`cache`], and other values of its fields.
macro_rules! caches {
    ($($tool:literal $variable:literal $directory:literal $private_use:ident
       $({ $($field:ident: $value:expr),* $(,)? })?;)*) => {
        &[$(Cache {
            $($($field: $value,)*)?
            ..cache($tool, $variable, $directory, PrivateCacheUse::$private_use)
        }),*]
    };
}

pub(super) const CACHES: &[Cache] = caches! {
    "npm" "npm_config_cache" ".npm" WithNetwork { misses: &["ENOTCACHED"] };
    "corepack" "COREPACK_HOME" ".cache/node/corepack" WithNetwork;
    // pnpm 12 reads the variables `pnpm_config_…`; versions up to 10 read `npm_config_…`.
    "pnpm-store" "pnpm_config_store_dir" ".local/share/pnpm/store" Always {
        misses: &["ERR_PNPM_NO_OFFLINE", "STORE_OPERATION_LOCK", "STORE_DIR_OPEN_OPERATION_LOCK"],
    };
    "pnpm-cache" "pnpm_config_cache_dir" ".cache/pnpm" Always;
    "pnpm-state" "pnpm_config_state_dir" ".local/state/pnpm" Always;
    "yarn" "YARN_CACHE_FOLDER" ".cache/yarn" Always {
        misses: &["in our cache (possible versions are", "t make a request in offline mode"],
    };
    "yarn-berry" "YARN_GLOBAL_FOLDER" ".yarn/berry" WithNetwork;
    "bun" "BUN_INSTALL_CACHE_DIR" ".bun/install/cache" WithNetwork;
    "deno" "DENO_DIR" ".cache/deno" WithNetwork;
    "electron" "electron_config_cache" ".cache/electron" WithNetwork;
    "cypress" "CYPRESS_CACHE_FOLDER" ".cache/Cypress" IfUserHasNone;
    "playwright" "PLAYWRIGHT_BROWSERS_PATH" ".cache/ms-playwright" IfUserHasNone;
    "puppeteer" "PUPPETEER_CACHE_DIR" ".cache/puppeteer" IfUserHasNone;
    "pip" "PIP_CACHE_DIR" ".cache/pip" WithNetwork;
    "uv" "UV_CACHE_DIR" ".cache/uv" Always {
        misses: &["unavailable because the network was disabled"],
    };
    // Also holds virtual environments.
    "poetry" "POETRY_CACHE_DIR" ".cache/pypoetry" IfUserHasNone;
    "pipenv" "PIPENV_CACHE_DIR" ".cache/pipenv" WithNetwork;
    "pdm" "PDM_CACHE_DIR" ".cache/pdm" WithNetwork;
    "conda" "CONDA_PKGS_DIRS" ".conda/pkgs" WithNetwork;
    "pre-commit" "PRE_COMMIT_HOME" ".cache/pre-commit" WithNetwork;
    "matplotlib" "MPLCONFIGDIR" ".config/matplotlib" IfUserHasNone;
    "jupyter" "JUPYTER_RUNTIME_DIR" ".local/share/jupyter/runtime" Always;
    // A mark that jupyter makes as soon as the directory of `ipython` exists.
    "jupyter-config" "JUPYTER_CONFIG_DIR" ".jupyter" IfUserHasNone { parts: &["migrated"] };
    "ipython" "IPYTHONDIR" ".ipython" IfUserHasNone;
    "huggingface" "HF_HUB_CACHE" ".cache/huggingface/hub" IfUserHasNone;
    "go-build" "GOCACHE" ".cache/go-build" Always;
    "go-mod" "GOMODCACHE" "go/pkg/mod" WithNetwork;
    "golangci-lint" "GOLANGCI_LINT_CACHE" ".cache/golangci-lint" Always;
    "staticcheck" "STATICCHECK_CACHE" ".cache/staticcheck" Always;
    "cargo" "CARGO_HOME" ".cargo" WithNetwork {
        parts: &["registry", "git", ".package-cache", ".package-cache-mutate", ".global-cache"],
        settings: &["config", "config.toml"],
    };
    "ccache" "CCACHE_DIR" ".cache/ccache" Always;
    "sccache" "SCCACHE_DIR" ".cache/sccache" Always;
    "zig" "ZIG_GLOBAL_CACHE_DIR" ".cache/zig" Always;
    "dune" "DUNE_CACHE_ROOT" ".cache/dune" Always;
    "gradle" "GRADLE_USER_HOME" ".gradle" Always {
        parts: &["caches", "wrapper", "daemon", "native", ".tmp"],
        settings: &["init.gradle", "init.gradle.kts", "init.d"],
    };
    "maven" "MAVEN_OPTS" ".m2/repository" WithNetwork {
        value: VariableValue::Option("-Dmaven.repo.local="),
    };
    "coursier" "COURSIER_CACHE" ".cache/coursier/v1" WithNetwork;
    "nuget" "NUGET_PACKAGES" ".nuget/packages" WithNetwork;
    "composer" "COMPOSER_CACHE_DIR" ".cache/composer" WithNetwork;
    "bundler" "BUNDLE_USER_CACHE" ".bundle/cache" WithNetwork;
    "r" "R_USER_CACHE_DIR" ".cache/R" Always;
    "helm" "HELM_CACHE_HOME" ".cache/helm" WithNetwork;
    "kubectl" "KUBECACHEDIR" ".kube/cache" Always;
    "trivy" "TRIVY_CACHE_DIR" ".cache/trivy" WithNetwork;
    // gpg creates a missing directory only if it has this name.
    ".gnupg" "GNUPGHOME" ".gnupg" IfHidden { misses: &["o secret key", "o public key"] };
    "buf" "BUF_CACHE_DIR" ".cache/buf" WithNetwork;
};

/// pnpm 12 creates the locks of its store and of the project in `/tmp`, even if `TMPDIR` is another
/// directory.
pub(super) const MOUNTS: &[PrivateMount] = &[
    mount("pnpm-store-operation-locks", "pnpm"),
    mount("pnpm-dir-locks", "pnpm"),
    mount("pnpm-modules-swaps", "pnpm"),
];
