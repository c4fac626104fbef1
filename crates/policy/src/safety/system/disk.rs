//! `no_disk_write`: writing directly to a disk, bypassing its file system.

use super::super::command_line::{Deed, deed};
use super::super::path::Location;
use super::super::rule::{Hit, Rule, Scene};
use crate::Group;
use crate::syntax::run::ResolvedCommand;
use crate::syntax::value::Value;

pub(in super::super) static RULE: Rule = Rule {
    id: "no_disk_write",
    group: Group::System,
    summary: "Writing to a disk or a partition itself: `dd of=/dev/sda`, `mkfs`, `wipefs -a`, `blkdiscard`, `sgdisk`, `parted … mklabel`, `shred /dev/…`, `cryptsetup luksFormat`, `> /dev/nvme0n1`, and `tee`, `cp` or `mv` to one.",
    message: "permission denied: this writes to a disk itself and destroys the file systems on it. Write to a file or a disk image",
    suggestion: "write to an image, for example `dd if=/dev/zero of=disk.img` or `mkfs.ext4 disk.img`",
    fires: &[
        "dd if=/dev/zero of=/dev/sda bs=1M",
        "sudo dd if=image.iso of=/dev/disk/by-id/usb-x status=progress",
        "cd /dev && dd if=/dev/urandom of=sda",
        "mkfs.ext4 /dev/sda1",
        "mkfs -t xfs /dev/vg0/home",
        "mkswap /dev/nvme0n1p3",
        "wipefs -af /dev/sdb",
        "blkdiscard /dev/nvme0n1",
        "sgdisk --zap-all /dev/sda",
        "parted -s /dev/sda mklabel gpt",
        "shred -n1 /dev/sdc",
        "cryptsetup luksFormat /dev/sdb1",
        "zpool destroy tank",
        "echo x > /dev/nvme0n1",
        "> /dev/sda",
        "cat image.iso > /dev/sdX",
        "{ cat a b; } > /dev/mmcblk0",
        "xzcat image.xz | sudo tee /dev/mmcblk0",
        "cp image.iso /dev/sdb",
        "for d in /dev/sd?; do wipefs -a \"$d\"; done",
        "for d in sda sdb; do dd if=/dev/zero of=/dev/$d; done",
    ],
    spares: &[
        "dd if=/dev/zero of=disk.img bs=1M count=64",
        "dd if=/dev/zero of=/dev/null count=1",
        "dd if=/dev/sda of=backup.img",
        "dd if=/dev/urandom bs=16 count=1",
        "mkfs.ext4 disk.img",
        "mkfs.ext4 -F \"$IMAGE\"",
        "mkfs.ext4 /dev/loop0",
        "wipefs /dev/sda",
        "sgdisk -p /dev/sda",
        "parted -l",
        "parted /dev/sda print",
        "fdisk -l /dev/sda",
        "cryptsetup open /dev/sdb1 x",
        "zpool list",
        "echo x > /dev/null",
        "echo x > /dev/stderr",
        "echo x > /dev/ttyUSB0",
        "echo x | tee /dev/tty",
        "cat < /dev/sda > disk.img",
        "cp /dev/null empty",
        "mv /dev/shm/x .",
        "shred -u secret.txt",
        "man mkfs.ext4",
    ],
    check,
};

/// Actions on devices among the arguments.
static ON_DEVICES: [Deed; 14] = [
    Deed::of(
        &[
            "mkfs", "mke2fs", "mkswap", "mkdosfs", "mkntfs", "newfs", "newfs_msdos",
        ],
        &[],
    )
    .without(&["-n"]),
    Deed::of(
        &[
            "blkdiscard", "shred", "pvcreate", "pvremove", "vgcreate", "scrub", "nwipe",
        ],
        &[],
    ),
    Deed::of(&["wipefs"], &[])
        .with(&["-a", "--all", "-o", "--offset"])
        .without(&["-n", "--no-act"]),
    Deed::of(&["sgdisk"], &[]).without(&[
        "-p", "--print", "-i", "--info", "-v", "--verify", "-b", "--backup", "-P", "--pretend",
    ]),
    Deed::of(&["sfdisk"], &[]).without(&[
        "-l", "--list", "-d", "--dump", "-J", "--json", "-V", "--verify", "-n", "--no-act", "-F",
        "-s",
    ]),
    Deed::of(&["fdisk", "gdisk", "cfdisk", "cgdisk"], &[])
        .without(&["-l", "--list", "-x", "-s", "--getsz"]),
    Deed::of(&["parted"], &[]).with(&[
        "mklabel", "mktable", "mkpart", "mkpartfs", "rm", "resizepart",
    ]),
    Deed::of(&["cryptsetup"], &[]).with(&["luksFormat", "erase", "luksErase", "reencrypt"]),
    Deed::of(&["mdadm"], &[]).with(&["--zero-superblock", "--create", "-C"]),
    Deed::of(&["badblocks"], &[]).with(&["-w"]),
    Deed::of(&["hdparm"], &[]).with(&[
        "--security-erase", "--security-erase-enhanced", "--trim-sector-ranges", "--write-sector",
    ]),
    Deed::of(&["nvme"], &["format|sanitize|write|write-zeroes"]),
    Deed::of(&["zpool"], &["create|labelclear"]),
    Deed::of(&["mkfs.btrfs", "btrfs-convert"], &[]),
];

/// Actions on disks that are named otherwise.
static ON_POOLS: [Deed; 4] = [
    Deed::of(&["zpool", "zfs"], &["destroy"]).without(&["-n"]),
    Deed::of(&["lvremove", "vgremove"], &[]).without(&["-t", "--test"]),
    Deed::of(&["lvm"], &["lvremove|vgremove|pvremove"]),
    Deed::of(
        &["diskutil"],
        &["eraseDisk|eraseVolume|partitionDisk|zeroDisk|secureErase|randomDisk|reformat"],
    ),
];

/// Name prefixes of disks and partitions below `/dev`; followed by a letter, a digit, or nothing.
const DISK_PREFIXES: [&str; 14] = [
    "sd", "hd", "vd", "xvd", "dasd", "ada", "nvme", "mmcblk", "dm-", "md", "nbd", "disk", "rdisk",
    "pmem",
];

/// Device names that are followed by a letter.
const LETTERED_DISKS: [&str; 6] = ["sd", "hd", "vd", "xvd", "dasd", "ada"];

/// Directories of disks below `/dev`, and other devices that must not be written to.
const DISK_DIRECTORIES: [&str; 6] = ["disk", "mapper", "block", "mem", "kmem", "port"];

/// Block devices that hold no data of their own, and devices that are not disks.
const HARMLESS_DEVICES: [&str; 18] = [
    "loop", "zram", "ram", "null", "zero", "full", "random", "urandom", "tty", "pts", "ptmx",
    "std", "fd", "shm", "console", "tcp", "udp", "fuse",
];

fn check(ran: &ResolvedCommand, scene: &Scene<'_>) -> Option<Hit> {
    let location = |value: &Value| Location::of(value, &scene.path_base(ran));
    let written = ran.redirections.iter().find(|redirection| {
        redirection.writes() && location(&redirection.target).is_some_and(|at| is_disk(&at))
    });
    if let Some(redirection) = written {
        let mut hit = Hit::on(ran, []);
        hit.words
            .push(format!("{} {}", redirection.operator, redirection.target));
        return Some(hit);
    }
    let name = ran.name().filter(|_| !ran.is_function)?;
    let arguments = ran.arguments();
    match name {
        "dd" | "gdd" | "dcfldd" | "dc3dd" => {
            let into = |value: &Value| {
                value.prefix().starts_with("of=")
                    && location(&value.without_prefix("of=".len())).is_some_and(|at| is_disk(&at))
            };
            let found = arguments.iter().find(|field| into(&field.value))?;
            return Some(Hit::on(ran, [found]));
        }
        "tee" => {
            let found = arguments
                .iter()
                .find(|field| location(&field.value).is_some_and(|at| is_disk(&at)))?;
            return Some(Hit::on(ran, [found]));
        }
        "cp" | "mv" | "install" => {
            let found = arguments
                .last()
                .filter(|field| location(&field.value).is_some_and(|at| is_disk(&at)))?;
            return Some(Hit::on(ran, [found]));
        }
        _ => {}
    }
    if deed(&ON_POOLS, ran).is_some() {
        return Some(Hit::on(ran, arguments));
    }
    // `mkfs.ext4` and similar.
    let makes = name.starts_with("mkfs.")
        && !arguments
            .iter()
            .any(|field| field.value.literal() == Some("-n"));
    if !makes && deed(&ON_DEVICES, ran).is_none() {
        return None;
    }
    let found = arguments
        .iter()
        .find(|field| location(&field.value).is_some_and(|at| is_block_device(&at)))?;
    Some(Hit::on(ran, [found]))
}

/// True if the path has the name of a disk: for programs that write to anything.
fn is_disk(location: &Location) -> bool {
    let Some((names, whole)) = location.device() else {
        return false;
    };
    let [name, below @ ..] = names.as_slice() else {
        // `/dev/$DISK`, for a `dd` that writes to it.
        return !whole;
    };
    if DISK_DIRECTORIES.contains(name) {
        return below != ["control"];
    }
    DISK_PREFIXES.iter().any(|beginning| {
        let rest = name.strip_prefix(beginning);
        rest.is_some_and(|rest| match rest.chars().next() {
            // `/dev/sd?`
            None => !whole && below.is_empty(),
            Some(next) if LETTERED_DISKS.contains(beginning) => next.is_ascii_alphabetic(),
            Some(next) => next.is_ascii_digit(),
        })
    })
}

/// True if the path could be a disk under any name: for programs that only handle disks.
fn is_block_device(location: &Location) -> bool {
    location.device().is_some_and(|(names, _)| {
        let other = |name: &&str| HARMLESS_DEVICES.iter().any(|other| name.starts_with(other));
        !names.first().is_some_and(other)
    })
}
