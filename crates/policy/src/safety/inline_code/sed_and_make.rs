//! Commands that sed scripts and makefiles run.

/// Returns the command that a sed command runs: `e command`, or the flag `e` of `s`.
pub(super) fn sed_command(command: &str) -> Option<String> {
    let is_of_address = |c: char| c.is_ascii_digit() || "$,!~+ \t".contains(c);
    let command = command.trim_start_matches(is_of_address);
    // `/pattern/e command`
    let pattern_and_rest = command
        .strip_prefix('/')
        .and_then(|rest| rest.split_once('/'));
    let command =
        pattern_and_rest.map_or(command, |(_, rest)| rest.trim_start_matches(is_of_address));
    if let Some(text) = command.strip_prefix("e ") {
        return Some(text.to_owned());
    }
    // `s/pattern/command/e`
    let rest = command.strip_prefix('s')?;
    let delimiter = rest.chars().next().filter(char::is_ascii_punctuation)?;
    let mut parts = rest.replace(&format!("\\{delimiter}"), "\0");
    parts.remove(0);
    let mut parts = parts.split(delimiter).skip(1);
    let (text, flags) = (
        parts.next()?.replace('\0', &delimiter.to_string()),
        parts.next()?,
    );
    let mut flags = flags.split(['w', ' ']);
    flags.next()?.contains('e').then_some(text)
}

/// Returns the command that a line of a makefile runs: a recipe below its target or on the same
/// line.
pub(super) fn make_command(line: &str) -> Option<String> {
    let after_target = || {
        line.split_once(':')?
            .1
            .split_once(';')
            .map(|(_, recipe)| recipe)
    };
    let recipe = line.strip_prefix('\t').or_else(after_target)?;
    Some(
        recipe
            .trim_start_matches(['@', '-', '+', ' '])
            .replace("$$", "$"),
    )
}
