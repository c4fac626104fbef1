//! The keys of `[changes]`.

use crate::CommitBy;
use crate::settings::key::{
    Form, Key, Project, absolute_path, count, duration_value, from_word, keep, number_value, text,
    to_value, yes_or_no,
};
use agent_bash_core::changes::{ChangesLevel, Tell};

/// The value that stands for the workspace of a call.
const WORKSPACE_WORD: &str = "workspace";

pub(super) const LEVEL: Key = Key {
    name: "changes.level",
    doc: "What is kept of what commands do to files: off, list (which), undo (to take it back) (docs/changes.md). If unset: off for `run`, undo for rpc, mcp and tui.",
    form: Form::Text,
    set: |s, v| from_word::<ChangesLevel>(v).map(|level| s.changes.level = Some(level)),
    get: |s| to_value(s.changes.level?),
    project: Project::Tightens(|before, now| {
        // Unset it is the strictest for some.
        let before = before.changes.level.unwrap_or(ChangesLevel::Undo);
        now.changes.level >= Some(before)
    }),
};

pub(super) const ROOT: Key = Key {
    name: "changes.root",
    doc: "The directory whose files that is about: workspace (the nearest with a .git, else the session's), or an absolute path.",
    form: Form::Text,
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
    project: Project::Never,
};

pub(super) const COMMIT: Key = Key {
    name: "changes.commit",
    doc: "The one that may commit a trial: model, ask (the host asks its user), user.",
    form: Form::Text,
    set: |s, v| from_word::<CommitBy>(v).map(|by| s.changes.commit = by),
    get: |s| to_value(s.changes.commit),
    project: Project::Tightens(|before, now| now.changes.commit >= before.changes.commit),
};

pub(super) const TELL: Key = Key {
    name: "changes.tell",
    doc: "Which changes of ordinary calls the model is told of: all, deletions, none.",
    form: Form::Text,
    set: |s, v| from_word::<Tell>(v).map(|tell| s.changes.tell = tell),
    get: |s| to_value(s.changes.tell),
    project: Project::Never,
};

pub(super) const KEEP: Key = Key {
    name: "changes.keep",
    doc: "How long changes are kept, such as \"24h\". Held trials are kept until the user decides.",
    form: Form::Text,
    set: |s, v| keep(v).map(|keep| s.changes.keep = keep),
    get: |s| Some(duration_value(s.changes.keep)),
    project: Project::Never,
};

pub(super) const MAX_SET_MB: Key = Key {
    name: "changes.max_set_mb",
    doc: "Most that is kept of one call, in MiB.",
    form: Form::Number,
    set: |s, v| count(v).map(|mb| s.changes.max_set_mb = mb),
    get: |s| number_value(Some(s.changes.max_set_mb)),
    project: Project::Never,
};

pub(super) const MAX_TOTAL_MB: Key = Key {
    name: "changes.max_total_mb",
    doc: "Most that is kept of all calls, in MiB.",
    form: Form::Number,
    set: |s, v| count(v).map(|mb| s.changes.max_total_mb = mb),
    get: |s| number_value(Some(s.changes.max_total_mb)),
    project: Project::Never,
};

pub(super) const MAX_PREIMAGE_MB: Key = Key {
    name: "changes.max_preimage_mb",
    doc: "A larger file, in MiB, is kept for an undo only if that takes no space.",
    form: Form::Number,
    set: |s, v| count(v).map(|mb| s.changes.max_preimage_mb = mb),
    get: |s| number_value(Some(s.changes.max_preimage_mb)),
    project: Project::Never,
};

pub(super) const OFFER_TRIAL: Key = Key {
    name: "changes.offer_trial",
    doc: "Whether a refusal by a rule tells how to see what the command would do, where a trial of it would run: true, false.",
    form: Form::Text,
    set: |s, v| yes_or_no(v).map(|offer| s.changes.offer_trial = offer),
    get: |s| to_value(s.changes.offer_trial),
    project: Project::Never,
};

pub(super) const TRIAL_PASSES_RULES: Key = Key {
    name: "changes.trial_passes_rules",
    doc: "Whether a trial runs what a safety rule refuses, if all that is refused lies in the tree whose changes it holds back: true, false. Not with commit = model.",
    form: Form::Text,
    set: |s, v| yes_or_no(v).map(|passes| s.changes.trial_passes_rules = passes),
    get: |s| to_value(s.changes.trial_passes_rules),
    project: Project::Tightens(|before, now| {
        before.changes.trial_passes_rules || !now.changes.trial_passes_rules
    }),
};
