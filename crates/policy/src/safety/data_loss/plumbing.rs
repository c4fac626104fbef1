//! Less common git commands that discard changes, for `no_discard_changes`.

use super::super::command_line::{has_any, has_option};
use super::super::no_blind_git_add::is_whole_tree;
use crate::syntax::run::{Field, ResolvedCommand};

/// Returns true if the command discards changes in the whole tree; `None` for subcommands that this
/// module does not know.
pub(super) fn discards(
    subcommand: &str,
    arguments: &[Field],
    command: &ResolvedCommand,
    base: &str,
) -> Option<bool> {
    let is_forced = has_any(arguments, &["-f", "--force"]);
    let names_whole_tree = |first: usize| {
        arguments.iter().skip(first).any(|field| {
            !field.value.prefix().starts_with('-')
                && is_whole_tree(&field.value, base, command.cwd.as_deref(), false)
        })
    };
    match subcommand {
        // Without `-f`, git refuses to remove modified files.
        "rm" => {
            let keeps_files = has_any(arguments, &["--cached", "-n", "--dry-run"]);
            let is_recursive = has_option(arguments, "-r");
            Some(is_forced && is_recursive && !keeps_files && names_whole_tree(0))
        }
        "submodule" => {
            let is_deinit = arguments.first()?.value.literal() == Some("deinit");
            let is_whole = || has_option(arguments, "--all") || names_whole_tree(1);
            Some(is_deinit && is_forced && is_whole())
        }
        "worktree" => Some(is_forced && arguments.first()?.value.literal() == Some("remove")),
        "read-tree" => Some(has_option(arguments, "-u") && has_option(arguments, "--reset")),
        "checkout-index" => Some(is_forced && has_any(arguments, &["-a", "--all"])),
        _ => None,
    }
}
