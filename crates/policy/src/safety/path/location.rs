//! Determines where a path leads, as far as it is literal: to the root, a system directory, a home,
//! or below one.
//!
//! A path with an unknown beginning has no known location. Nor has the script's initial directory
//! unless it is named by its path: its contents are the caller's business.

use super::{
    FOR_OTHERS, HOME_PARENTS, PathBase, PathPart, SYSTEM_DIRECTORIES, components,
    is_system_directory, resolve, same, split,
};
use crate::syntax::CommandHost;
use crate::syntax::value::{Value, ValuePiece};

/// Block devices that hold no data of their own, and devices that are not disks.
const HARMLESS_DEVICES: [&str; 18] = [
    "loop", "zram", "ram", "null", "zero", "full", "random", "urandom", "tty", "pts", "ptmx",
    "std", "fd", "shm", "console", "tcp", "udp", "fuse",
];

/// Directories of the system with parts that belong to services or users.
const OWNED: [&[&str]; 2] = [&["var"], &["usr", "local"]];

/// The components of an absolute path.
#[derive(Debug)]
pub(in super::super) struct Location {
    pub(super) parts: Vec<PathPart>,
    /// True for the script's initial directory, named by a relative path.
    is_here: bool,
}

impl Location {
    /// Returns the location of a path; `None` if unknown.
    pub(in super::super) fn of(path: &Value, place: &PathBase<'_>) -> Option<Location> {
        if path.is_empty() || matches!(path.pieces().first(), Some(ValuePiece::Unknown { .. })) {
            return None;
        }
        let mut parts = split(path);
        let is_absolute = path.prefix().starts_with('/');
        let cwd = place.cwd.map(components);
        if !is_absolute {
            let around = cwd.as_ref()?.iter().map(|name| PathPart::text(name));
            parts = around.chain(parts).collect();
        }
        let mut parts = resolve(&parts);
        if let CommandHost::Disposable(mounts) = place.host {
            parts = super::on_this_machine(&parts, mounts).into_iter().next()?;
        }
        let here = components(place.base);
        let is_here =
            !is_absolute && place.cwd == Some(place.base) && same(&parts[..closed(&parts)], &here);
        Some(Location { parts, is_here })
    }

    /// True if the path means all of the root, a system directory or a home: itself, or everything
    /// in it (`/*`, `~/.*`).
    pub(in super::super) fn is_landmark(&self, home: Option<&str>) -> bool {
        let (stem, tail) = self.parts.split_at(closed(&self.parts));
        if self.is_here {
            return false;
        }
        let unknown = tail.iter().any(PathPart::has_unknown);
        let is_homes = |part: &PathPart| {
            part.literal()
                .is_some_and(|name| HOME_PARENTS.contains(&name))
        };
        let is_home = match stem {
            // `/home/$USER`
            [first] => is_homes(first) || first.literal() == Some("root"),
            [first, second] => is_homes(first) && second.literal().is_some() && !unknown,
            _ => false,
        };
        let is_own = home.is_some_and(|home| same(stem, &components(home)));
        let is_system = |part: &PathPart| {
            let name = part.literal().unwrap_or("");
            SYSTEM_DIRECTORIES.contains(&name) && !FOR_OTHERS.contains(&name)
        };
        match stem {
            [] => true,
            _ if is_home || is_own && !unknown => true,
            // A path below one of them with an unknown name may well belong to the caller.
            [_] | [_, _] => !unknown && stem.iter().all(is_system),
            _ => false,
        }
    }

    /// True if the path is a whole directory of the system or of a service, or everything in it.
    pub(in super::super) fn is_system(&self) -> bool {
        let (stem, tail) = self.parts.split_at(closed(&self.parts));
        !self.is_here && !tail.iter().any(PathPart::has_unknown) && is_system_directory(stem)
    }

    /// True if that directory is one of the system's own: below `/var` and `/usr/local`, parts
    /// belong to services or users.
    pub(in super::super) fn is_of_system(&self) -> bool {
        let stem = &self.parts[..closed(&self.parts)];
        let is_owned =
            |names: &&[&str]| stem.len() > names.len() && same(&stem[..names.len()], names);
        self.is_system() && !OWNED.iter().any(is_owned)
    }

    /// Returns the components, if all of them are known.
    pub(super) fn literal(&self) -> Option<Vec<&str>> {
        self.parts.iter().map(PathPart::literal).collect()
    }

    /// Returns the components below a home; a final pattern or unknown component is `""`.
    pub(in super::super) fn below_home(&self, home: Option<&str>) -> Option<Vec<&str>> {
        let names: Vec<&str> = self
            .parts
            .iter()
            .map(|part| part.literal().unwrap_or(""))
            .collect();
        let own = home.map(components).unwrap_or_default();
        if !own.is_empty() && names.starts_with(&own) {
            return Some(names[own.len()..].to_vec());
        }
        match names.as_slice() {
            ["root", rest @ ..] => Some(rest.to_vec()),
            [homes, _, rest @ ..] if HOME_PARENTS.contains(homes) => Some(rest.to_vec()),
            _ => None,
        }
    }

    /// True if the path could be a disk under any name: for programs that only handle disks.
    pub(in super::super) fn is_block_device(&self) -> bool {
        self.device().is_some_and(|(names, _)| {
            let other = |name: &&str| HARMLESS_DEVICES.iter().any(|other| name.starts_with(other));
            !names.first().is_some_and(other)
        })
    }

    /// Returns the components below `/dev` up to the first pattern or unknown name, and true if
    /// these are all.
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

/// The number of parts, without unknown ones at the end.
fn closed(parts: &[PathPart]) -> usize {
    parts
        .iter()
        .rposition(|part| !part.is_open())
        .map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::pattern::push_globbed;
    use crate::syntax::value::UnknownCause;

    /// In a test path, `$` stands for an unknown part.
    fn location(path: &str, cwd: &str) -> Option<Location> {
        let mut value = Value::default();
        for (index, text) in path.split('$').enumerate() {
            if index > 0 {
                value.push_unknown(UnknownCause::Output, false);
            }
            push_globbed(&mut value, text);
        }
        let place = PathBase {
            cwd: Some(cwd),
            base: "/home/u/project",
            home: Some("/home/u"),
            host: &CommandHost::Local,
        };
        Location::of(&value, &place)
    }

    #[test]
    fn landmarks_are_told_from_what_is_in_them() {
        for (path, expect) in [
            ("/", true),
            ("/*", true),
            ("/$", true),
            ("/usr/..", true),
            ("/etc", true),
            ("/etc/*", true),
            ("/usr/lib/", true),
            ("/home/u", true),
            ("/home/u/*", true),
            ("/home/u/.*", true),
            ("/home/$", true),
            ("/home/other", true),
            ("/root", true),
            ("..", true),
            ("../../..", true),
            ("../*", true),
            (".", false),
            ("*", false),
            ("./*", false),
            ("build", false),
            ("/etc/app", false),
            ("/usr/local", false),
            ("/var/$", false),
            ("/home/u/$", false),
            ("/home/u/x*", false),
            ("/home/u/project", false),
            ("/app", false),
            ("/srv", false),
            ("$", false),
            ("$/", false),
            ("/tmp/*", false),
        ] {
            let found = location(path, "/home/u/project")
                .is_some_and(|found| found.is_landmark(Some("/home/u")));
            assert_eq!(found, expect, "{path}");
        }
        let elsewhere = location(".", "/home/u").unwrap();
        assert!(elsewhere.is_landmark(Some("/home/u")));
    }

    #[test]
    fn what_is_below_a_home_or_among_the_devices_is_known_by_its_name() {
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
