//! Lists the ancestors of this process: the host, its agent, the user's shell, the terminal's
//! server.

use agent_bash_core::words;
use agent_bash_os::{ProcessIdentity, ProcessInfo, read_arguments};

/// Maximum number of ancestors to read.
const MAX_ANCESTORS: usize = 64;

/// Shells in which a user types.
const SHELLS: [&str; 14] = [
    "ash", "bash", "csh", "dash", "elvish", "fish", "ksh", "mksh", "nu", "pwsh", "sh", "tcsh",
    "xonsh", "zsh",
];

/// Programs that run as the first process of a machine or a container: both users and agents
/// descend from them.
const INIT_PROGRAMS: &[&str] =
    words!["catatonit docker-init dumb-init init launchd runit s6-svscan systemd tini"];

/// This process, or one of its ancestors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestor {
    /// The process.
    pub identity: ProcessIdentity,
    /// The process's name, as `pkill` and `killall` match it.
    pub name: String,
    /// The process's arguments, separated by blanks, as `pkill -f` matches them.
    pub command_line: String,
    /// True for a shell that leads the session of a terminal.
    pub is_terminal_shell: bool,
}

impl Ancestor {
    fn of(identity: ProcessIdentity, info: &ProcessInfo, name: String, arguments: &[u8]) -> Self {
        let mut arguments = arguments.to_owned();
        for byte in arguments.iter_mut().filter(|byte| **byte == 0) {
            *byte = b' ';
        }
        let leads_terminal_session = info.terminal != 0 && info.session == info.pid;
        Self {
            identity,
            is_terminal_shell: leads_terminal_session && is_shell(&name),
            name,
            command_line: String::from_utf8_lossy(&arguments).trim_end().to_owned(),
        }
    }

    /// True for a process of this program: a host, or the supervisor of a call.
    pub fn is_agent_bash(&self) -> bool {
        self.name.starts_with("agent-bash")
    }
}

/// Returns this process and its ancestors, nearest first. Empty if `/proc` does not show them.
pub fn ancestors() -> Vec<Ancestor> {
    let mut found = Vec::new();
    // The boot and the namespace are the same for all.
    let own = ProcessIdentity::current();
    let mut pid = own.pid;
    while found.len() < MAX_ANCESTORS {
        let Some((info, name)) = ProcessInfo::read_with_name(pid) else {
            break;
        };
        let arguments = read_arguments(format!("/proc/{pid}")).unwrap_or_default();
        let identity = own.with_process(pid, info.start_time);
        found.push(Ancestor::of(identity, &info, name, &arguments));
        pid = info.parent;
    }
    found
}

/// Returns the processes from which a model's command may descend: `ancestors` below the user's
/// shell on a terminal. Without such a shell, returns all except process 1 and init programs.
pub fn model_callers(ancestors: &[Ancestor]) -> impl Iterator<Item = &Ancestor> {
    let below_shell = ancestors
        .iter()
        .take_while(|process| !process.is_terminal_shell);
    // Process 1 adopts every orphan, so it need not have started its children.
    let is_init =
        |process: &&Ancestor| process.identity.pid == 1 || INIT_PROGRAMS.contains(&&*process.name);
    below_shell.filter(move |process| !is_init(process))
}

/// Returns the program that started this process, possibly by a shell: the nearest ancestor that is
/// neither a shell nor a process of agent-bash. `ancestors` begins with this process.
pub fn calling_program(ancestors: &[Ancestor]) -> Option<&Ancestor> {
    let mut above = ancestors.iter().skip(1);
    above.find(|process| !is_shell(&process.name) && !process.is_agent_bash())
}

/// True for the name of a shell. The name of a login shell begins with `-`.
fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name.trim_start_matches('-'))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn process(pid: i32, name: &str, session: i32, terminal: i32) -> Ancestor {
        let info = ProcessInfo {
            pid,
            parent: 1,
            group: pid,
            session,
            terminal,
            start_time: 1,
            zombie: false,
            stopped: false,
        };
        let identity = ProcessIdentity::new(pid, info.start_time);
        let arguments = format!("{name}\0-x\0");
        Ancestor::of(identity, &info, name.to_owned(), arguments.as_bytes())
    }

    #[test]
    fn ancestors_start_with_this_process_and_its_parent() {
        let found = ancestors();
        assert_eq!(found[0].identity, ProcessIdentity::current());
        let parent = std::os::unix::process::parent_id().cast_signed();
        assert_eq!(found[1].identity.pid, parent);
        assert!(!found[0].command_line.is_empty());
    }

    #[test]
    fn calling_program_is_above_shells_and_agent_bash() {
        let chain = [
            process(90, "agent-bash", 80, 0),
            process(80, "sh", 80, 0),
            process(70, "agent-bash-sup", 80, 0),
            process(60, "bash", 80, 0),
            process(50, "node", 50, 34816),
            process(40, "zsh", 40, 34816),
        ];
        let found = calling_program(&chain).unwrap();
        assert_eq!(found.identity.pid, 50);
        assert_eq!(calling_program(&chain[..4]), None);
    }

    #[test]
    fn model_callers_end_below_the_users_shell() {
        let chain = [
            process(90, "agent-bash", 80, 0),
            process(80, "node", 50, 34816),
            process(50, "-zsh", 50, 34816),
            process(40, "tmux: server", 40, 0),
        ];
        let pids = |chain: &[Ancestor]| -> Vec<i32> {
            model_callers(chain)
                .map(|process| process.identity.pid)
                .collect()
        };
        assert_eq!(pids(&chain), [90, 80]);
        // An agent that leads the terminal's session is no shell of the user.
        let led = [process(90, "sh", 80, 0), process(50, "claude", 50, 34816)];
        assert_eq!(pids(&led), [90, 50]);
        let service = [
            process(90, "node", 90, 0),
            process(2, "systemd", 2, 0),
            process(1, "x", 1, 0),
        ];
        assert_eq!(pids(&service), [90]);
        assert_eq!(chain[1].command_line, "node -x");
    }
}
