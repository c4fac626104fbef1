//! The keys of the interface as data, for the help and for `docs/generated/tui-keys.md`.
//!
//! `xtask` compiles this file as well, so it imports nothing.

/// Keys that belong together.
pub(crate) struct KeyGroup {
    pub(crate) title: &'static str,
    /// Keys, separated by spaces, and their effect after ` | `.
    pub(crate) keys: &'static [&'static str],
}

impl KeyGroup {
    /// Returns the keys, separated by spaces, and their effect.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.keys.iter().filter_map(|row| row.split_once(" | "))
    }
}

/// Titles of the groups that F1 opens at, by the panel in use.
pub(crate) const HISTORY_TITLE: &str = "The search of the history";
pub(crate) const PAGER_TITLE: &str = "The pager and the diff";
pub(crate) const JOBS_TITLE: &str = "Background jobs";

/// All groups, in the order of the pages.
pub(crate) const KEY_GROUPS: &[KeyGroup] = &[
    KeyGroup {
        title: "The line",
        keys: &[
            "enter | run as a tool call, or queue it",
            "!command !!command | your own shell; !! is hidden from the model",
            "f3 | run it, or the last one, as a trial",
            "f4 f5 | run it outside of the sandbox; on a terminal",
            "tab ctrl+r | complete; search the history",
            "↑ ↓ ctrl+p ctrl+n | earlier lines that begin so; ↑ takes back the queue",
            "alt+enter ctrl+j \\ | a new line, as enter in an unfinished script",
            "ctrl+x ctrl+e | edit it in your editor",
            "esc | leave the card; else cancel the running command",
            "ctrl+c | clear the line (ctrl+_ undoes); else cancel as esc",
        ],
    },
    KeyGroup {
        title: "Cards",
        keys: &[
            "ctrl+↑ ctrl+↓ | select one: it has the keys y to r below",
            "click | highlight one; again expands or collapses it",
            "ctrl+o | expand it, or collapse it",
            "ctrl+pgup ctrl+pgdn | page through it while it is expanded",
            "ctrl+f | its output in the pager",
            "y Y e R f | copy it or its command, edit, run again, fold",
            "enter | its changes to files",
            "c d u r U | commit, discard, undo, redo; U: all since, too",
            "f6 | select a trial that waits for your decision",
        ],
    },
    KeyGroup {
        title: "Everything else",
        keys: &[
            "ctrl+g f2 | background jobs",
            "ctrl+t | a terminal for every command, or as needed",
            "pgup pgdn wheel | scroll",
            "click | in lists: select, and take; in the line: go there",
            "ctrl+home ctrl+end | to the first card, to the last",
            "ctrl+l | clear the screen",
            "ctrl+z ctrl+d | suspend, quit",
            "y n | answer a question",
            "? f1 | the keys; space → ← turn the pages",
        ],
    },
    KeyGroup {
        title: "In the line",
        keys: &[
            "alt+b ctrl+← | a word back",
            "alt+f ctrl+→ | a word forward, or a word of the suggestion",
            "ctrl+a home | the beginning of the line",
            "ctrl+e end → | the end; there, take the suggestion",
            "backspace ctrl+h | delete the character before the cursor",
            "delete | delete the character at the cursor",
            "alt+backspace alt+d | delete a word back, a word forward",
            "ctrl+w ctrl+u ctrl+k | delete back to a blank, to the beginning, to the end",
            "ctrl+y alt+. | insert the deleted text; an earlier last argument",
            "ctrl+_ ctrl+/ alt+_ | undo (a word, a deletion, a paste), redo",
        ],
    },
    KeyGroup {
        title: "The list of tab",
        keys: &[
            "tab ↓ shift+tab ↑ ← → | go through the list",
            "enter esc | take it; close",
        ],
    },
    KeyGroup {
        title: HISTORY_TITLE,
        keys: &[
            "↑ ↓ pgup pgdn | select",
            "ctrl+r | everywhere, this directory, this run",
            "ctrl+w ctrl+u | delete a word, or all, of the query",
            "enter tab | take it",
            "esc ctrl+g | close",
        ],
    },
    KeyGroup {
        title: PAGER_TITLE,
        keys: &[
            "/ ? n N | search, back; next and previous match",
            "n N | in a diff without a search: next, previous file",
            "F | follow the end while the command runs",
            "j k ↓ ↑ ← → | lines, sideways",
            "space b pgdn pgup | pages",
            "ctrl+d ctrl+u | half pages",
            "g G home end | the first line, the last; 50G: line 50",
            "q esc | close",
        ],
    },
    KeyGroup {
        title: JOBS_TITLE,
        keys: &[
            "j k ↓ ↑ g G home end | select",
            "enter x | the whole output; end it",
            "q esc ctrl+g f2 | close",
        ],
    },
    KeyGroup {
        title: "A command on a terminal",
        keys: &[
            "esc ctrl+] | kill it; in full screen only ctrl+] does",
            "esc esc | quickly: esc for the command itself",
            "shift+pgup shift+pgdn | scroll back",
        ],
    },
];
