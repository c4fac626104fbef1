//! What a process hands to its children beside descriptors and environment: umask and resource limits. A shell that
//! was started ahead of a call has those of its start, so they are part of its key.

use rustix::process::{Resource, getrlimit};

/// Umask and soft and hard limits of this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inherited {
    umask: Option<u32>,
    limits: [(Option<u64>, Option<u64>); RESOURCES.len()],
}

/// The limits that every Unix has and that change what a command can do.
const RESOURCES: [Resource; 7] = [
    Resource::Cpu,
    Resource::Fsize,
    Resource::Data,
    Resource::Stack,
    Resource::Core,
    Resource::Nofile,
    Resource::As,
];

impl Inherited {
    /// As they are now. Costs a few system calls.
    pub fn now() -> Self {
        let limits = RESOURCES.map(|resource| {
            let limit = getrlimit(resource);
            (limit.current, limit.maximum)
        });
        Self {
            umask: umask(),
            limits,
        }
    }
}

/// Read, not set and restored: another thread could make a file in between.
fn umask() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(line.trim(), 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_stay_the_same_until_they_change() {
        assert_eq!(Inherited::now(), Inherited::now());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_umask_is_found() {
        assert!(umask().is_some_and(|mask| mask <= 0o777));
    }
}
