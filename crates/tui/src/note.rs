//! Notes between the cards. They fit the width at which they are drawn.

use agent_bash::core::changes::Changes;
use agent_bash_render::{Theme, call_summary, shortened};
use ratatui::text::{Line, Span};

/// Maximum number of named trials.
const MAX_NAMED_TRIALS: usize = 5;

/// Minimum of columns for a trial's command.
const MIN_COMMAND_COLUMNS: usize = 8;

#[derive(Debug)]
pub(crate) enum Note {
    /// Fixed lines.
    Lines(Vec<Line<'static>>),
    Held(HeldNote),
}

impl Note {
    /// The rows of the note at this width.
    pub(crate) fn lines(&self, width: u16, theme: &Theme) -> Vec<Line<'static>> {
        match self {
            Self::Lines(lines) => lines.clone(),
            Self::Held(held) => held.lines(usize::from(width), theme),
        }
    }
}

/// Trials of earlier runs that await a decision. They have no cards yet, because their output is
/// not stored with them.
#[derive(Debug)]
pub(crate) struct HeldNote {
    /// The newest first; at most [`MAX_NAMED_TRIALS`].
    newest: Vec<Changes>,
    count: usize,
    state_dir: String,
}

impl HeldNote {
    /// Creates a note about `trials`, the newest last, of the state directory `state_dir`.
    pub(crate) fn new(trials: Vec<Changes>, state_dir: String) -> Self {
        let count = trials.len();
        Self {
            newest: trials.into_iter().rev().take(MAX_NAMED_TRIALS).collect(),
            count,
            state_dir,
        }
    }

    fn lines(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let text = match self.count {
            1 => "A trial of an earlier run waits for your decision:".to_owned(),
            several => format!("{several} trials of earlier runs wait for your decision:"),
        };
        let line = |text: &str, style| Line::styled(shortened(text, width), style);
        let mut lines = vec![line(&text, theme.warning)];
        for trial in &self.newest {
            let named = named_trial(trial, width.saturating_sub(2));
            lines.push(line(&format!("  {named}"), theme.text));
            let why = trial.commit_obstacle();
            lines.extend(why.map(|why| line(&format!("    {why}"), theme.warning)));
        }
        if self.count > MAX_NAMED_TRIALS {
            lines.push(line("  …", theme.text));
        }
        let them = if self.count == 1 { "it" } else { "them" };
        let keys = format!("  f6 shows {them}");
        let command = format!("agent-bash changes list --state {}", self.state_dir);
        let both = format!("{keys} · {command}");
        // A command is useful only if it is complete.
        if text_columns(&both) <= width {
            lines.push(line(&both, theme.dim));
        } else {
            lines.extend([keys, format!("  {command}")].map(|text| line(&text, theme.dim)));
        }
        lines
    }
}

/// Names a trial: `trial 25: sed -i s/a/b/ README.md · Δ +4 ~1`. Shortens the command to fit
/// `columns`.
pub fn named_trial(trial: &Changes, columns: usize) -> String {
    let name = format!("trial {}: ", trial.id);
    let counts = match call_summary::delta(&trial.counts) {
        text if text.is_empty() => "Δ 0".to_owned(),
        counts => format!("Δ {counts}"),
    };
    // Marked as on the trial's card.
    let counts = counts + if trial.exact { "" } else { " inexact" };
    let Some(command) = trial.command.as_deref() else {
        return shortened(&format!("{name}{counts}"), columns);
    };
    let other_columns = text_columns(&name) + text_columns(&counts) + text_columns(" · ");
    let room = columns
        .saturating_sub(other_columns)
        .max(MIN_COMMAND_COLUMNS);
    let command = shortened(command, room);
    shortened(&format!("{name}{command} · {counts}"), columns)
}

fn text_columns(text: &str) -> usize {
    Span::raw(text).width()
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash::core::changes::{ChangeCounts, ChangesBy, ChangesId, ChangesState, FileName};

    fn trial(id: u64, command: &str) -> Changes {
        let (state, by) = (ChangesState::Held, ChangesBy::Overlay);
        let mut trial = Changes::new(ChangesId(id), state, by, "/p");
        trial.command = Some(command.to_owned());
        trial.counts = ChangeCounts {
            created: 4,
            deleted: 1,
            renamed: 1,
            mode: 1,
            ..ChangeCounts::default()
        };
        trial
    }

    fn rows(trials: &[Changes], width: u16) -> Vec<String> {
        let note = Note::Held(HeldNote::new(trials.to_vec(), "tui-p".to_owned()));
        let lines = note.lines(width, &Theme::plain());
        lines.iter().map(ToString::to_string).collect()
    }

    const LONG_COMMAND: &str = "mkdir -p k/d; echo one > k/d/a; ln -s ../a k/link; mv old.txt new.txt; rm b; chmod +x run.sh";

    #[test]
    fn trials_are_named_in_the_available_width() {
        let trials = [trial(41, "rm a"), trial(42, LONG_COMMAND)];
        let long = format!("  trial 42: {LONG_COMMAND} · Δ +4 −1 →1 m1");
        let want = [
            "2 trials of earlier runs wait for your decision:",
            &long,
            "  trial 41: rm a · Δ +4 −1 →1 m1",
            "  f6 shows them · agent-bash changes list --state tui-p",
        ];
        assert_eq!(rows(&trials, 200), want);
        let at_80 = rows(&trials, 80);
        let cut =
            "  trial 42: mkdir -p k/d; echo one > k/d/a; ln -s ../a k/link; … · Δ +4 −1 →1 m1";
        assert_eq!((at_80[1].as_str(), text_columns(&at_80[1])), (cut, 80));
        let narrow = rows(&trials, 40);
        assert_eq!(narrow[0], "2 trials of earlier runs wait for your …");
        assert_eq!(narrow[1], "  trial 42: mkdir -p k/… · Δ +4 −1 →1 m1");
        // The command then has a row of its own.
        let want = ["  f6 shows them", "  agent-bash changes list --state tui-p"];
        assert_eq!(narrow[3..], want);
        for width in 0..=120 {
            for row in rows(&trials, width) {
                assert!(text_columns(&row) <= usize::from(width), "{width}: {row}");
            }
        }
    }

    #[test]
    fn incomplete_counts_are_marked_inexact() {
        let mut trial = trial(7, "x");
        (trial.exact, trial.counts) = (false, ChangeCounts::default());
        assert_eq!(named_trial(&trial, 80), "trial 7: x · Δ 0 inexact");
    }

    #[test]
    fn conflicts_are_shown_and_the_newest_of_many_trials_are_named() {
        let mut trials: Vec<Changes> = (1..=6).map(|id| trial(id, "x")).collect();
        trials[5].conflicts = vec![FileName::new("a")];
        let rows = rows(&trials, 80);
        assert_eq!(rows.len(), 1 + 5 + 1 + 1 + 1, "{rows:#?}");
        assert!(
            rows[2].starts_with("    1 file was changed since"),
            "{rows:#?}"
        );
        assert_eq!(rows[7], "  …");
    }
}
