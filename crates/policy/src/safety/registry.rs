//! The registry of safety rules: the data of all rules, in a file for each group, and the functions
//! of some rules.

use std::sync::LazyLock;

use super::command_line::Action;
use super::rule::{Check, Rule};
use super::section::{Examples, Section};
use super::{
    inline_code, no_blind_git_add, no_dangerous_rm, no_database_drop, no_discard_changes,
    no_disk_write, no_force_push, no_fork_bomb, no_git_transport_program, no_home_overwrite,
    no_recursive_mode, no_shutdown, no_unread_code, no_unread_zsh, processes,
};
use crate::Group;
use crate::syntax::table::Table;

macro_rules! file {
    ($group:ident, $path:literal) => {
        (
            Group::$group,
            include_str!($path),
            crate::syntax::table!(include_str!($path), "row ", Action, |row| Action::of(row).0),
        )
    };
}

/// The rules of each group, in the order in which they are checked, and their rows.
static FILES: [(Group, &str, Table<Action>); 9] = [
    file!(Core, "rules/core.conf"),
    file!(InlineCode, "rules/inline_code.conf"),
    file!(DataLoss, "rules/data_loss.conf"),
    file!(RemoteCode, "rules/remote_code.conf"),
    file!(System, "rules/system.conf"),
    file!(Services, "rules/services.conf"),
    file!(Cloud, "rules/cloud.conf"),
    file!(Packages, "rules/packages.conf"),
    file!(Machine, "rules/machine.conf"),
];

/// The functions of rules that rows cannot express.
const CODE: [(&str, Check); 16] = [
    ("no_unread_zsh", no_unread_zsh::check),
    ("no_blind_git_add", no_blind_git_add::check),
    ("no_force_push", no_force_push::check),
    ("no_dangerous_rm", no_dangerous_rm::check),
    ("no_dangerous_inline_code", inline_code::check),
    ("no_discard_changes", no_discard_changes::check),
    ("no_unread_code", no_unread_code::check),
    ("no_git_transport_program", no_git_transport_program::check),
    ("no_disk_write", no_disk_write::check),
    ("no_recursive_mode", no_recursive_mode::check),
    ("no_home_overwrite", no_home_overwrite::check),
    ("no_kill_all", processes::check),
    ("no_agent_kill", processes::check_agent),
    ("no_fork_bomb", no_fork_bomb::check),
    ("no_shutdown", no_shutdown::check),
    ("no_database_drop", no_database_drop::check),
];

static RULES: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
    let rules = FILES.iter().flat_map(|(group, text, rows)| {
        let sections = Section::all(text).zip(1..);
        sections.map(|(section, number)| rule(*group, section, rows.section(number)))
    });
    rules.map(|rule| &*Box::leak(Box::new(rule))).collect()
});

/// Returns all safety rules, in the order in which they are checked.
pub fn rules() -> &'static [&'static Rule] {
    &RULES
}

fn rule(group: Group, section: Section, actions: Table<Action>) -> Rule {
    let code = CODE.iter().find(|(other, _)| *other == section.id);
    // The texts are the first lines; the others are not read now.
    let mut entries = section.entries();
    let mut text = |key| match entries.next() {
        Some((found, text)) if found == key => text,
        _ => "",
    };
    Rule {
        id: section.id,
        group,
        summary: text("summary"),
        message: text("message"),
        suggestion: text("suggestion"),
        blocked_examples: Examples::of(section, true),
        allowed_examples: Examples::of(section, false),
        actions,
        code: code.map(|(_, check)| *check),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, RuleSelection, Script, check_safety};

    #[test]
    fn every_row_refuses_its_example_alone() {
        let context = Context::new("/home/u/project").with_home("/home/u");
        let rows = FILES.iter().flat_map(|(_, text, _)| text.lines());
        let mut count = 0;
        let mut missed = Vec::new();
        for row in rows.filter_map(|line| line.strip_prefix("row ")) {
            count += 1;
            let (action, example) = Action::of(row);
            let script = Script::read(example, &context);
            let input = super::super::rule::RuleInput::new(&script, &[], &[], 0);
            let is_program = |name: &str| action.programs.iter().any(|program| program == name);
            let is_done = script.commands.iter().any(|command| {
                command.name().is_some_and(is_program)
                    && action.is_performed_by(command, &input.path_base(command))
            });
            if !is_done {
                missed.push(row);
            }
        }
        assert!(missed.is_empty(), "{}", missed.join("\n"));
        assert!(count > 300, "{count}");
    }

    #[test]
    fn every_code_belongs_to_a_rule() {
        for (id, _) in CODE {
            assert!(rules().iter().any(|rule| rule.id == id), "{id}");
        }
    }

    #[test]
    fn no_row_objects_to_a_near_miss() {
        let context = Context::new("/home/u/project").with_home("/home/u");
        for rule in rules() {
            for other in rules().iter().filter(|other| other.code.is_none()) {
                let mut only = RuleSelection::none();
                assert!(only.switch(other.id, true).is_ok());
                for script in rule
                    .allowed_examples
                    .iter()
                    .filter(|_| rule.group == other.group)
                {
                    let verdict = check_safety(&Script::read(script, &context), &only);
                    assert_eq!(verdict, crate::Verdict::Allow, "{} {script}", other.id);
                }
            }
        }
    }
}
