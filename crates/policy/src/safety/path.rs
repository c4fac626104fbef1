//! Decides whether recursively removing a path would remove something important; `location`
//! determines where a path leads.
//!
//! Purely lexical: `.` and `..` are resolved, symbolic links are not (the file system is never
//! consulted).

mod location;
mod worth;

use crate::syntax::pattern;
use crate::syntax::value::{UnknownCause, Value, ValuePiece};
use crate::syntax::{CommandHost, Mount};

pub(super) use location::Location;
pub(super) use worth::{PathWorth, WORTHS, worth};

/// System directories. A path with an unknown beginning that ends with one of these names may be
/// the system directory.
const SYSTEM_DIRECTORIES: [&str; 26] = [
    "bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "media", "mnt", "opt", "proc",
    "root", "run", "sbin", "srv", "sys", "usr", "var", "Applications", "Library", "System",
    "Users", "Volumes", "private", "nix",
];

/// System directories in which only users and services store files.
const DIRECTORIES_FOR_USERS: [&str; 5] = ["media", "mnt", "srv", "Volumes", "nix"];

/// Directories in system directories that services or the system itself need: their parents, and
/// their names.
const SERVICES: [(&[&str], &[&str]); 12] = [
    (
        &["usr"],
        &["local", "share", "include", "libexec", "src", "games"],
    ),
    (&["usr", "lib"], &["*"]),
    (&["usr", "lib64"], &["*"]),
    (&["lib"], &["*"]),
    (&["lib64"], &["*"]),
    (&["usr", "libexec"], &["*"]),
    (
        &["usr", "share"],
        &[
            "zoneinfo", "ca-certificates", "keyrings", "dbus-1", "polkit-1", "terminfo", "perl*",
            "python*", "glib-2.0", "mime", "fonts", "X11", "systemd", "pam*", "base-*", "i18n",
        ],
    ),
    (
        &["usr", "local"],
        &["bin", "etc", "include", "lib", "sbin", "share"],
    ),
    (&["var"], &["log", "mail", "spool", "www"]),
    (&["boot"], &["grub", "grub2", "efi", "EFI", "loader"]),
    (
        &["etc"],
        &[
            "nginx", "apache2", "httpd", "ssh", "ssl", "systemd", "pam.d", "sudoers.d", "apt",
            "yum.repos.d", "cron.d", "cron.daily", "letsencrypt", "mysql", "postgresql", "docker",
            "kubernetes", "X11", "init.d", "network", "NetworkManager", "netplan", "sysconfig",
            "selinux", "security", "ld.so.conf.d", "profile.d", "default", "skel", "alternatives",
            "ca-certificates", "pki", "grub.d", "udev", "modprobe.d", "haproxy", "postfix",
            "redis", "php", "fail2ban", "ufw", "wireguard", "openvpn",
        ],
    ),
    (
        &["var", "lib"],
        &[
            "mysql", "mariadb", "postgresql", "pgsql", "docker", "containerd", "mongodb", "mongo",
            "redis", "etcd", "kubelet", "dpkg", "rpm", "pacman", "apt", "systemd", "libvirt",
            "jenkins", "grafana", "elasticsearch", "clickhouse", "rabbitmq", "influxdb",
            "prometheus", "gitlab", "gitea", "lxc", "lxd", "incus", "snapd", "cassandra", "neo4j",
            "kafka", "zookeeper", "consul", "vault", "minio", "portainer", "longhorn", "rook",
        ],
    ),
];

/// Names of libraries that users install themselves.
const USER_LIBRARIES: [&str; 4] = ["node_modules", "jvm", "go", "debug"];

/// System directories below which a pattern with letters is usual.
const PATTERNS_BELOW: [&[&str]; 8] = [
    &["tmp"],
    &["usr", "local", "bin"],
    &["usr", "local", "include"],
    &["usr", "local", "lib"],
    &["usr", "local", "share"],
    &["var", "log"],
    &["var", "spool"],
    &["var", "www"],
];

/// True if a path is a system directory, an essential directory in a system directory, or a
/// directory of a service.
fn is_system_directory(parts: &[PathPart]) -> bool {
    let names: Vec<&str> = parts
        .iter()
        .map(|part| part.literal().unwrap_or("*"))
        .collect();
    let is_service = |(parents, services): &(&[&str], &[&str])| {
        names
            .split_last()
            .is_some_and(|(name, above)| above == *parents && is_one_of(name, services))
    };
    match names[..] {
        [] => true,
        [name] => SYSTEM_DIRECTORIES.contains(&name) && !DIRECTORIES_FOR_USERS.contains(&name),
        // `/usr/lib`, `/var/lib`, `/private/etc`, `/usr/local`
        [first, second]
            if SYSTEM_DIRECTORIES.contains(&first) && SYSTEM_DIRECTORIES.contains(&second) =>
        {
            true
        }
        [.., name] if USER_LIBRARIES.contains(&name) => false,
        _ => SERVICES.iter().any(is_service),
    }
}

/// True if a name is one of these patterns, in which `*` stands for any text.
fn is_one_of(name: &str, patterns: &[&str]) -> bool {
    let mut patterns = patterns.iter();
    patterns.any(|known| *known == name || known.contains('*') && pattern::matches(known, name))
}

/// Directories of a home that hold a user's work.
const PERSONAL_DIRECTORIES: [&str; 7] = [
    "Documents", "Desktop", "Pictures", "Music", "Videos", "Movies", "Library",
];

/// Directories whose children are homes.
const HOME_PARENTS: [&str; 2] = ["home", "Users"];

/// Why a path is dangerous.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathDanger {
    /// The root directory.
    Root,
    /// A directory directly below the root.
    TopLevel,
    /// A home directory.
    Home,
    /// A `.git` directory.
    Git,
    /// The working directory or one of its parents.
    WorkingDirectory,
    /// An unknown path that may be a dangerous one.
    Unknown,
}

/// The directory and the home from which a command's paths start.
pub(super) struct PathBase<'p> {
    /// The working directory at this point of the script, if known.
    pub(super) cwd: Option<&'p str>,
    /// The script's initial working directory.
    pub(super) initial_cwd: &'p str,
    /// The home directory, if known.
    pub(super) home: Option<&'p str>,
    /// The machine or container.
    pub(super) host: &'p CommandHost,
}

/// One component of a path.
#[derive(Debug, Clone, Default)]
struct PathPart {
    pieces: Vec<ValuePiece>,
}

impl PathPart {
    fn text(text: &str) -> Self {
        PathPart {
            pieces: vec![ValuePiece::Text(text.to_owned())],
        }
    }

    fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [ValuePiece::Text(text)] => Some(text),
            _ => None,
        }
    }

    fn has_unknown(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, ValuePiece::Unknown { .. }))
    }

    /// True if no character of the component except dots is known, so that it may match any name.
    fn is_open(&self) -> bool {
        self.literal().is_none()
            && self.pieces.iter().all(|piece| match piece {
                ValuePiece::Text(text) => text.chars().all(|c| c == '.'),
                ValuePiece::Glob(_) | ValuePiece::Unknown { .. } => true,
            })
    }

    /// True if the component equals the name, or if its pattern matches the name.
    fn could_be(&self, name: &str) -> bool {
        if let Some(text) = self.literal() {
            return text == name;
        }
        let mut value = Value::default();
        for piece in &self.pieces {
            // An unknown part next to letters is assumed to be harmless.
            if matches!(piece, ValuePiece::Unknown { .. }) {
                return false;
            }
            value.extend(&Value::from(piece.clone()));
        }
        // A leading dot is only matched by a literal dot.
        let has_dot =
            matches!(self.pieces.first(), Some(ValuePiece::Text(text)) if text.starts_with('.'));
        (has_dot || !name.starts_with('.')) && pattern::matches(&pattern::of_value(&value), name)
    }
}

/// Returns the danger of recursively removing `operand`, if any.
pub(super) fn danger(operand: &Value, path_base: &PathBase<'_>) -> Option<PathDanger> {
    let mut parts = split(operand);
    if operand.is_empty() || parts.is_empty() {
        return None;
    }
    let is_absolute = operand.prefix().starts_with('/');
    // `$DIR`, `$DIR/…`
    let has_unknown_beginning =
        matches!(operand.pieces().first(), Some(ValuePiece::Unknown { .. }));
    let mounts = match path_base.host {
        CommandHost::Disposable(mounts) => Some(&mounts[..]),
        _ => None,
    };
    if has_unknown_beginning {
        return mounts
            .is_none()
            .then(|| danger_of_unknown_beginning(&parts))?;
    }
    let cwd = path_base.cwd.map(components);
    let mut base = components(path_base.initial_cwd);
    if !is_absolute && base.is_empty() && path_base.cwd == Some(path_base.initial_cwd) {
        // The script starts in the root directory. Relative paths are below the working directory
        // as in any other directory, except for names of system directories.
        if let [part] = parts.as_slice()
            && part
                .literal()
                .is_some_and(|name| SYSTEM_DIRECTORIES.contains(&name))
        {
            return Some(PathDanger::TopLevel);
        }
        base = vec!["\0"];
        parts.insert(0, PathPart::text("\0"));
    } else if !is_absolute {
        match &cwd {
            Some(cwd) => {
                parts = cwd
                    .iter()
                    .map(|name| PathPart::text(name))
                    .chain(parts)
                    .collect();
            }
            None => return mounts.is_none().then(|| danger_in_unknown_cwd(&parts))?,
        }
    }
    let resolved = resolve(&parts);
    let is_explicit = is_absolute || path_base.cwd != Some(path_base.initial_cwd);
    let Some(mounts) = mounts else {
        let found = danger_of_absolute(&resolved, &base, path_base.home, is_explicit);
        let is_of_container = *path_base.host == CommandHost::Container
            && found == Some(PathDanger::TopLevel)
            && !is_system_directory(&resolved);
        return found.filter(|_| !is_of_container);
    };
    let sources = on_this_machine(&resolved, mounts);
    let mut found = sources
        .iter()
        .map(|parts| danger_of_absolute(parts, &base, path_base.home, true));
    found.find_map(|danger| danger)
}

/// Maps a path in a new container to paths on this machine: the path below its mount, or the
/// sources of all mounts below the path.
fn on_this_machine(parts: &[PathPart], mounts: &[Mount]) -> Vec<Vec<PathPart>> {
    let closed = parts.iter().rposition(|part| !part.is_open());
    let stem = &parts[..closed.map_or(0, |last| last + 1)];
    let mapped = |mount: &Mount| {
        let target = components(&mount.target);
        let source = components(&mount.source).into_iter().map(PathPart::text);
        if parts.len() >= target.len() && same(&parts[..target.len()], &target) {
            return Some(
                source
                    .chain(parts[target.len()..].iter().cloned())
                    .collect(),
            );
        }
        let contains_mount = target.len() > stem.len() && same(stem, &target[..stem.len()]);
        contains_mount.then(|| source.collect())
    };
    mounts.iter().filter_map(mapped).collect()
}

/// Returns the components of a value.
fn split(value: &Value) -> Vec<PathPart> {
    let mut parts = vec![PathPart::default()];
    for piece in value.pieces() {
        let ValuePiece::Text(text) = piece else {
            if let Some(last) = parts.last_mut() {
                last.pieces.push(piece.clone());
            }
            continue;
        };
        for (index, name) in text.split('/').enumerate() {
            if index > 0 {
                parts.push(PathPart::default());
            }
            if let (Some(last), false) = (parts.last_mut(), name.is_empty()) {
                last.pieces.push(ValuePiece::Text(name.to_owned()));
            }
        }
    }
    parts
}

/// Returns the names in a path.
fn components(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !name.is_empty()).collect()
}

/// Removes `.` and `..`; the parent of the root is the root.
fn resolve(parts: &[PathPart]) -> Vec<PathPart> {
    let mut out: Vec<PathPart> = Vec::new();
    for part in parts {
        match part.literal() {
            Some("" | ".") => {}
            Some("..") => {
                out.pop();
            }
            _ => out.push(part.clone()),
        }
    }
    out
}

/// Returns the danger of a path with an unknown beginning: it is dangerous unless its end is known.
fn danger_of_unknown_beginning(parts: &[PathPart]) -> Option<PathDanger> {
    let parts = resolve(parts);
    if ends_in_git(&parts) {
        return Some(PathDanger::Git);
    }
    let known: Vec<&PathPart> = parts.iter().filter(|part| !part.is_open()).collect();
    // `${DIR:?}/*`, which linters advise instead of `$DIR/*`.
    let is_required = |part: &PathPart| {
        matches!(
            &part.pieces[..],
            [ValuePiece::Unknown {
                why: UnknownCause::Required(_),
                ..
            }]
        )
    };
    match known.as_slice() {
        [] if parts.len() > 1 && parts.first().is_some_and(is_required) => None,
        [] => Some(PathDanger::Unknown),
        // `$PREFIX/usr`: with an empty prefix, the path is the system's directory.
        [part]
            if part
                .literal()
                .is_some_and(|name| SYSTEM_DIRECTORIES.contains(&name)) =>
        {
            Some(PathDanger::Unknown)
        }
        _ => None,
    }
}

/// Returns the danger of a relative path in an unknown working directory.
fn danger_in_unknown_cwd(parts: &[PathPart]) -> Option<PathDanger> {
    let leaves_cwd = parts.first().and_then(PathPart::literal) == Some("..");
    let parts = resolve(parts);
    if ends_in_git(&parts) {
        return Some(PathDanger::Git);
    }
    (leaves_cwd || parts.iter().all(PathPart::is_open)).then_some(PathDanger::Unknown)
}

/// The directories and files without which a repository is worthless.
const REPOSITORY_DIRECTORIES: [&str; 5] = ["objects", "refs", "HEAD", "config", "packed-refs"];

/// True for `.git`, for a glob or an unknown name directly in `.git`, and for its essential
/// directories and files.
fn ends_in_git(parts: &[PathPart]) -> bool {
    let has_essential_part = parts.windows(2).any(|pair| {
        pair[0].literal() == Some(".git")
            && pair[1]
                .literal()
                .is_some_and(|name| REPOSITORY_DIRECTORIES.contains(&name))
    });
    if has_essential_part {
        return true;
    }
    let closed = parts.iter().rposition(|part| !part.is_open());
    // `build/.??*` is not more dangerous than `build`, so an open last part does not count here.
    let is_git = parts
        .last()
        .is_some_and(|part| !part.is_open() && part.could_be(".git"));
    is_git || closed.is_some_and(|index| parts[index].could_be(".git"))
}

/// Returns the danger of an absolute path. `is_explicit` is false if the script wrote a path
/// relative to its initial directory.
fn danger_of_absolute(
    parts: &[PathPart],
    base: &[&str],
    home: Option<&str>,
    is_explicit: bool,
) -> Option<PathDanger> {
    if parts.is_empty() {
        return Some(PathDanger::Root);
    }
    if ends_in_git(parts) {
        return Some(PathDanger::Git);
    }
    // A glob or an unknown name at the end may match every file of the directory `stem`.
    let closed = parts
        .iter()
        .rposition(|part| !part.is_open())
        .map_or(0, |last| last + 1);
    let (stem, tail) = parts.split_at(closed);
    if let Some(danger) = danger_of_directory(stem, base, home, is_explicit || !tail.is_empty()) {
        // `./$NAME` is assumed to be harmless, `./*` is not.
        let has_unknown_tail = !tail.is_empty() && tail.iter().all(PathPart::has_unknown);
        if !(danger == PathDanger::WorkingDirectory && has_unknown_tail && same(stem, base)) {
            return Some(danger);
        }
    }
    // A pattern with letters directly below a dangerous directory: `/u*r`, `~/x*`.
    let last = parts.last()?;
    if last.literal().is_none() && !last.has_unknown() {
        let parent = &parts[..parts.len() - 1];
        let parent_danger = danger_of_directory(parent, base, home, true);
        let is_usual = PATTERNS_BELOW.iter().any(|names| same(parent, names));
        if !is_usual
            && matches!(
                parent_danger,
                Some(PathDanger::Root | PathDanger::TopLevel | PathDanger::Home)
            )
        {
            return parent_danger;
        }
        // `../pro*` may match the current directory.
        if parts.len() <= base.len()
            && parts
                .iter()
                .zip(base)
                .all(|(part, name)| part.could_be(name))
        {
            return Some(PathDanger::WorkingDirectory);
        }
    }
    None
}

/// Returns the absolute path that removing `operand` affects. Links and `..` are not resolved; for
/// a pattern at the end, the path of its directory. `None` if the path depends on more than the
/// text.
pub(super) fn touched(operand: &Value, path_base: &PathBase<'_>) -> Option<String> {
    if operand.is_empty() {
        return None;
    }
    let mut parts = split(operand);
    let is_pattern = |part: &PathPart| {
        // `.*` also matches `..`.
        let is_hidden =
            matches!(part.pieces.first(), Some(ValuePiece::Text(text)) if text.starts_with('.'));
        part.literal().is_none() && !part.has_unknown() && !is_hidden
    };
    if parts.last().is_some_and(is_pattern) {
        parts.pop();
    }
    let mut path = if operand.prefix().starts_with('/') {
        String::new()
    } else {
        path_base.cwd?.trim_end_matches('/').to_owned()
    };
    for part in &parts {
        let name = part.literal()?;
        if !name.is_empty() {
            path.push('/');
            path.push_str(name);
        }
    }
    if path.is_empty() {
        path.push('/');
    }
    Some(path)
}

/// True if the components are exactly these names.
fn same(parts: &[PathPart], names: &[&str]) -> bool {
    parts.len() == names.len()
        && parts
            .iter()
            .zip(names)
            .all(|(part, name)| part.literal() == Some(name))
}

/// Returns the danger of removing a directory itself; the parameters are those of
/// [`danger_of_absolute`].
fn danger_of_directory(
    parts: &[PathPart],
    base: &[&str],
    home: Option<&str>,
    is_explicit: bool,
) -> Option<PathDanger> {
    let Some(first) = parts.first() else {
        return Some(PathDanger::Root);
    };
    // The script's initial directory, even below a home or a system directory.
    if same(parts, base) {
        return Some(PathDanger::WorkingDirectory);
    }
    if let Some(home) = home {
        let home = components(home);
        let is_personal = |part: &PathPart| {
            part.literal()
                .is_some_and(|name| PERSONAL_DIRECTORIES.contains(&name))
        };
        let is_in_home = parts.len() == home.len() + 1 && same(&parts[..home.len()], &home);
        if same(parts, &home) || is_in_home && parts.last().is_some_and(is_personal) {
            return Some(PathDanger::Home);
        }
    }
    if parts.len() <= base.len() && same(parts, &base[..parts.len()]) {
        return Some(if parts.len() == 1 {
            PathDanger::TopLevel
        } else {
            PathDanger::WorkingDirectory
        });
    }
    match parts {
        [part] => {
            let is_system = part
                .literal()
                .is_some_and(|name| SYSTEM_DIRECTORIES.contains(&name));
            // If the working directory is the root, a relative name is below the working directory.
            (is_explicit || is_system).then_some(PathDanger::TopLevel)
        }
        _ if is_system_directory(parts) => Some(PathDanger::TopLevel),
        [_, user]
            if first
                .literal()
                .is_some_and(|name| HOME_PARENTS.contains(&name)) =>
        {
            user.literal().is_some().then_some(PathDanger::Home)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::pattern::push_globbed;

    /// In a test path, `$` stands for an unknown part.
    fn check(path: &str, cwd: Option<&str>) -> Option<PathDanger> {
        let mut value = Value::default();
        for (index, text) in path.split('$').enumerate() {
            if index > 0 {
                value.push_unknown(UnknownCause::Output, false);
            }
            push_globbed(&mut value, text);
        }
        danger(
            &value,
            &PathBase {
                cwd,
                initial_cwd: "/home/u/project",
                home: Some("/home/u"),
                host: &CommandHost::Local,
            },
        )
    }

    #[test]
    fn paths_are_told_apart() {
        for (path, expect) in [
            ("/", true),
            ("//", true),
            ("/.", true),
            ("/usr/..", true),
            ("/*", true),
            ("/usr", true),
            ("/usr/", true),
            ("/u*r", true),
            ("/usr/*", true),
            ("/usr/$", true),
            ("/home/u", true),
            ("/home/other", true),
            ("/home/u/*", true),
            ("/home/u/.*", true),
            ("/home/u/$", true),
            (".", true),
            ("./", true),
            ("..", true),
            ("../project", true),
            ("../pro*", true),
            ("*", true),
            (".*", true),
            (".git", true),
            ("sub/.git", true),
            (".git/*", true),
            (".git/objects", true),
            (".git/objects/*", true),
            (".git/refs/heads", true),
            (".git/rebase-merge", false),
            (".gi?", true),
            ("*/*", true),
            ("$", true),
            ("$/*", true),
            ("$/usr", true),
            ("$/.git", true),
            ("build", false),
            ("./build", false),
            ("./$", false),
            ("build/*", false),
            ("build/$", false),
            ("*.o", false),
            ("**/node_modules", false),
            ("$/build", false),
            ("/tmp/x", false),
            ("/tmp/x*", false),
            ("/home/u/project/target", false),
            ("/home/u/x", false),
            (".github", false),
            (".git/hooks/pre-commit", false),
            ("/var/log/x", false),
        ] {
            assert_eq!(
                check(path, Some("/home/u/project")).is_some(),
                expect,
                "{path}"
            );
        }
        assert_eq!(check("*", None), Some(PathDanger::Unknown));
        assert_eq!(check("build", None), None);
        assert_eq!(check("*", Some("/home/u/project/build")), None);
        assert_eq!(
            check("..", Some("/home/u/project/build")),
            Some(PathDanger::WorkingDirectory)
        );
    }
}
