//! Command lines as results name processes.

use crate::proc_scan;

/// Maximum length of a survivor's command line, in characters.
const MAX_COMMAND_CHARS: usize = 200;

/// The reported name of a forked shell: its arguments are not the user's command.
pub(crate) const SUBSHELL_NAME: &str = "bash (subshell)";

/// Returns a command line as reported for survivors: at most 200 characters, without control
/// characters.
pub fn shown_command_line(arguments: &[Vec<u8>]) -> String {
    command_line(arguments, b"")
}

/// Returns the command line of a process, as reported for survivors. Empty if it cannot be read.
pub(crate) fn shown_command(pid: i32) -> String {
    command_line(&proc_scan::arguments(pid), b"")
}

/// Returns [`SUBSHELL_NAME`] for a shell that has `startup_argument`.
pub(crate) fn command_line(arguments: &[Vec<u8>], startup_argument: &[u8]) -> String {
    if !startup_argument.is_empty()
        && arguments
            .iter()
            .any(|argument| argument == startup_argument)
    {
        return SUBSHELL_NAME.to_owned();
    }
    let line = arguments
        .iter()
        .map(|argument| String::from_utf8_lossy(argument))
        .collect::<Vec<_>>()
        .join(" ");
    let clean: String = line
        .chars()
        .take(MAX_COMMAND_CHARS)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let cut = if line.chars().nth(MAX_COMMAND_CHARS).is_some() {
        "…"
    } else {
        ""
    };
    format!("{}{cut}", clean.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_is_bounded_and_without_control_characters() {
        let arguments = |list: &[&str]| -> Vec<Vec<u8>> {
            list.iter().map(|text| text.as_bytes().to_vec()).collect()
        };
        assert_eq!(
            command_line(&arguments(&["sleep", "300"]), b""),
            "sleep 300"
        );
        assert_eq!(command_line(&arguments(&["a\x1b[31m\nb"]), b""), "a [31m b");
        assert_eq!(
            command_line(&arguments(&["bash", "-c", "BOOT"]), b"BOOT"),
            SUBSHELL_NAME
        );
        let long = command_line(&arguments(&[&"ä".repeat(500)]), b"");
        assert_eq!(long.chars().count(), MAX_COMMAND_CHARS + 1);
    }
}
