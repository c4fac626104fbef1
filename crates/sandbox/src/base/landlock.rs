//! Restricts files, TCP, signals and abstract sockets with Landlock. Landlock only has rules that
//! allow, so a path is excluded by allowing all of its siblings.

use crate::error::SandboxError;
use crate::path_lookup::{DirectoryEntry, PathLookup, read_entries};
use agent_bash_core::sandbox::{HiddenBelow, HiddenName, MissingPromise, Network, Plan, Tier};
use agent_bash_os::proc_path;
use landlock::{ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible};
use landlock::{LandlockStatus, PathBeneath, RestrictionStatus, Ruleset, RulesetAttr};
use landlock::{RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope};
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, openat};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

/// The newest tested interface of Landlock.
const TESTED_ABI: ABI = ABI::V7;

const HARMLESS_DEVICES: [&str; 6] = [
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/ptmx",
];

/// The device that leads each process to its own terminal.
const OWN_TERMINAL: &str = "/dev/tty";

/// The directory of devices. Below it, only [`HARMLESS_DEVICES`], terminals and devices of the plan
/// may be opened.
const DEVICE_DIRECTORY: &str = "/dev";

/// The limits of the kernel's Landlock.
pub(crate) struct LandlockGaps {
    /// Promises that Landlock does not enforce.
    pub(crate) missing: Vec<MissingPromise>,
    /// True if truncating a file does not count as a write.
    pub(crate) ignores_truncation: bool,
}

/// Restricts this thread and its children. `existing` are the hidden paths that exist, which
/// `lookup` has found.
pub(crate) fn restrict(
    plan: &Plan,
    private_directories: &[PathBuf],
    existing: &BTreeSet<PathBuf>,
    lookup: &PathLookup,
) -> Result<LandlockGaps, SandboxError> {
    let refused = SandboxError::step::<io::Error>("restricting files");
    let status = rules(plan, private_directories, existing, lookup)?.restrict_self();
    let status = status.map_err(|error| refused(io::Error::other(error)))?;
    gaps(&status)
}

fn gaps(status: &RestrictionStatus) -> Result<LandlockGaps, SandboxError> {
    let abi = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi,
        _ => ABI::Unsupported,
    };
    if abi == ABI::Unsupported || status.ruleset == RulesetStatus::NotEnforced {
        return Err(SandboxError::missing_facility("Landlock"));
    }
    let since = [
        (ABI::V2, MissingPromise::Moves),
        (ABI::V6, MissingPromise::Signals),
    ];
    Ok(LandlockGaps {
        missing: since
            .iter()
            .filter_map(|(since, lack)| (abi < *since).then_some(*lack))
            .collect(),
        ignores_truncation: abi < ABI::V3,
    })
}

fn rules(
    plan: &Plan,
    private_directories: &[PathBuf],
    existing: &BTreeSet<PathBuf>,
    lookup: &PathLookup,
) -> Result<RulesetCreated, SandboxError> {
    let created = create_ruleset(plan).map_err(failed)?;
    let mut rules = Rules { created };
    let shared = plan.writable.iter().chain(&plan.caches.writable);
    let writable: BTreeSet<&Path> = shared
        .clone()
        .chain(private_directories)
        .map(PathBuf::as_path)
        .collect();
    if plan.tier == Tier::Base {
        refuse_hidden_in_writable(&writable, existing)?;
    }
    // Missing and covered paths are excluded as well: another process may later create a file
    // there, which no mount covers.
    let mut further = vec![PathBuf::from(DEVICE_DIRECTORY)];
    further.extend(existing.iter().cloned());
    further.sort_unstable_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    rules.allow_reading(plan.hidden.below_root().with(&further), &writable, lookup)?;
    for path in shared {
        rules.allow_without_links(path, write_access())?;
    }
    let mounted = plan.caches.mounts.iter().map(|(_, target)| target);
    for path in private_directories.iter().chain(mounted) {
        rules.allow(path, write_access())?;
    }
    let devices = HARMLESS_DEVICES.iter().map(Path::new);
    for path in devices.chain(plan.devices.iter().map(PathBuf::as_path)) {
        rules.allow(path, device_access())?;
    }
    if plan.tier == Tier::Full {
        // The sandbox has a private `/dev/pts`.
        rules.allow(Path::new("/dev/pts"), device_access())?;
        rules.allow(Path::new("/dev/shm"), write_access())?;
    }
    rules.allow_standard_files()?;
    Ok(rules.created)
}

fn create_ruleset(plan: &Plan) -> Result<RulesetCreated, RulesetError> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(TESTED_ABI))?
        .scope(Scope::from_all(TESTED_ABI))?;
    match (plan.network, plan.tier) {
        // The rules also apply to inherited sockets. The full tier needs no rules: its network
        // namespace has no peers, and counts attempts.
        (Network::Off, Tier::Base) => ruleset.handle_access(AccessNet::from_all(TESTED_ABI))?,
        _ => ruleset,
    }
    .create()
}

fn read_access() -> BitFlags<AccessFs> {
    AccessFs::from_read(TESTED_ABI)
}

fn write_access() -> BitFlags<AccessFs> {
    AccessFs::from_all(TESTED_ABI)
        & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev)
}

fn device_access() -> BitFlags<AccessFs> {
    AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::IoctlDev
}

/// Returns what an open descriptor of a regular file allows; nothing for other descriptors.
fn regular_access(file: BorrowedFd<'_>) -> BitFlags<AccessFs> {
    let kind = rustix::fs::fstat(file).map(|stat| FileType::from_raw_mode(stat.st_mode));
    let mode = rustix::fs::fcntl_getfl(file).map(|flags| flags & OFlags::RWMODE);
    let write = AccessFs::WriteFile | AccessFs::Truncate;
    match (kind, mode) {
        (Ok(FileType::RegularFile), Ok(OFlags::RDONLY)) => AccessFs::ReadFile.into(),
        (Ok(FileType::RegularFile), Ok(OFlags::WRONLY)) => write,
        (Ok(FileType::RegularFile), Ok(OFlags::RDWR)) => write | AccessFs::ReadFile,
        _ => BitFlags::empty(),
    }
}

/// Refuses hidden files in writable directories. A writable path can also be read, so only a mount
/// can hide a path below it.
fn refuse_hidden_in_writable(
    writable: &BTreeSet<&Path>,
    existing: &BTreeSet<PathBuf>,
) -> Result<(), SandboxError> {
    for hidden in existing {
        if let Some(writable) = hidden.ancestors().find(|path| writable.contains(path)) {
            return Err(SandboxError::HiddenInWritable {
                writable: writable.to_owned(),
                hidden: hidden.clone(),
                tier: Tier::Base,
            });
        }
    }
    Ok(())
}

struct Rules {
    created: RulesetCreated,
}

impl Rules {
    /// Allows reading everything except hidden paths. All names can be listed. Another rule allows
    /// the `writable` directories as a whole.
    fn allow_reading(
        &mut self,
        hidden: HiddenBelow<'_>,
        writable: &BTreeSet<&Path>,
        lookup: &PathLookup,
    ) -> Result<(), SandboxError> {
        let root = Path::new("/");
        self.allow(root, AccessFs::ReadDir.into())?;
        let open = |directory: &OwnedFd, name: &OsStr, flags| {
            let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            openat(directory, name, flags, Mode::empty())
        };
        let directory = OFlags::RDONLY | OFlags::DIRECTORY;
        let opened = openat(CWD, root, directory | OFlags::CLOEXEC, Mode::empty());
        let opened = opened.map(|opened| (opened, root.to_owned(), hidden));
        let mut pending: Vec<(OwnedFd, PathBuf, HiddenBelow<'_>)> = opened.into_iter().collect();
        while let Some((parent, path, hidden)) = pending.pop() {
            // An entry that was created after the listing cannot be read.
            let listing = lookup.listing(&path);
            let read = || read_entries(Dir::read_from(&parent).ok()?, usize::MAX);
            let own = listing.entries().is_none().then(read).flatten();
            // A process that cannot list a directory cannot read its entries through a rule.
            let Some(entries) = listing.entries().or(own.as_deref()) else {
                continue;
            };
            for DirectoryEntry { name, kind } in entries {
                if *kind == FileType::Symlink {
                    continue;
                }
                match hidden.find(name) {
                    HiddenName::Hidden => {}
                    HiddenName::ContainsHidden(inner) => {
                        let path = path.join(name);
                        if !writable.contains(path.as_path())
                            && let Ok(inside) = open(&parent, name, directory)
                        {
                            pending.push((inside, path, inner));
                        }
                    }
                    HiddenName::Visible => {
                        if let Ok(opened) = open(&parent, name, OFlags::PATH) {
                            self.allow_opened(opened, *kind, read_access())?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Allows access to a path and everything below it. Skips a path that cannot be opened.
    fn allow(&mut self, path: &Path, access: BitFlags<AccessFs>) -> Result<(), SandboxError> {
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        match openat(CWD, path, flags, Mode::empty()) {
            Ok(opened) => self.allow_opened(opened, FileType::Unknown, access),
            Err(_) => Ok(()),
        }
    }

    /// Allows a path without following links. The plan has no links, so a link in the path was
    /// created after the plan, perhaps by another call.
    fn allow_without_links(
        &mut self,
        path: &Path,
        access: BitFlags<AccessFs>,
    ) -> Result<(), SandboxError> {
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mut opened = openat(CWD, "/", flags, Mode::empty());
        for part in path.components() {
            if let (Component::Normal(name), Ok(directory)) = (part, &opened) {
                opened = openat(directory, name, flags, Mode::empty());
            }
        }
        let is_missing = |error| matches!(error, Errno::NOENT);
        match opened {
            Ok(opened) if is_link(&opened) => Err(SandboxError::Replaced(path.to_owned())),
            Ok(opened) => self.allow_opened(opened, FileType::Unknown, access),
            Err(error) if is_missing(error) => Ok(()),
            Err(_) => Err(SandboxError::Replaced(path.to_owned())),
        }
    }

    /// Allows opening standard input, output and error again by name (`/dev/stdout`): a terminal,
    /// and a regular file for what the descriptor allows. In the full tier, other terminals have
    /// their former names. Without such a terminal, the terminal of this process shows another
    /// program, to which the user types.
    fn allow_standard_files(&mut self) -> Result<(), SandboxError> {
        let (input, output, errors) = (io::stdin(), io::stdout(), io::stderr());
        let standard = [input.as_fd(), output.as_fd(), errors.as_fd()];
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let has_terminal = || openat(CWD, OWN_TERMINAL, flags, Mode::empty()).is_ok();
        // A process without a terminal can get one within the sandbox.
        if standard.iter().any(IsTerminal::is_terminal) || !has_terminal() {
            self.allow(Path::new(OWN_TERMINAL), device_access())?;
        }
        for file in standard {
            let access = if file.is_terminal() {
                device_access()
            } else {
                regular_access(file)
            };
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            if let Ok(opened) = openat(CWD, proc_path(&file), flags, Mode::empty())
                && !access.is_empty()
            {
                self.allow_opened(opened, FileType::Unknown, access)?;
            }
        }
        Ok(())
    }

    /// Allows access to an opened file. `kind` is its type, or `Unknown`.
    fn allow_opened(
        &mut self,
        opened: OwnedFd,
        kind: FileType,
        access: BitFlags<AccessFs>,
    ) -> Result<(), SandboxError> {
        let kind = match kind {
            FileType::Unknown => match rustix::fs::fstat(&opened) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(_) => return Ok(()),
            },
            known => known,
        };
        let access = match kind {
            FileType::Directory => access,
            FileType::Symlink => return Ok(()),
            _ => access & AccessFs::from_file(TESTED_ABI),
        };
        (&mut self.created)
            .add_rule(PathBeneath::new(opened, access))
            .map_err(failed)?;
        Ok(())
    }
}

fn is_link(opened: &OwnedFd) -> bool {
    let stat = rustix::fs::fstat(opened);
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

fn failed(error: RulesetError) -> SandboxError {
    SandboxError::step("restricting files")(io::Error::other(error))
}
