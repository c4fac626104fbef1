//! Checks collections of commands by the safety rules, without running them. Counts how many each
//! rule refuses, measures the time of a verdict, and lists the refused commands for manual review.

use crate::say;
use agent_bash_policy::{Context as Policy, RuleSelection, Script, Verdict, check_safety, rules};
use anyhow::{Context, Result, bail};
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// The commands of nl2bash (`data/bash/all.cm`), one per line.
pub(super) fn nl2bash(directory: &Path) -> Result<Vec<String>> {
    let path = directory.join("data/bash/all.cm");
    let text = fs::read_to_string(&path).context(path.display().to_string())?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// The examples of tldr's English pages (`pages/*/*.md`), with placeholders replaced by their
/// contents.
pub(super) fn tldr(directory: &Path) -> Result<Vec<String>> {
    let mut examples = Vec::new();
    for platform in fs::read_dir(directory.join("pages"))?.flatten() {
        for page in fs::read_dir(platform.path())?.flatten() {
            let text = fs::read_to_string(page.path())?;
            examples.extend(text.lines().filter_map(example));
        }
    }
    if examples.is_empty() {
        bail!("no examples in {}", directory.join("pages").display());
    }
    Ok(examples)
}

/// The scripts in a file of JSON strings, one a line: the format of `agent-bash check --batch`.
pub(super) fn json_lines(file: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(file)?;
    let scripts = text.lines().map(serde_json::from_str);
    Ok(scripts.collect::<Result<_, _>>()?)
}

/// Turns ``  `tar {{[-c|--create]}} {{path/to/file}}` `` into `tar --create path/to/file`.
fn example(line: &str) -> Option<String> {
    let mut rest = line.strip_prefix('`')?.strip_suffix('`')?;
    let mut command = String::new();
    while let Some((before, (placeholder, after))) = rest
        .split_once("{{")
        .and_then(|(before, rest)| Some((before, rest.split_once("}}")?)))
    {
        let choice = placeholder
            .strip_prefix('[')
            .and_then(|choice| choice.strip_suffix(']'));
        let text = choice.map_or(placeholder, |choice| {
            choice.rsplit('|').next().unwrap_or(choice)
        });
        command.push_str(before);
        command.push_str(text);
        rest = after;
    }
    command.push_str(rest);
    Some(command)
}

/// The verdicts on a collection.
#[derive(Debug, Default)]
struct Verdicts {
    /// Refused commands by rule.
    refused: BTreeMap<String, Vec<String>>,
    /// Commands that could not be fully parsed and were not refused.
    unreadable: usize,
    /// CPU time of each verdict, and its command's index.
    times: Vec<(Duration, usize)>,
}

/// Checks `commands`, prints a summary, and writes the list of refused commands below `downloads`.
pub(super) fn check_commands(name: &str, commands: &[String], downloads: &Path) -> Result<()> {
    let verdicts = verdicts_on(commands);
    let list = downloads.join(format!("{name}-refused.txt"));
    fs::write(&list, verdicts.list()).context(list.display().to_string())?;
    say(&format!("── {name}: {} commands", commands.len()));
    say(&verdicts.summary(commands));
    say(&format!("   all refused commands: {}", list.display()));
    Ok(())
}

fn verdicts_on(commands: &[String]) -> Verdicts {
    let context = Policy::new("/home/u/project").with_home("/home/u");
    let all = RuleSelection::all();
    let mut verdicts = Verdicts::default();
    for (index, command) in commands.iter().enumerate() {
        let before = processor_time();
        let verdict = check_safety(&Script::read(command, &context), &all);
        let time = processor_time().saturating_sub(before);
        verdicts.times.push((time, index));
        match verdict {
            Verdict::Allow => {}
            Verdict::Unreadable(_) => verdicts.unreadable += 1,
            Verdict::Block(finding) => {
                let refused = verdicts.refused.entry(finding.rule).or_default();
                refused.push(command.clone());
            }
        }
    }
    verdicts.times.sort_unstable();
    verdicts
}

impl Verdicts {
    fn list(&self) -> String {
        let mut text = String::new();
        for (rule, commands) in &self.refused {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{rule}: {}", commands.len());
            for command in commands {
                let _ = writeln!(text, "  {}", command.replace('\n', "\n  "));
            }
        }
        text
    }

    fn summary(&self, commands: &[String]) -> String {
        let defaults = RuleSelection::default();
        let mut text = String::new();
        for rule in rules() {
            if let Some(refused) = self.refused.get(rule.id) {
                let on = if defaults.includes(rule) { "on" } else { "off" };
                let (id, group, count) = (rule.id, rule.group, refused.len());
                let _ = writeln!(
                    text,
                    "   {count:6} refused by {id} (group {group}, {on} by default)"
                );
            }
        }
        let _ = writeln!(text, "   {:6} not read to their end", self.unreadable);
        let (longest, slowest) = self.times.last().copied().unwrap_or_default();
        let typical = self.percentile(0.99);
        let shown: String = commands
            .get(slowest)
            .map(|command| command.chars().take(100).collect())
            .unwrap_or_default();
        let _ = write!(
            text,
            "   a verdict takes {typical:.1?} of the processor's time (p99), {longest:.1?} at most{}: {shown}",
            if cfg!(debug_assertions) {
                ", in a debug build"
            } else {
                ""
            }
        );
        text
    }

    fn percentile(&self, part: f64) -> Duration {
        let index = (self.times.len() as f64 * part) as usize;
        self.times
            .get(index)
            .map_or(Duration::ZERO, |(time, _)| *time)
    }
}

/// CPU time of this thread.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.try_into().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_read_with_placeholders_filled_in() {
        for (line, want) in [
            (
                "`tar cf {{a.tar}} {{b c ...}}`",
                Some("tar cf a.tar b c ..."),
            ),
            (
                "`rm {{[-r|--recursive]}} {{dir}}`",
                Some("rm --recursive dir"),
            ),
            ("`x {{open`", Some("x {{open")),
            ("- Remove a file:", None),
            ("> `x`: more", None),
        ] {
            assert_eq!(example(line).as_deref(), want, "{line}");
        }
    }

    #[test]
    fn refused_commands_are_counted_and_listed() {
        let commands = ["ls", "git push --force", "rm -rf /", "echo '"].map(str::to_owned);
        let verdicts = verdicts_on(&commands);
        assert_eq!(verdicts.refused["no_force_push"], ["git push --force"]);
        assert_eq!(verdicts.unreadable, 1);
        assert!(verdicts.list().contains("no_dangerous_rm: 1\n  rm -rf /\n"));
        let summary = verdicts.summary(&commands);
        assert!(
            summary.contains("1 refused by no_force_push (group core, on by default)"),
            "{summary}"
        );
        assert!(
            verdicts
                .times
                .iter()
                .all(|(time, _)| *time > Duration::ZERO)
        );
    }
}
