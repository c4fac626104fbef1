//! The home directories whose secrets this process could read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The list of accounts.
const ACCOUNTS_FILE: &str = "/etc/passwd";

/// The parent directory of people's homes, including homes without an account in the list.
const HOMES_DIRECTORY: &str = "/home";

/// Accounts with a smaller uid belong to services.
const FIRST_PERSON_UID: u32 = 1000;

/// The account for processes that own no files.
const UNPRIVILEGED_UID: u32 = 65534;

/// Directories that accounts of services name as their home, but that have no files of a service.
const DIRECTORIES_WITHOUT_HOMES: [&str; 9] = [
    "/bin", "/sbin", "/usr", "/dev", "/proc", "/sys", "/run", "/tmp", "/nonexistent",
];

/// A home directory other than the one that the environment names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OtherHome {
    pub(super) path: PathBuf,
    /// True for a service's home, in which only existing secrets are hidden.
    pub(super) is_of_service: bool,
}

/// Returns the home of the account that this process runs as and, if the account is root, all other
/// homes.
pub(super) fn others() -> BTreeSet<OtherHome> {
    let accounts = fs::read_to_string(ACCOUNTS_FILE).unwrap_or_default();
    let user = rustix::process::geteuid();
    let mut homes = parse_homes(&accounts, user.as_raw());
    if user.is_root() {
        let people = fs::read_dir(HOMES_DIRECTORY)
            .into_iter()
            .flatten()
            .flatten();
        homes.extend(people.map(|entry| OtherHome {
            path: entry.path(),
            is_of_service: false,
        }));
    }
    homes.retain(|home| home.path.is_dir());
    homes
}

/// Parses lines `name:password:user:group:comment:home:shell`, and returns the homes that this user
/// could read.
fn parse_homes(accounts: &str, user: u32) -> BTreeSet<OtherHome> {
    let homes = accounts.lines().filter_map(|line| {
        let mut fields = line.split(':').skip(2);
        let owner: u32 = fields.next()?.parse().ok()?;
        let path = Path::new(fields.nth(2)?);
        let is_own = owner == user;
        let is_home = path.is_absolute()
            && path.parent().is_some()
            && !DIRECTORIES_WITHOUT_HOMES
                .iter()
                .any(|programs| path.starts_with(programs));
        let is_of_service =
            !is_own && (owner < FIRST_PERSON_UID || owner == UNPRIVILEGED_UID) && owner != 0;
        (is_home && (is_own || user == 0)).then(|| OtherHome {
            path: path.to_owned(),
            is_of_service,
        })
    });
    homes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNT_LINES: &str = "root:x:0:0:root:/root:/bin/bash
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
postgres:x:105:110::/var/lib/postgresql:/bin/bash
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
ann:x:1000:1000:Ann,,,:/home/ann:/bin/bash
bob:x:1001:1001::/srv/bob:/bin/sh
broken
odd:x:1002:1002::relative:/bin/sh
top:x:1003:1003::/:/bin/sh
";

    #[test]
    fn parse_homes_returns_all_homes_for_root_and_the_own_home_for_others() {
        let named = |user| -> Vec<(String, bool)> {
            let homes = parse_homes(ACCOUNT_LINES, user).into_iter();
            homes
                .map(|home| (home.path.display().to_string(), home.is_of_service))
                .collect()
        };
        let of = |path: &str, is_of_service| (path.to_owned(), is_of_service);
        let all = [
            of("/home/ann", false),
            of("/root", false),
            of("/srv/bob", false),
            of("/var/lib/postgresql", true),
        ];
        assert_eq!(named(0), all);
        assert_eq!(named(1001), [of("/srv/bob", false)]);
        assert_eq!(named(105), [of("/var/lib/postgresql", false)]);
        assert!(named(7).is_empty());
    }
}
