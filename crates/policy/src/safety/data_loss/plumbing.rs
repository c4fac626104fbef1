//! Less common git commands that discard changes, for `no_discard_changes`.

use super::super::command_line::{has_any, has_option};
use super::super::no_blind_git_add::everything;
use crate::syntax::run::{Field, ResolvedCommand};

/// True if the command discards changes in the whole tree; `None` for other commands.
pub(super) fn discards(
    subcommand: &str,
    arguments: &[Field],
    ran: &ResolvedCommand,
    base: &str,
) -> Option<bool> {
    let forced = has_any(arguments, &["-f", "--force"]);
    let whole = |from: usize| {
        arguments.iter().skip(from).any(|field| {
            !field.value.prefix().starts_with('-')
                && everything(&field.value, base, ran.cwd.as_deref(), false)
        })
    };
    match subcommand {
        // Without `-f` it refuses to remove modified files.
        "rm" => {
            let spared = has_any(arguments, &["--cached", "-n", "--dry-run"]);
            Some(forced && has_option(arguments, "-r") && !spared && whole(0))
        }
        "submodule" => {
            let deinit = arguments.first()?.value.literal() == Some("deinit");
            Some(deinit && forced && (has_option(arguments, "--all") || whole(1)))
        }
        "worktree" => Some(forced && arguments.first()?.value.literal() == Some("remove")),
        "read-tree" => Some(has_option(arguments, "-u") && has_option(arguments, "--reset")),
        "checkout-index" => Some(forced && has_any(arguments, &["-a", "--all"])),
        _ => None,
    }
}
