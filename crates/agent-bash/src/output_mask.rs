//! Masks secrets in the outputs of jobs, and in notices.

use agent_bash_core::{
    MASK_CONTEXT_BYTES, MaskedPart, MetCondition, Notice, OutputMask, masked_part, masked_text,
};
use agent_bash_exec::JobOutput;
use agent_bash_os::open_regular;
use serde_json::Value;
use std::borrow::Cow;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The field that names the variant of a value.
const KIND_FIELD: &str = "kind";

/// Masks the secrets in a part of a job's output. Bytes at the end that may begin a secret are left
/// for the next part. Reads the output around the part.
pub fn mask_job_output(mask: Option<&dyn OutputMask>, part: &mut JobOutput) {
    let (Some(mask), Some(path)) = (mask, &part.job.output) else {
        return;
    };
    let context = part_context(path, part.from, part.next);
    // The file may have been removed meanwhile.
    let (before, after) = context.unwrap_or_default();
    let MaskedPart { bytes, held, .. } =
        masked_part(mask, &before, &part.bytes, &after, part.complete);
    part.bytes = bytes;
    part.next -= held as u64;
}

/// Masks the secrets in the line that met a condition.
pub fn mask_condition(mask: Option<&dyn OutputMask>, met: &mut Option<MetCondition>) {
    if let Some(MetCondition::Line { line }) = met {
        *line = masked_text(mask, line).into_owned();
    }
}

/// Masks the secrets in notices, which may quote commands and output.
pub(crate) fn mask_notices(mask: Option<&dyn OutputMask>, notices: &mut [Notice]) {
    let Some(mask) = mask else { return };
    for notice in notices {
        let mut value = serde_json::to_value(&*notice).unwrap_or_default();
        if mask_value(mask, &mut value)
            && let Ok(masked) = serde_json::from_value(value)
        {
            *notice = masked;
        }
    }
}

/// Masks all texts in a value, except for names. Returns true if a text had a secret.
fn mask_value(mask: &dyn OutputMask, value: &mut Value) -> bool {
    match value {
        Value::String(text) => match masked_text(Some(mask), text) {
            Cow::Owned(masked) => {
                *text = masked;
                true
            }
            Cow::Borrowed(_) => false,
        },
        Value::Array(values) => values
            .iter_mut()
            .fold(false, |any, value| mask_value(mask, value) | any),
        Value::Object(fields) => fields
            .iter_mut()
            .filter(|(name, _)| *name != KIND_FIELD)
            .fold(false, |any, (_, value)| mask_value(mask, value) | any),
        _ => false,
    }
}

/// Returns the bytes of a file before `from` and after `to`.
fn part_context(path: &Path, from: u64, to: u64) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let file = open_regular(path)?;
    let start = from.saturating_sub(MASK_CONTEXT_BYTES as u64);
    let mut before = vec![0; (from - start) as usize];
    file.read_exact_at(&mut before, start)?;
    let mut after = vec![0; MASK_CONTEXT_BYTES];
    let length = file.read_at(&mut after, to)?;
    after.truncate(length);
    Ok((before, after))
}
