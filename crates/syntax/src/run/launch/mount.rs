//! Parses the mounts of a container from the options of the program that starts the container.

use super::super::super::command_host::Mount;
use super::super::super::state::ShellState;
use super::super::super::value::Value;
use super::super::path::{absolute, lexical};

/// Parses `SOURCE:TARGET[:OPTIONS]`, a list of these separated by commas, or
/// `type=bind,source=…,target=…`. Leaves out volumes, read-only mounts and unknown sources.
pub(super) fn mounts(text: &Value, shell: &ShellState) -> Vec<Mount> {
    let text = text.literal().unwrap_or("");
    // `-v=/:/host`
    let text = text.strip_prefix('=').unwrap_or(text);
    if text.contains('=') && text.contains(',') {
        let value = |names: [&str; 3]| {
            let mut fields = text.split(',').filter_map(|field| field.split_once('='));
            fields.find_map(|(name, value)| names.contains(&name).then_some(value))
        };
        let source = value(["source", "src", "from"]);
        let target = value(["target", "dst", "destination"]);
        return mount(source, target, text, shell).into_iter().collect();
    }
    // A comma before a path separates mounts; other commas separate options.
    let separated = text.replace(",/", "\n/").replace(",.", "\n.");
    let mounts = separated.lines().filter_map(|text| {
        // A text without a colon is the path of a new volume.
        let mut fields = text.split(':');
        let (source, target) = (fields.next(), fields.next());
        mount(source, target, fields.next().unwrap_or_default(), shell)
    });
    mounts.collect()
}

fn mount(
    source: Option<&str>,
    target: Option<&str>,
    options: &str,
    shell: &ShellState,
) -> Option<Mount> {
    let (source, target) = (source?, target?);
    let is_option = |option: &str| matches!(option, "ro" | "readonly" | "readonly=true");
    if !source.starts_with(['/', '.']) || options.split(',').any(is_option) {
        return None;
    }
    Some(Mount {
        source: lexical(&absolute(source, shell)),
        target: lexical(target),
    })
}
