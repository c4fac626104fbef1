//! The keys of `[changes]`.

use crate::CommitBy;
use crate::key::{
    ProjectEffect, SettingKey, ValueForm, absolute_path, count, duration_value, from_word,
    number_value, retention, text, to_value, yes_or_no,
};
use agent_bash_core::changes::{AnnouncedChanges, ChangesLevel};

/// The value that stands for the workspace of a call.
const WORKSPACE_WORD: &str = "workspace";

pub(super) const LEVEL: SettingKey = SettingKey {
    name: "changes.level",
    doc: "What is recorded of file changes (docs/changes.md): off, list (which files), undo (also the former contents, to restore them). Default: undo, but off for `run`.",
    form: ValueForm::Text,
    set: |s, v| from_word::<ChangesLevel>(v).map(|level| s.changes.level = Some(level)),
    get: |s| to_value(s.changes.level?),
    project: ProjectEffect::Tightens(|before, now| {
        // The default of an unset level may be `undo`, the strictest level.
        let before = before.changes.level.unwrap_or(ChangesLevel::Undo);
        now.changes.level >= Some(before)
    }),
};

pub(super) const ROOT: SettingKey = SettingKey {
    name: "changes.root",
    doc: "The directory below which file changes are recorded: workspace (the nearest directory with a .git, else the session's directory), or an absolute path.",
    form: ValueForm::Text,
    set: |s, v| {
        s.changes.root = match text(v)? {
            WORKSPACE_WORD => None,
            _ => Some(absolute_path(v).map_err(|_| "`workspace`, or an absolute path".to_owned())?),
        };
        Ok(())
    },
    get: |s| match &s.changes.root {
        Some(root) => to_value(root),
        None => to_value(WORKSPACE_WORD),
    },
    project: ProjectEffect::Never,
};

pub(super) const COMMIT: SettingKey = SettingKey {
    name: "changes.commit",
    doc: "The permission to commit a trial: model (the model may), ask (the host asks the user first), user (only the user may).",
    form: ValueForm::Text,
    set: |s, v| from_word::<CommitBy>(v).map(|by| s.changes.commit = by),
    get: |s| to_value(s.changes.commit),
    project: ProjectEffect::Tightens(|before, now| now.changes.commit >= before.changes.commit),
};

pub(super) const TELL: SettingKey = SettingKey {
    name: "changes.tell",
    doc: "Which file changes of ordinary calls are reported to the model: all, deletions, none.",
    form: ValueForm::Text,
    set: |s, v| from_word::<AnnouncedChanges>(v).map(|announced| s.changes.announced = announced),
    get: |s| to_value(s.changes.announced),
    project: ProjectEffect::Never,
};

pub(super) const KEEP: SettingKey = SettingKey {
    name: "changes.keep",
    doc: "How long change sets are kept, such as \"24h\". Held trials are kept until the user decides.",
    form: ValueForm::Text,
    set: |s, v| retention(v).map(|time| s.changes.keep = time),
    get: |s| Some(duration_value(s.changes.keep)),
    project: ProjectEffect::Never,
};

pub(super) const MAX_SET_MB: SettingKey = SettingKey {
    name: "changes.max_set_mb",
    doc: "Maximum size of the file contents that are stored for one call, in MiB.",
    form: ValueForm::Number,
    set: |s, v| count(v).map(|mb| s.changes.max_set_mb = mb),
    get: |s| number_value(Some(s.changes.max_set_mb)),
    project: ProjectEffect::Never,
};

pub(super) const MAX_TOTAL_MB: SettingKey = SettingKey {
    name: "changes.max_total_mb",
    doc: "Maximum size of the file contents that are stored for all calls, in MiB.",
    form: ValueForm::Number,
    set: |s, v| count(v).map(|mb| s.changes.max_total_mb = mb),
    get: |s| number_value(Some(s.changes.max_total_mb)),
    project: ProjectEffect::Never,
};

pub(super) const MAX_PREIMAGE_MB: SettingKey = SettingKey {
    name: "changes.max_preimage_mb",
    doc: "Maximum size of a file that is copied for an undo, in MiB. A larger file is stored only if that takes no space.",
    form: ValueForm::Number,
    set: |s, v| count(v).map(|mb| s.changes.max_preimage_mb = mb),
    get: |s| number_value(Some(s.changes.max_preimage_mb)),
    project: ProjectEffect::Never,
};

pub(super) const OFFER_TRIAL: SettingKey = SettingKey {
    name: "changes.offer_trial",
    doc: "Whether a refusal by a safety rule proposes a trial of the command, if that trial would run: true, false.",
    form: ValueForm::Text,
    set: |s, v| yes_or_no(v).map(|offer| s.changes.offer_trial = offer),
    get: |s| to_value(s.changes.offer_trial),
    project: ProjectEffect::Never,
};

pub(super) const TRIAL_PASSES_RULES: SettingKey = SettingKey {
    name: "changes.trial_passes_rules",
    doc: "Whether a trial runs a command that a safety rule refuses, if it is refused only for files below `root`: true, false. No effect if `commit` is model.",
    form: ValueForm::Text,
    set: |s, v| yes_or_no(v).map(|passes| s.changes.trial_passes_rules = passes),
    get: |s| to_value(s.changes.trial_passes_rules),
    project: ProjectEffect::Tightens(|before, now| {
        before.changes.trial_passes_rules || !now.changes.trial_passes_rules
    }),
};
