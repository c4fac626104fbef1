//! Tables of program options that take a credential although the option's name does not show it,
//! and their lookup.

use agent_bash_core::words;
use std::ops::Range;

/// The form of a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CredentialKind {
    /// The whole value is secret.
    Secret,
    /// `user:password`.
    User,
    /// `name=value; name=value`, unless it is the name of a file.
    Cookie,
    /// `name=value`; the value is secret for every name.
    Assigned,
}

/// Options of programs that take a credential.
struct CredentialOption {
    /// Names of programs, without a directory.
    programs: &'static [&'static str],
    /// The subcommand that has these options; empty if they do not depend on the subcommand.
    subcommand: &'static str,
    options: &'static [&'static str],
    value: CredentialKind,
    /// True if the value may be the next word; false if it must be attached to the option.
    is_next_word: bool,
}

/// Makes the table. A row has the programs, the subcommand, the options, the value, and true if the
/// value is the next word.
macro_rules! credential_options {
    ($($programs:literal $subcommand:literal $options:literal $value:ident $is_next_word:literal;)*) => {
        &[$(CredentialOption {
            programs: words![$programs],
            subcommand: $subcommand,
            options: words![$options],
            value: CredentialKind::$value,
            is_next_word: $is_next_word,
        }),*]
    };
}

const CREDENTIAL_OPTIONS: &[CredentialOption] = credential_options! {
    "curl" "" "-u --user -U --proxy-user" User true;
    "curl" "" "-b --cookie" Cookie true;
    "http https xh xhs" "" "-a --auth" User true;
    "openssl" "" "-k -K" Secret true;
    "kubectl oc" "secret" "--from-literal" Assigned true;
    "gh" "secret" "-b --body" Secret true;
    "mongosh mongo mongodump mongorestore mongoexport mongoimport cqlsh" "" "-p" Secret true;
    "zip unzip zipcloak sqlcmd bcp" "" "-P" Secret true;
    "7z 7za 7zr 7zz rar unrar" "" "-hp -p" Secret false;
    "docker podman buildah skopeo nerdctl helm oras az" "login" "-p" Secret true;
    // These accept only an attached password: the word after `-p` is a database.
    "mysql mysqldump mysqladmin mysqlimport mariadb mariadb-dump" "" "-p" Secret false;
    "sshpass" "" "-p" Secret true;
    "redis-cli" "" "-a" Secret true;
    "ldapsearch ldapadd ldapmodify ldapdelete" "" "-w" Secret true;
};

/// Commands that read a credential from their input. Each pattern has the program, then words that
/// follow in this order, possibly with other words between them.
const SECRET_READERS: &[&[&str]] = &[
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

/// Commands that read `user:password` from their input.
const USER_PASSWORD_READERS: &[&[&str]] = &[&["chpasswd"], &["sudo", "chpasswd"]];

/// Commands that set a value; the name and the value of the setting follow as words.
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

/// Programs with a password as a positional argument.
const POSITIONAL_PROGRAMS: [&str; 1] = ["htpasswd"];

/// Returns the program or subcommand, if it is in a table.
pub(super) fn known_program(word: &str) -> Option<&'static str> {
    let name = file_name(word);
    let mut names = CREDENTIAL_OPTIONS
        .iter()
        .flat_map(|entry| entry.programs.iter().copied().chain([entry.subcommand]))
        .chain(POSITIONAL_PROGRAMS);
    names.find(|known| !known.is_empty() && *known == name)
}

fn file_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Returns the kind of credential that a command reads from its input, by its words so far. The
/// first word must be the program itself, not another program that starts it.
pub(super) fn input_credential(words: &[String]) -> Option<CredentialKind> {
    let matches_one_of =
        |table: &[&[&str]]| table.iter().any(|pattern| matches_pattern(pattern, words));
    if matches_one_of(USER_PASSWORD_READERS) {
        return Some(CredentialKind::User);
    }
    matches_one_of(SECRET_READERS).then_some(CredentialKind::Secret)
}

/// True if the words are a command that sets a setting, so that the setting's name follows.
pub(super) fn is_setting_command(words: &[String]) -> bool {
    SETTING_COMMANDS
        .iter()
        .any(|pattern| matches_pattern(pattern, words))
}

/// True if the first word is that of the pattern, and the other words of the pattern follow in
/// their order.
fn matches_pattern(pattern: &[&str], words: &[String]) -> bool {
    let (Some((program, pattern)), Some((first, rest))) =
        (pattern.split_first(), words.split_first())
    else {
        return false;
    };
    let mut rest = rest.iter();
    file_name(first) == *program && pattern.iter().all(|wanted| rest.any(|word| word == wanted))
}

/// True if the next word is the password of `htpasswd -b [FILE] USER PASSWORD`.
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
    let words_before_password = if has('n') { 1 } else { 2 };
    POSITIONAL_PROGRAMS.contains(&file_name(first))
        && has('b')
        && others.len() == words_before_password
}

fn options_of<'a>(
    programs: &'a [&'static str],
) -> impl Iterator<Item = &'static CredentialOption> + 'a {
    CREDENTIAL_OPTIONS.iter().filter(|entry| {
        entry.programs.iter().any(|name| programs.contains(name))
            && (entry.subcommand.is_empty() || programs.contains(&entry.subcommand))
    })
}

/// Returns the kind of credential that the word after `word` is. `-sSu` is read as `-s -S -u`.
/// `precedes_quote` is true if a quoted text follows `word` without a blank.
pub(super) fn kind_of_next_word(
    programs: &[&'static str],
    word: &str,
    precedes_quote: bool,
) -> Option<CredentialKind> {
    let letters = word.strip_prefix('-').unwrap_or_default();
    let is_cluster = letters.len() <= 6 && letters.bytes().all(|b| b.is_ascii_alphabetic());
    let is = |option: &str| {
        word == option || option.len() == 2 && is_cluster && letters.ends_with(&option[1..])
    };
    let mut candidates = options_of(programs).filter(|entry| entry.is_next_word || precedes_quote);
    let found = candidates.find(|entry| entry.options.iter().any(|option| is(option)))?;
    Some(found.value)
}

/// Returns the range of a credential that is attached to an option: `-phunter2`,
/// `--user=me:hunter2`.
pub(super) fn attached_credential(
    programs: &[&'static str],
    text: &str,
    word: &Range<usize>,
) -> Option<Range<usize>> {
    let whole = &text[word.clone()];
    options_of(programs).find_map(|entry| {
        let value = entry.options.iter().find_map(|option| {
            let value = whole.strip_prefix(option)?;
            if option.starts_with("--") {
                value.strip_prefix('=')
            } else {
                Some(value)
            }
        })?;
        let value = value.trim_start_matches(['"', '\'']);
        let range = word.end - value.len()..word.end;
        match entry.value {
            CredentialKind::User => password(text, range),
            CredentialKind::Cookie | CredentialKind::Assigned => assigned_value(text, range),
            CredentialKind::Secret => {
                let is_value = !value.is_empty() && !value.starts_with('$');
                is_value.then_some(range)
            }
        }
    })
}

/// Returns the range of the value in `name=value`.
pub(super) fn assigned_value(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let (name, value) = text[range.clone()].split_once('=')?;
    let is_present = !name.is_empty() && !value.is_empty() && !value.starts_with('$');
    is_present.then(|| range.end - value.len()..range.end)
}

/// Returns the range of the password in `user:password`.
pub(super) fn password(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let (user, password) = text[range.clone()].split_once(':')?;
    let is_present = !user.is_empty() && !password.is_empty() && !password.starts_with('$');
    is_present.then(|| range.end - password.len()..range.end)
}
