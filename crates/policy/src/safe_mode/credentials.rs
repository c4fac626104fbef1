//! Paths where credentials are stored.

use crate::Context;
use crate::syntax::pattern;
use crate::syntax::value::Value;

/// Names of files and directories, at the end or in the middle of a path; `/` separates components.
const NAMES: [&str; 39] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".netrc",
    "_netrc",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/gcloud",
    ".config/op",
    ".config/sops",
    ".docker/config.json",
    ".kube",
    ".azure",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".git-credentials",
    ".config/git/credentials",
    ".password-store",
    ".local/share/keyrings",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".pgpass",
    ".my.cnf",
    ".boto",
    ".s3cfg",
    ".rclone.conf",
    ".config/rclone",
    "etc/shadow",
    "etc/shadow-",
    "etc/gshadow",
    "etc/gshadow-",
    "etc/security/opasswd",
    "etc/sudoers",
    "etc/ssh",
];

/// Names of key files anywhere.
const KEYS: [&str; 6] = [
    "id_rsa", "id_ed25519", "id_ed25519_sk", "id_ecdsa", "id_ecdsa_sk", "id_dsa",
];

/// Whether the word, or an option value in it, is or may match such a path.
pub(super) fn names_one(word: &Value, context: &Context) -> bool {
    let pattern = pattern::of_value(word);
    let home = context
        .home
        .as_ref()
        .map(|home| home.to_string_lossy().into_owned());
    // `--file=PATH`, `host:PATH`, `-fPATH`
    let starts = [0]
        .into_iter()
        .chain(pattern.match_indices(['=', ':', ',']).map(|(at, _)| at + 1));
    starts.into_iter().any(|at| {
        let mut path = pattern.get(at..).unwrap_or("").to_owned();
        if let (Some(rest), Some(home)) = (path.strip_prefix('~'), &home) {
            path = format!("{home}{rest}");
        }
        let components: Vec<&str> = path
            .split('/')
            .filter(|name| !matches!(*name, "" | "."))
            .collect();
        is_environ(&components)
            || NAMES.iter().any(|name| holds(&components, name))
            || KEYS
                .iter()
                .any(|key| components.last().is_some_and(|last| could_be(last, key)))
    })
}

/// `/proc/…/environ`
fn is_environ(components: &[&str]) -> bool {
    components
        .first()
        .is_some_and(|first| could_be(first, "proc"))
        && components
            .last()
            .is_some_and(|last| could_be(last, "environ"))
        && components.len() > 2
}

fn holds(components: &[&str], name: &str) -> bool {
    let wanted: Vec<&str> = name.split('/').collect();
    components.windows(wanted.len()).any(|window| {
        window
            .iter()
            .zip(&wanted)
            .all(|(have, want)| could_be(have, want))
    })
}

/// Whether a component equals the name, or its pattern matches it; a pattern without letters is no evidence.
fn could_be(component: &str, name: &str) -> bool {
    if !component.contains(['*', '?', '[']) {
        return component.replace('\\', "") == name;
    }
    // A leading dot is only matched by a literal dot.
    let hidden = component.starts_with('.') || !name.starts_with('.');
    let letters = component.chars().any(|c| c.is_ascii_alphanumeric());
    hidden && (letters || component.starts_with('.')) && pattern::matches(component, name)
}
