//! Reports a panic, which is a bug of ours, as one plain line on stderr with its location, and
//! exits with a failure code.

use crate::output;
use agent_bash::panics::{catch_panic, message};
use std::panic::PanicHookInfo;

/// Installs the panic hook: every panic prints one line, whether or not it is caught.
pub(crate) fn install_hook() {
    std::panic::set_hook(Box::new(|info| output::say(&line(info))));
}

/// Runs `work`, which returns an exit code; `failure` is the code after a panic.
pub(crate) fn or_failure(failure: u8, work: impl FnOnce() -> u8) -> u8 {
    // The panic hook has already printed the line.
    catch_panic(work).unwrap_or(failure)
}

fn line(info: &PanicHookInfo<'_>) -> String {
    let at = info
        .location()
        .map_or_else(String::new, |at| format!(" at {at}"));
    let message = message(info.payload());
    format!("agent-bash: internal error ({message}{at}); please report it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn panic_prints_one_line_and_returns_the_failure_code() {
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&lines);
        let before = std::panic::take_hook();
        let own = std::thread::current().id();
        std::panic::set_hook(Box::new(move |info| {
            if std::thread::current().id() == own {
                seen.lock().unwrap().push(line(info));
            }
        }));
        let codes = [
            or_failure(125, || 3),
            or_failure(125, || panic!("made of {}", 7)),
            or_failure(2, || std::panic::panic_any(7)),
        ];
        std::panic::set_hook(before);
        assert_eq!(codes, [3, 125, 2]);
        let lines = lines.lock().unwrap();
        let here = concat!(" at ", file!(), ":");
        assert!(
            lines.len() == 2 && lines[0].contains("(made of 7 at "),
            "{lines:?}"
        );
        for line in lines.iter() {
            assert!(line.contains(here) && !line.contains('\n'), "{line}");
        }
    }
}
