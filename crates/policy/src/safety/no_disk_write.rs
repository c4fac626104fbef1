//! `no_disk_write`: writing directly to a disk, bypassing its file system.

use super::command_line::has_option;
use super::path::Location;
use super::rule::{RuleFinding, RuleInput};
use crate::syntax::run::{Field, Redirection, ResolvedCommand};
use crate::syntax::value::Value;

/// Name prefixes of disks and partitions below `/dev`. A letter or a digit follows the prefix.
const DISK_PREFIXES: [&str; 14] = [
    "sd", "hd", "vd", "xvd", "dasd", "ada", "nvme", "mmcblk", "dm-", "md", "nbd", "disk", "rdisk",
    "pmem",
];

/// Name prefixes of disks that a letter follows.
const LETTERED_DISKS: [&str; 6] = ["sd", "hd", "vd", "xvd", "dasd", "ada"];

/// Directories of disks below `/dev`, and memory devices, which must not be written to either.
const DISK_DIRECTORIES: [&str; 6] = ["disk", "mapper", "block", "mem", "kmem", "port"];

pub(super) fn check(command: &ResolvedCommand, input: &RuleInput<'_>) -> Option<RuleFinding> {
    let location = |value: &Value| Location::of(value, &input.path_base(command));
    let written = command.redirections.iter().find(|redirection| {
        let is_written = |location: &Location| {
            is_disk(location) && !is_for_messages(redirection, location, input.text)
        };
        redirection.writes()
            && location(&redirection.target)
                .as_ref()
                .is_some_and(is_written)
    });
    if let Some(redirection) = written {
        let mut hit = RuleFinding::on(command, []);
        hit.words
            .push(format!("{} {}", redirection.operator, redirection.target));
        return Some(hit);
    }
    let name = command.name().filter(|_| !command.is_function)?;
    let arguments = command.arguments();
    let is_target = |value: &Value| location(value).is_some_and(|location| is_disk(&location));
    let is_device =
        |field: &&Field| location(&field.value).is_some_and(|location| location.is_block_device());
    let found = match name {
        "dd" | "gdd" | "dcfldd" | "dc3dd" => arguments.iter().find(|field| {
            let is_output = field.value.prefix().starts_with("of=");
            is_output && is_target(&field.value.without_prefix("of=".len()))
        }),
        "tee" => arguments.iter().find(|field| is_target(&field.value)),
        "cp" | "mv" | "install" => arguments.last().filter(|field| is_target(&field.value)),
        // `mkfs.ext4` and similar.
        _ if name.starts_with("mkfs.") && !has_option(arguments, "-n") => {
            arguments.iter().find(is_device)
        }
        _ => None,
    };
    found.map(|field| RuleFinding::on(command, [field]))
}

/// True if messages go to a device with an unknown name: `2>> /dev/$OUT`, `> /dev/$TTY`.
fn is_for_messages(redirection: &Redirection, location: &Location, script: &str) -> bool {
    let is_unknown = location.device().is_some_and(|(names, _)| names.is_empty());
    let target = script.get(redirection.span.start..redirection.span.end);
    let is_terminal = target.is_some_and(|name| name.to_ascii_lowercase().contains("tty"));
    let is_stdout = redirection.fd.is_none_or(|fd| fd == 1);
    is_unknown && (!redirection.truncates() || !is_stdout || is_terminal)
}

/// True if the path has the name of a disk. For programs that write to any file, such as `dd`.
fn is_disk(location: &Location) -> bool {
    let Some((names, is_complete)) = location.device() else {
        return false;
    };
    let [name, below @ ..] = names.as_slice() else {
        // `/dev/$DISK`
        return !is_complete;
    };
    if DISK_DIRECTORIES.contains(name) {
        // `/dev/mapper/control` is no disk.
        return below != ["control"];
    }
    DISK_PREFIXES.iter().any(|beginning| {
        let rest = name.strip_prefix(beginning);
        rest.is_some_and(|rest| match rest.chars().next() {
            // `/dev/sd?`
            None => !is_complete && below.is_empty(),
            Some(next) if LETTERED_DISKS.contains(beginning) => next.is_ascii_alphabetic(),
            Some(next) => next.is_ascii_digit(),
        })
    })
}
