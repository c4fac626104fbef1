//! Options of programs that take a credential, where the option's name does not say so. Tables, and
//! how they are read.

use std::ops::Range;

/// A credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CredentialKind {
    /// All of the value.
    Secret,
    /// `user:password`.
    User,
    /// `name=value; name=value`, unless it is the name of a file.
    Cookie,
    /// The value of `name=value`, whatever its name.
    Assigned,
}

/// Options that take one.
struct CredentialOption {
    /// Programs, by their names without a directory.
    programs: &'static [&'static str],
    /// The subcommand; empty if there is none.
    of: &'static str,
    options: &'static [&'static str],
    value: CredentialKind,
    /// The value is the next word, if it is not attached.
    is_apart: bool,
}

const CREDENTIAL_OPTIONS: &[CredentialOption] = &[
    CredentialOption {
        programs: &["curl"],
        of: "",
        options: &["-u", "--user", "-U", "--proxy-user"],
        value: CredentialKind::User,
        is_apart: true,
    },
    CredentialOption {
        programs: &["curl"],
        of: "",
        options: &["-b", "--cookie"],
        value: CredentialKind::Cookie,
        is_apart: true,
    },
    CredentialOption {
        programs: &["http", "https", "xh", "xhs"],
        of: "",
        options: &["-a", "--auth"],
        value: CredentialKind::User,
        is_apart: true,
    },
    CredentialOption {
        programs: &["openssl"],
        of: "",
        options: &["-k", "-K"],
        value: CredentialKind::Secret,
        is_apart: true,
    },
    CredentialOption {
        programs: &["kubectl", "oc"],
        of: "secret",
        options: &["--from-literal"],
        value: CredentialKind::Assigned,
        is_apart: true,
    },
    CredentialOption {
        programs: &["gh"],
        of: "secret",
        options: &["-b", "--body"],
        value: CredentialKind::Secret,
        is_apart: true,
    },
    CredentialOption {
        programs: &[
            "mongosh",
            "mongo",
            "mongodump",
            "mongorestore",
            "mongoexport",
            "mongoimport",
            "cqlsh",
        ],
        of: "",
        options: &["-p"],
        value: CredentialKind::Secret,
        is_apart: true,
    },
    CredentialOption {
        programs: &["zip", "unzip", "zipcloak", "sqlcmd", "bcp"],
        of: "",
        options: &["-P"],
        value: CredentialKind::Secret,
        is_apart: true,
    },
    CredentialOption {
        programs: &["7z", "7za", "7zr", "7zz", "rar", "unrar"],
        of: "",
        options: &["-hp", "-p"],
        value: CredentialKind::Secret,
        is_apart: false,
    },
    CredentialOption {
        programs: &[
            "docker", "podman", "buildah", "skopeo", "nerdctl", "helm", "oras", "az",
        ],
        of: "login",
        options: &["-p"],
        value: CredentialKind::Secret,
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
        value: CredentialKind::Secret,
        is_apart: false,
    },
    CredentialOption {
        programs: &["sshpass"],
        of: "",
        options: &["-p"],
        value: CredentialKind::Secret,
        is_apart: true,
    },
    CredentialOption {
        programs: &["redis-cli"],
        of: "",
        options: &["-a"],
        value: CredentialKind::Secret,
        is_apart: true,
    },
    CredentialOption {
        programs: &["ldapsearch", "ldapadd", "ldapmodify", "ldapdelete"],
        of: "",
        options: &["-w"],
        value: CredentialKind::Secret,
        is_apart: true,
    },
];

/// Commands that read a credential as their input, by their words from the first on; between them
/// may be others.
const READ_FROM_INPUT: &[&[&str]] = &[
    &["docker", "login", "--password-stdin"],
    &["podman", "login", "--password-stdin"],
    &["buildah", "login", "--password-stdin"],
    &["skopeo", "login", "--password-stdin"],
    &["nerdctl", "login", "--password-stdin"],
    &["oras", "login", "--password-stdin"],
    &["crane", "login", "--password-stdin"],
    &["helm", "login", "--password-stdin"],
    &["docker", "secret", "create"],
    &["podman", "secret", "create"],
    &["gh", "login", "--with-token"],
    &["gh", "secret", "set"],
    &["glab", "login", "--stdin"],
    &["vault", "login", "-"],
    &["wrangler", "secret", "put"],
    &["vercel", "env", "add"],
    &["passwd", "--stdin"],
    &["htpasswd", "-i"],
    &["smbpasswd", "-s"],
];

/// Commands whose input is `user:password`.
const READ_PASSWORDS: &[&[&str]] = &[&["chpasswd"], &["sudo", "chpasswd"]];

/// Commands by which a setting gets a value: its name and the value are words.
const SETTING_COMMANDS: &[&[&str]] = &[
    &["npm", "config", "set"],
    &["npm", "set"],
    &["pnpm", "config", "set"],
    &["yarn", "config", "set"],
    &["aws", "configure", "set"],
    &["git", "config"],
    &["gcloud", "config", "set"],
    &["pip", "config", "set"],
    &["poetry", "config"],
    &["composer", "config"],
    &["conda", "config", "--set"],
];

/// Programs that take a password as a word of its own, without an option before it.
const POSITIONAL_PROGRAMS: [&str; 1] = ["htpasswd"];

/// Programs and subcommands that are in a table.
pub(super) fn known(word: &str) -> Option<&'static str> {
    let name = file_name(word);
    let mut names = CREDENTIAL_OPTIONS
        .iter()
        .flat_map(|taken| taken.programs.iter().copied().chain([taken.of]))
        .chain(POSITIONAL_PROGRAMS);
    names.find(|known| !known.is_empty() && *known == name)
}

fn file_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Returns the kind of credential that a command reads as its input, by its words so far; `None`
/// for other input. The first word is the program; arguments of a wrapped program are not examined.
pub(super) fn reads(words: &[String]) -> Option<CredentialKind> {
    let is = |table: &[&[&str]]| table.iter().any(|pattern| are_words_of(pattern, words));
    if is(READ_PASSWORDS) {
        return Some(CredentialKind::User);
    }
    is(READ_FROM_INPUT).then_some(CredentialKind::Secret)
}

/// True if these words are the beginning of a command that sets something, so that a name follows.
pub(super) fn sets(words: &[String]) -> bool {
    SETTING_COMMANDS
        .iter()
        .any(|pattern| are_words_of(pattern, words))
}

/// True if the first word is the pattern's first, and the rest of the pattern follows in its order.
fn are_words_of(pattern: &[&str], words: &[String]) -> bool {
    let (Some((program, pattern)), Some((first, rest))) =
        (pattern.split_first(), words.split_first())
    else {
        return false;
    };
    let mut rest = rest.iter();
    file_name(first) == *program && pattern.iter().all(|wanted| rest.any(|word| word == wanted))
}

/// True if the next word of these is the password of `htpasswd -b [FILE] USER PASSWORD`.
pub(super) fn is_password_next(words: &[String]) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    let (options, others): (Vec<&String>, Vec<&String>) =
        rest.iter().partition(|word| word.starts_with('-'));
    let has = |letter: char| {
        options
            .iter()
            .any(|option| !option.starts_with("--") && option.contains(letter))
    };
    let before = if has('n') { 1 } else { 2 };
    POSITIONAL_PROGRAMS.contains(&file_name(first)) && has('b') && others.len() == before
}

fn options_of<'a>(
    programs: &'a [&'static str],
) -> impl Iterator<Item = &'static CredentialOption> + 'a {
    CREDENTIAL_OPTIONS.iter().filter(|taken| {
        taken.programs.iter().any(|name| programs.contains(name))
            && (taken.of.is_empty() || programs.contains(&taken.of))
    })
}

/// Returns the kind of credential that the next word is. `-sSu` is read as `-s -S -u`. A word with
/// `is_glued` is a quoted text without a blank before it.
pub(super) fn next_word(
    programs: &[&'static str],
    word: &str,
    is_glued: bool,
) -> Option<CredentialKind> {
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
        let range = word.end - value.len()..word.end;
        match taken.value {
            CredentialKind::User => password(text, range),
            CredentialKind::Cookie | CredentialKind::Assigned => assigned(text, range),
            CredentialKind::Secret => {
                let is_value = !value.is_empty() && !value.starts_with('$');
                is_value.then_some(range)
            }
        }
    })
}

/// The value of `name=value`.
pub(super) fn assigned(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let (name, value) = text[range.clone()].split_once('=')?;
    let is_one = !name.is_empty() && !value.is_empty() && !value.starts_with('$');
    is_one.then(|| range.end - value.len()..range.end)
}

/// The password of `user:password`.
pub(super) fn password(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let (user, password) = text[range.clone()].split_once(':')?;
    let is_one = !user.is_empty() && !password.is_empty() && !password.starts_with('$');
    is_one.then(|| range.end - password.len()..range.end)
}
