//! Resolves a path to its location, as far as the path is literal: the root, a system directory, a
//! home, or a path below these.
//!
//! A path with an unknown beginning has no known location. A relative path to the script's initial
//! directory is not a landmark: the script may change the files of its working directory.

use super::part::{
    PathPart, are_names, below, components, names, resolve, split_open_end, split_value,
};
use super::system_directories::{
    ADDED_SOFTWARE, DIRECTORIES_FOR_USERS, SYSTEM_DIRECTORIES, is_system_directory,
};
use super::{HOME_PARENTS, PathBase};
use crate::syntax::CommandHost;
use crate::syntax::value::{Value, ValuePiece};

/// Block devices that hold no data of their own, and devices that are not disks.
const HARMLESS_DEVICES: [&str; 18] = [
    "loop", "zram", "ram", "null", "zero", "full", "random", "urandom", "tty", "pts", "ptmx",
    "std", "fd", "shm", "console", "tcp", "udp", "fuse",
];

/// Directories of the system with subdirectories that belong to services or users.
const SHARED_DIRECTORIES: [&[&str]; 2] = [&["var"], &["usr", "local"]];

/// The components of an absolute path.
#[derive(Debug)]
pub(in super::super) struct Location {
    pub(super) parts: Vec<PathPart>,
    /// True for the script's initial directory, if the script names it by a relative path.
    is_initial_cwd: bool,
}

impl Location {
    /// Returns the location of a path; `None` if unknown.
    pub(in super::super) fn of(path: &Value, path_base: &PathBase<'_>) -> Option<Location> {
        if path.is_empty() || matches!(path.pieces().first(), Some(ValuePiece::Unknown { .. })) {
            return None;
        }
        let mut parts = split_value(path);
        let is_absolute = path.prefix().starts_with('/');
        if !is_absolute {
            parts = below(path_base.cwd?, parts);
        }
        let mut parts = resolve(&parts);
        if !is_absolute && parts.first().is_some_and(PathPart::is_unknown) {
            return None;
        }
        if let CommandHost::Disposable(mounts) = path_base.host {
            parts = super::on_this_machine(&parts, mounts).into_iter().next()?;
        }
        let initial_cwd = components(path_base.initial_cwd);
        let is_initial_cwd = !is_absolute
            && path_base.cwd == Some(path_base.initial_cwd)
            && are_names(split_open_end(&parts).0, &initial_cwd);
        Some(Location {
            parts,
            is_initial_cwd,
        })
    }

    /// True if the path is the root, a system directory or a home, or a pattern for all files in
    /// such a directory (`/*`, `~/.*`).
    pub(in super::super) fn is_landmark(&self, home: Option<&str>) -> bool {
        let (stem, tail) = split_open_end(&self.parts);
        if self.is_initial_cwd {
            return false;
        }
        let has_unknown = tail.iter().any(PathPart::has_unknown);
        let is_home_parent = |part: &PathPart| part.is_one_of(&HOME_PARENTS);
        let is_home = match stem {
            // `/home/$USER`
            [first] => is_home_parent(first) || first.is_one_of(&["root"]),
            [first, second] => is_home_parent(first) && second.is_user() && !has_unknown,
            _ => false,
        };
        let is_own_home = home.is_some_and(|home| are_names(stem, &components(home)));
        let is_system = |part: &PathPart| {
            part.is_one_of(&SYSTEM_DIRECTORIES) && !part.is_one_of(&DIRECTORIES_FOR_USERS)
        };
        // `/$NAME.$NUMBER` is a file.
        let is_composed = |part: &PathPart| part.has_unknown() && part.pieces.len() > 1;
        match stem {
            [] => !tail.iter().any(is_composed),
            _ if is_home || is_own_home && !has_unknown => true,
            [first, _] if ADDED_SOFTWARE.iter().any(|name| first.could_be(name)) => false,
            // A path with an unknown name below a system directory may belong to the user.
            [_] | [_, _] => !has_unknown && stem.iter().all(is_system),
            _ => false,
        }
    }

    /// True if the path is a directory of the system or of a service, or a pattern for all files in
    /// such a directory.
    pub(in super::super) fn is_system(&self) -> bool {
        let (stem, tail) = split_open_end(&self.parts);
        !self.is_initial_cwd && !tail.iter().any(PathPart::has_unknown) && is_system_directory(stem)
    }

    /// True if [`Self::is_system`] holds and the directory belongs to the system itself.
    /// Subdirectories of `/var` and `/usr/local` belong to services or users.
    pub(in super::super) fn is_of_system(&self) -> bool {
        let (stem, _) = split_open_end(&self.parts);
        let contains =
            |names: &&[&str]| stem.len() > names.len() && are_names(&stem[..names.len()], names);
        self.is_system() && !SHARED_DIRECTORIES.iter().any(contains)
    }

    /// Returns the components, if all of them are known.
    pub(super) fn literal(&self) -> Option<Vec<&str>> {
        self.parts.iter().map(PathPart::literal).collect()
    }

    /// Returns the components below a home; `""` stands for a pattern or an unknown component.
    pub(in super::super) fn below_home(&self, home: Option<&str>) -> Option<Vec<&str>> {
        let names = names(&self.parts, "");
        let home = home.map(components).unwrap_or_default();
        if !home.is_empty() && names.starts_with(&home) {
            return Some(names[home.len()..].to_vec());
        }
        match names.as_slice() {
            ["root", rest @ ..] => Some(rest.to_vec()),
            [parent, _, rest @ ..] if HOME_PARENTS.contains(parent) => Some(rest.to_vec()),
            _ => None,
        }
    }

    /// True for every path below `/dev` except the harmless devices. For programs that only handle
    /// disks, such as `mkfs`.
    pub(in super::super) fn is_block_device(&self) -> bool {
        self.device().is_some_and(|(names, _)| {
            let is_harmless = |name: &&str| {
                HARMLESS_DEVICES
                    .iter()
                    .any(|device| name.starts_with(device))
            };
            !names.first().is_some_and(is_harmless)
        })
    }

    /// Returns the components below `/dev` up to the first pattern or unknown name, and true if all
    /// components are known.
    pub(in super::super) fn device(&self) -> Option<(Vec<&str>, bool)> {
        let (first, rest) = self.parts.split_first()?;
        if first.literal() != Some("dev") || rest.is_empty() {
            return None;
        }
        let mut known = Vec::new();
        for part in rest {
            match (part.literal(), part.pieces.first()) {
                (Some(name), _) => known.push(name),
                (None, Some(ValuePiece::Text(beginning))) => {
                    known.push(beginning);
                    return Some((known, false));
                }
                (None, _) => return Some((known, false)),
            }
        }
        Some((known, true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::pattern::push_globbed;
    use crate::syntax::value::UnknownCause;
    use agent_bash_core::words;

    /// In a test path, `$` stands for an unknown part.
    fn location(path: &str, cwd: &str) -> Option<Location> {
        let mut value = Value::default();
        for (index, text) in path.split('$').enumerate() {
            if index > 0 {
                value.push_unknown(UnknownCause::Output, false);
            }
            push_globbed(&mut value, text);
        }
        let path_base = PathBase {
            cwd: Some(cwd),
            initial_cwd: "/home/u/project",
            home: Some("/home/u"),
            host: &CommandHost::Local,
        };
        Location::of(&value, &path_base)
    }

    #[test]
    fn landmarks_are_distinguished_from_their_contents() {
        for (expect, paths) in [
            (
                true,
                words![
                    "/ /* /$ /usr/.. /etc /etc/* /usr/lib/ /home/u /home/u/* /home/u/.* /home/$",
                    "/home/other /root .. ../../.. ../*",
                ],
            ),
            (
                false,
                words![
                    ". * ./* build /etc/app /usr/local /var/$ /home/u/$ /home/u/x*",
                    "/home/u/project /home//.vimrc /app /srv $ $/ /tmp/*",
                ],
            ),
        ] {
            for &path in paths {
                let found = location(path, "/home/u/project")
                    .is_some_and(|found| found.is_landmark(Some("/home/u")));
                assert_eq!(found, expect, "{path}");
            }
        }
        let elsewhere = location(".", "/home/u").unwrap();
        assert!(elsewhere.is_landmark(Some("/home/u")));
    }

    #[test]
    fn paths_below_homes_and_devices_are_recognised_by_name() {
        for (path, cwd, expect) in [
            ("/home/u/.bashrc", "/", Some(vec![".bashrc"])),
            (".ssh/id_rsa", "/home/u", Some(vec![".ssh", "id_rsa"])),
            ("/root/.ssh/*", "/", Some(vec![".ssh", ""])),
            ("/home/x/.profile", "/", Some(vec![".profile"])),
            ("/etc/passwd", "/", None),
        ] {
            let found = location(path, cwd).unwrap();
            assert_eq!(found.below_home(Some("/home/u")), expect, "{path}");
        }
        for (path, expect) in [
            ("/dev/sda", Some((vec!["sda"], true))),
            ("/dev/sd?", Some((vec!["sd"], false))),
            ("/dev/$", Some((vec![], false))),
            (
                "/dev/disk/by-id/x",
                Some((vec!["disk", "by-id", "x"], true)),
            ),
            ("/dev", None),
            ("dev/sda", None),
        ] {
            let found = location(path, "/home/u/project").unwrap();
            assert_eq!(found.device(), expect, "{path}");
        }
    }
}
