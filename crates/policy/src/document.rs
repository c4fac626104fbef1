//! The documentation of the safety rules, made from the registry.

use std::fmt::Write as _;

use crate::safety::{Group, rules};

/// All rules as a Markdown page: what each blocks, says and suggests, with its examples.
pub fn rules_page() -> String {
    let mut out = String::from(
        "# Safety rules\n\nMade from the registry in `crates/policy`; the examples are tested. \
         A rule or a whole group is switched on or off by its name.\n",
    );
    for group in Group::ALL {
        let state = if group.is_default() { "on" } else { "off" };
        // Writing into a string cannot fail.
        let _ = write!(out, "\n## Group `{group}` ({state} by default)\n");
        for rule in rules().iter().filter(|rule| rule.group == group) {
            let _ = write!(
                out,
                "\n### `{}`\n\n{}\n\n> {}\n\nInstead: {}.\n",
                rule.id, rule.summary, rule.message, rule.suggestion
            );
            examples(&mut out, "Blocked", rule.fires);
            examples(&mut out, "Allowed", rule.spares);
        }
    }
    out
}

fn examples(out: &mut String, title: &str, scripts: &[&str]) {
    let _ = write!(out, "\n{title}:\n\n```sh\n");
    for script in scripts {
        let _ = writeln!(out, "{script}");
    }
    out.push_str("```\n");
}
