//! Observes a shell's sandbox from outside: its report, and refused attempts to reach the network,
//! by the kernel's counters of the namespace.
//!
//! The counters count packets without a route. A name lookup is an attempt for each server; IPv6
//! without any interface fails before it counts. In a shared network, the attempts of all sandboxes
//! are counted.

use agent_bash_core::sandbox::{Network, ObservedSandbox, Plan, Report, Tier};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The box of a running shell.
#[derive(Debug)]
pub struct SandboxWatch {
    report: Report,
    counters: Option<DenialCounters>,
}

impl SandboxWatch {
    /// The box with this plan that the shell with this pid is in, by its own report; `None` for a
    /// shell in no box. The shell must be alive.
    pub fn of(report: Option<Report>, plan: Option<&Plan>, pid: u32) -> Option<Self> {
        let report = report?;
        let counters = plan.filter(|_| report.tier == Tier::Full);
        let counters = counters.and_then(|plan| DenialCounters::of(pid, plan.network));
        Some(Self { report, counters })
    }

    /// Returns the current observation, with the attempts since the last one.
    pub fn observe(&mut self) -> ObservedSandbox {
        let mut confined = ObservedSandbox::new(self.report.clone());
        confined.network_refused = self.counters.as_mut().and_then(DenialCounters::more);
        confined
    }
}

/// The kernel's counters of one namespace. Open files, as the namespace cannot be found any more
/// once its processes have ended.
#[derive(Debug)]
struct DenialCounters {
    v4: File,
    /// `None` without IPv6, or where it counts nothing.
    v6: Option<File>,
    reported: u64,
}

impl DenialCounters {
    /// `None` where the network is the host's. Without one, the namespace is the shell's own and
    /// has counted nothing yet; a shared one has, of others.
    fn of(pid: u32, network: Network) -> Option<Self> {
        let open = |name| File::open(format!("/proc/{pid}/net/{name}")).ok();
        let mut counters = Self {
            v4: open("snmp")?,
            v6: None,
            reported: 0,
        };
        match network {
            Network::On => return None,
            Network::Off => {}
            Network::Loopback => {
                counters.v6 = open("snmp6");
                counters.more()?;
            }
        }
        Some(counters)
    }

    /// Returns the number of new denials.
    fn more(&mut self) -> Option<u64> {
        let v4 = of_version_4(&text(&self.v4)?)?;
        let v6 = self.v6.as_ref().and_then(|file| of_version_6(&text(file)?));
        let all = v4 + v6.unwrap_or(0);
        let more = all.saturating_sub(self.reported);
        self.reported = all;
        Some(more)
    }
}

/// The beginning of a file that the kernel makes anew for each reading.
fn text(file: &File) -> Option<String> {
    let mut text = vec![0; 16 * 1024];
    let count = file.read_at(&mut text, 0).ok()?;
    text.truncate(count);
    String::from_utf8(text).ok()
}

/// A line of names, and below it one of values, both beginning with `Ip:`.
fn of_version_4(text: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|line| line.starts_with("Ip:"));
    let names = lines.next()?.split_ascii_whitespace();
    let mut columns = names.zip(lines.next()?.split_ascii_whitespace());
    let (_, value) = columns.find(|(name, _)| *name == "OutNoRoutes")?;
    value.parse().ok()
}

/// A name and its value in each line.
fn of_version_6(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Ip6OutNoRoutes"));
    line?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_their_names() {
        let text = "Ip: Forwarding OutNoRoutes ReasmTimeout\nIp: 2 40 7\nIcmp: InMsgs\nIcmp: 1\n";
        assert_eq!(of_version_4(text), Some(40));
        assert_eq!(of_version_4("Ip: Forwarding\nIp: 2\n"), None);
        let text = "Ip6InNoRoutes                   \t3\nIp6OutNoRoutes                  \t5\n";
        assert_eq!(of_version_6(text), Some(5));
        assert_eq!(of_version_6(""), None);
    }
}
