//! The keys of `[journal]`.

use crate::key::{
    ProjectEffect, SettingKey, ValueForm, count, duration_value, from_word, number_value,
    retention, to_value,
};
use agent_bash_journal::JournalLevel;

pub(super) const LEVEL: SettingKey = SettingKey {
    name: "journal.level",
    doc: "What is recorded of a session for `log` and `report`: off, metadata (commands and how they ended), full (also their output). Default: metadata, but off for `run`.",
    form: ValueForm::Text,
    set: |s, v| from_word::<JournalLevel>(v).map(|level| s.journal.level = Some(level)),
    get: |s| to_value(s.journal.level?),
    project: ProjectEffect::Never,
};

pub(super) const KEEP: SettingKey = SettingKey {
    name: "journal.keep",
    doc: "How long the record of a session is kept, such as \"7d\".",
    form: ValueForm::Text,
    set: |s, v| retention(v).map(|time| s.journal.keep = time),
    get: |s| Some(duration_value(s.journal.keep)),
    project: ProjectEffect::Never,
};

pub(super) const MAX_MB: SettingKey = SettingKey {
    name: "journal.max_mb",
    doc: "Maximum size of the record that one process writes of its session, in MiB.",
    form: ValueForm::Number,
    set: |s, v| count(v).map(|mb| s.journal.max_mb = mb),
    get: |s| number_value(Some(s.journal.max_mb)),
    project: ProjectEffect::Never,
};

pub(super) const MAX_TOTAL_MB: SettingKey = SettingKey {
    name: "journal.max_total_mb",
    doc: "Maximum size of the records of all sessions, in MiB; the oldest records are deleted first.",
    form: ValueForm::Number,
    set: |s, v| count(v).map(|mb| s.journal.max_total_mb = mb),
    get: |s| number_value(Some(s.journal.max_total_mb)),
    project: ProjectEffect::Never,
};
