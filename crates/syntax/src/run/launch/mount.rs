//! Parses the mounts of a container from the options of the program that starts the container.

use super::super::super::command_host::Mount;
use super::super::super::state::ShellState;
use super::super::super::value::Value;
use super::super::path::{absolute, lexical};

/// Parses `SOURCE:TARGET[:OPTIONS]`, or `type=bind,source=…,target=…`. `None` for a volume, a
/// read-only mount, and an unknown source.
pub(super) fn mount(text: &Value, shell: &ShellState) -> Option<Mount> {
    let text = text.literal()?;
    let (source, target, options) = if text.contains('=') && text.contains(',') {
        let value = |names: [&str; 3]| {
            let mut fields = text.split(',').filter_map(|field| field.split_once('='));
            fields.find_map(|(name, value)| names.contains(&name).then_some(value))
        };
        let source = value(["source", "src", "from"])?;
        (source, value(["target", "dst", "destination"])?, text)
    } else {
        let mut fields = text.split(':');
        // A text without a colon is the path of a new volume.
        (
            fields.next()?,
            fields.next()?,
            fields.next().unwrap_or_default(),
        )
    };
    let is_option = |option: &str| matches!(option, "ro" | "readonly" | "readonly=true");
    if !source.starts_with(['/', '.']) || options.split(',').any(is_option) {
        return None;
    }
    Some(Mount {
        source: lexical(&absolute(source, shell)),
        target: lexical(target),
    })
}
