//! `no_shutdown`: stopping or restarting the machine.

use super::super::command_line::{Deed, deed};
use super::super::rule::{Hit, Rule, Scene};
use crate::Group;
use crate::syntax::run::ResolvedCommand;

pub(in super::super) static RULE: Rule = Rule {
    id: "no_shutdown",
    group: Group::System,
    summary: "Stopping or restarting the machine: `shutdown`, `reboot`, `halt`, `poweroff`, `init 0`, `telinit 6`, `systemctl reboot` and its like, `echo b > /proc/sysrq-trigger`.",
    message: "permission denied: this stops or restarts the machine, and every process on it. Restart the service that is meant",
    suggestion: "restart the service alone, for example `systemctl restart nginx`",
    fires: &[
        "shutdown -h now",
        "sudo shutdown -r +5",
        "reboot",
        "sudo reboot -f",
        "/sbin/halt",
        "poweroff",
        "init 0",
        "init 6",
        "telinit 6",
        "systemctl reboot",
        "systemctl --force poweroff",
        "systemctl isolate rescue.target",
        "systemctl start reboot.target",
        "echo b > /proc/sysrq-trigger",
        "ssh box sudo reboot",
        "nohup shutdown now",
    ],
    spares: &[
        "shutdown -c",
        "shutdown -k now",
        "reboot --help",
        "halt -w",
        "init q",
        "npm init -y",
        "git init",
        "npm run reboot",
        "vagrant halt",
        "adb reboot",
        "systemctl restart nginx",
        "systemctl status reboot.target",
        "echo 'please reboot'",
        "last reboot",
        "shutdown() { kill \"$pid\"; }; trap shutdown EXIT",
        "grep -r shutdown src",
    ],
    check,
};

static DEEDS: [Deed; 6] = [
    Deed::of(&["shutdown"], &[]).without(&["-c", "-k", "--show"]),
    Deed::of(&["reboot", "halt", "poweroff", "pm-hibernate", "pm-suspend"], &[]).without(&["-w", "--wtmp-only"]),
    Deed::of(&["init", "telinit"], &["0|1|6|s|S"]),
    Deed::of(&["systemctl", "loginctl"], &[
            "reboot|poweroff|halt|kexec|soft-reboot|suspend|hibernate|hybrid-sleep|suspend-then-hibernate|rescue|emergency|exit",
        ]).without(&["--user", "cancel"]),
    Deed::of(&["systemctl"], &[
            "isolate|start",
            "reboot.target|poweroff.target|halt.target|kexec.target|rescue.target|emergency.target|shutdown.target|runlevel0.target|runlevel1.target|runlevel6.target",
        ]).without(&["--user"]),
    Deed::of(&["kexec"], &[]).with(&["-e", "--exec"]),
];

/// Writing to it acts immediately.
const SYSRQ_TRIGGER: &str = "/proc/sysrq-trigger";

fn check(ran: &ResolvedCommand, _: &Scene<'_>) -> Option<Hit> {
    let writes = ran.redirections.iter().any(|redirection| {
        redirection.writes() && redirection.target.literal() == Some(SYSRQ_TRIGGER)
    });
    let tees = || {
        ran.name() == Some("tee")
            && ran
                .arguments()
                .iter()
                .any(|field| field.value.literal() == Some(SYSRQ_TRIGGER))
    };
    (writes || deed(&DEEDS, ran).is_some() || tees()).then(|| Hit::on(ran, ran.arguments()))
}
