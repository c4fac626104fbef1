//! Options of programs that take a credential, where the option's name does not say so. Tables, and how they are read.

use std::ops::Range;

/// A credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// All of the value.
    Secret,
    /// `user:password`.
    User,
}

/// Options that take one.
struct CredentialOption {
    /// Programs, by their names without a directory.
    programs: &'static [&'static str],
    /// The subcommand; empty if there is none.
    of: &'static str,
    options: &'static [&'static str],
    value: Takes,
    /// The value is the next word, if it is not attached.
    is_apart: bool,
}

const TAKEN: &[CredentialOption] = &[
    CredentialOption {
        programs: &["curl"],
        of: "",
        options: &["-u", "--user", "-U", "--proxy-user"],
        value: Takes::User,
        is_apart: true,
    },
    CredentialOption {
        programs: &[
            "docker", "podman", "buildah", "skopeo", "nerdctl", "helm", "oras", "az",
        ],
        of: "login",
        options: &["-p"],
        value: Takes::Secret,
        is_apart: true,
    },
    // Here, a password is attached: what follows `-p` is a database.
    CredentialOption {
        programs: &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mysqlimport",
            "mariadb",
            "mariadb-dump",
        ],
        of: "",
        options: &["-p"],
        value: Takes::Secret,
        is_apart: false,
    },
    CredentialOption {
        programs: &["sshpass"],
        of: "",
        options: &["-p"],
        value: Takes::Secret,
        is_apart: true,
    },
    CredentialOption {
        programs: &["redis-cli"],
        of: "",
        options: &["-a"],
        value: Takes::Secret,
        is_apart: true,
    },
    CredentialOption {
        programs: &["ldapsearch", "ldapadd", "ldapmodify", "ldapdelete"],
        of: "",
        options: &["-w"],
        value: Takes::Secret,
        is_apart: true,
    },
];

/// Programs and subcommands that are in a table.
pub(super) fn known(word: &str) -> Option<&'static str> {
    let name = word.rsplit('/').next().unwrap_or(word);
    let mut names = TAKEN
        .iter()
        .flat_map(|taken| taken.programs.iter().copied().chain([taken.of]));
    names.find(|known| !known.is_empty() && *known == name)
}

fn options_of<'a>(
    programs: &'a [&'static str],
) -> impl Iterator<Item = &'static CredentialOption> + 'a {
    TAKEN.iter().filter(|taken| {
        taken.programs.iter().any(|name| programs.contains(name))
            && (taken.of.is_empty() || programs.contains(&taken.of))
    })
}

/// Whether the next word is a credential. `-sSu` is `-s -S -u`. What `is_glued` is a quoted text without a blank before it.
pub(super) fn next_word(programs: &[&'static str], word: &str, is_glued: bool) -> Option<Takes> {
    let letters = word.strip_prefix('-').unwrap_or_default();
    let is_cluster = letters.len() <= 6 && letters.bytes().all(|b| b.is_ascii_alphabetic());
    let is = |option: &str| {
        word == option || option.len() == 2 && is_cluster && letters.ends_with(&option[1..])
    };
    let mut apart = options_of(programs).filter(|taken| taken.is_apart || is_glued);
    let found = apart.find(|taken| taken.options.iter().any(|option| is(option)))?;
    Some(found.value)
}

/// The credential that is attached to an option: `-phunter2`, `--user=me:hunter2`.
pub(super) fn attached(
    programs: &[&'static str],
    text: &str,
    word: &Range<usize>,
) -> Option<Range<usize>> {
    let whole = &text[word.clone()];
    options_of(programs).find_map(|taken| {
        let value = taken.options.iter().find_map(|option| {
            let value = whole.strip_prefix(option)?;
            if option.starts_with("--") {
                value.strip_prefix('=')
            } else {
                Some(value)
            }
        })?;
        let value = value.trim_start_matches(['"', '\'']);
        if taken.value == Takes::User {
            return password(text, word.end - value.len()..word.end);
        }
        let is_value = !value.is_empty() && !value.starts_with('$');
        is_value.then(|| word.end - value.len()..word.end)
    })
}

/// The password of `user:password`.
pub(super) fn password(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let (user, password) = text[range.clone()].split_once(':')?;
    let is_one = !user.is_empty() && !password.is_empty() && !password.starts_with('$');
    is_one.then(|| range.end - password.len()..range.end)
}
