//! The safety rules: the data of all rules, in a file for each group, and the functions of some
//! rules.
//!
//! A rule checks one resolved command and returns a finding if it refuses the command. A
//! [`RuleSelection`] determines which rules apply. `syntax` does the parsing.

mod check;
mod command_line;
mod inline_code;
mod interpreter;
mod no_blind_git_add;
mod no_dangerous_rm;
mod no_database_drop;
mod no_discard_changes;
mod no_disk_write;
mod no_force_push;
mod no_fork_bomb;
mod no_git_transport_program;
mod no_home_overwrite;
mod no_recursive_mode;
mod no_shutdown;
mod no_unread_code;
mod no_unread_zsh;
mod path;
mod processes;
mod rule;
mod section;
mod selection;
mod sql;
mod touched_paths;
mod user_rules;

pub use check::{advice, check_safety};
pub use rule::Rule;
pub use section::Examples;
pub use selection::{RuleSelection, UnknownRule};
pub use user_rules::{CommandPattern, UserRule, UserRuleVerdict};

use crate::Group;
use crate::syntax::table::Table;
use command_line::Action;
use rule::Check;
use section::Section;
use std::sync::LazyLock;

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
    file!(Core, "safety/rules/core.conf"),
    file!(InlineCode, "safety/rules/inline_code.conf"),
    file!(DataLoss, "safety/rules/data_loss.conf"),
    file!(RemoteCode, "safety/rules/remote_code.conf"),
    file!(System, "safety/rules/system.conf"),
    file!(Services, "safety/rules/services.conf"),
    file!(Cloud, "safety/rules/cloud.conf"),
    file!(Packages, "safety/rules/packages.conf"),
    file!(Machine, "safety/rules/machine.conf"),
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
    use crate::{Context, Script};

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
            let input = rule::RuleInput::new(&script, &[], &[], 0);
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
    fn every_heading_is_a_rule_with_its_texts() {
        let lines = FILES.iter().flat_map(|(_, text, _)| text.lines());
        let headings = lines.filter(|line| line.starts_with('['));
        assert_eq!(headings.count(), rules().len());
        for rule in rules() {
            let mut texts = [rule.summary, rule.message, rule.suggestion].into_iter();
            assert!(texts.all(|text| !text.is_empty()), "{}", rule.id);
        }
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
