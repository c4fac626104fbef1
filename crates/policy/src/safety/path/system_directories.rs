//! The directories of a system that must not be removed.

use super::part::{PathPart, are_names, names};
use crate::syntax::pattern;

/// System directories. A path with an unknown beginning that ends with one of these names may be
/// the system directory.
pub(super) const SYSTEM_DIRECTORIES: [&str; 26] = [
    "bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "media", "mnt", "opt", "proc",
    "root", "run", "sbin", "srv", "sys", "usr", "var", "Applications", "Library", "System",
    "Users", "Volumes", "private", "nix",
];

/// System directories in which only users and services store files.
pub(super) const DIRECTORIES_FOR_USERS: [&str; 5] = ["media", "mnt", "srv", "Volumes", "nix"];

/// System directories with software that is not the system's.
pub(super) const ADDED_SOFTWARE: [&str; 2] = ["opt", "srv"];

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
const PATTERNS_BELOW: [&[&str]; 12] = [
    &["tmp"],
    &["opt"],
    &["var", "lib", "dpkg"],
    &["usr", "share"],
    &["usr", "local"],
    &["usr", "local", "bin"],
    &["usr", "local", "include"],
    &["usr", "local", "lib"],
    &["usr", "local", "share"],
    &["var", "log"],
    &["var", "spool"],
    &["var", "www"],
];

/// True if a pattern is usual below its directory, and matches no directory that services or the
/// system need.
pub(super) fn is_usual_pattern(directory: &[PathPart], pattern: &PathPart) -> bool {
    let is_needed = |(parents, names): &(&[&str], &[&str])| {
        are_names(directory, parents) && names.iter().any(|name| pattern.could_be(name))
    };
    let mut usual = PATTERNS_BELOW.iter();
    usual.any(|names| are_names(directory, names)) && !SERVICES.iter().any(is_needed)
}

/// True if a path is a system directory, an essential directory in a system directory, or a
/// directory of a service.
pub(super) fn is_system_directory(parts: &[PathPart]) -> bool {
    let names = names(parts, "*");
    let is_service = |(parents, services): &(&[&str], &[&str])| {
        names
            .split_last()
            .is_some_and(|(name, above)| above == *parents && is_one_of(name, services))
    };
    match names[..] {
        [] => true,
        [name] => SYSTEM_DIRECTORIES.contains(&name) && !DIRECTORIES_FOR_USERS.contains(&name),
        // `/usr/lib`, `/var/lib`, `/private/etc`, `/usr/local`
        [first, second] if SYSTEM_DIRECTORIES.contains(&second) => {
            SYSTEM_DIRECTORIES.contains(&first) && !ADDED_SOFTWARE.contains(&first)
        }
        [.., name] if USER_LIBRARIES.contains(&name) || is_libtool_file(name) => false,
        _ => SERVICES.iter().any(is_service),
    }
}

fn is_libtool_file(name: &str) -> bool {
    std::path::Path::new(name).extension() == Some("la".as_ref())
}

/// True if a name is one of these patterns, in which `*` stands for any text.
fn is_one_of(name: &str, patterns: &[&str]) -> bool {
    let mut patterns = patterns.iter();
    patterns.any(|known| *known == name || known.contains('*') && pattern::matches(known, name))
}
