//! The keys of `[journal]`.

use crate::settings::key::{
    ProjectEffect, SettingKey, ValueForm, count, duration_value, from_word, keep, number_value,
    to_value,
};
use agent_bash_journal::JournalLevel;

pub(super) const LEVEL: SettingKey = SettingKey {
    name: "journal.level",
    doc: "What is recorded of a session for `log` and `report`: off, metadata (commands and how they ended), full (what they printed, too). Default: metadata for rpc, mcp and tui, else off.",
    form: ValueForm::Text,
    set: |s, v| from_word::<JournalLevel>(v).map(|level| s.journal.level = Some(level)),
    get: |s| to_value(s.journal.level?),
    project: ProjectEffect::Never,
};

pub(super) const KEEP: SettingKey = SettingKey {
    name: "journal.keep",
    doc: "How long the record of a session is kept, such as \"7d\".",
    form: ValueForm::Text,
    set: |s, v| keep(v).map(|keep| s.journal.keep = keep),
    get: |s| Some(duration_value(s.journal.keep)),
    project: ProjectEffect::Never,
};

pub(super) const MAX_MB: SettingKey = SettingKey {
    name: "journal.max_mb",
    doc: "Most that one process records of its session, in MiB.",
    form: ValueForm::Number,
    set: |s, v| count(v).map(|mb| s.journal.max_mb = mb),
    get: |s| number_value(Some(s.journal.max_mb)),
    project: ProjectEffect::Never,
};

pub(super) const MAX_TOTAL_MB: SettingKey = SettingKey {
    name: "journal.max_total_mb",
    doc: "Most that is recorded of all sessions, in MiB; the oldest go first.",
    form: ValueForm::Number,
    set: |s, v| count(v).map(|mb| s.journal.max_total_mb = mb),
    get: |s| number_value(Some(s.journal.max_total_mb)),
    project: ProjectEffect::Never,
};
