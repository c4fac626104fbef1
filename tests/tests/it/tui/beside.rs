//! Lines that run beside the shell that stays: in its directory, with the variables that it exports.

use super::in_the_interface;
use anyhow::Result;

#[test]
fn what_the_shell_exports_is_known_beside_it() -> Result<()> {
    in_the_interface("", |tmux, _| {
        tmux.enters(
            "export AB_MADE='as exported'; export PATH=/ab/new:$PATH; unset LANG; echo set",
        )?;
        tmux.shows("│ set")?;
        tmux.enters("read -p 'name? ' name; echo \"$name: $AB_MADE ${PATH%%:*} ${LANG-none}\"")?;
        tmux.shows("name? ")?;
        tmux.shows("Console")?;
        tmux.enters("on a terminal")?;
        tmux.shows("│ on a terminal: as exported /ab/new none")?;
        tmux.types("echo tried: $AB_MADE ${PATH%%:*}")?;
        tmux.shows("f3 try it")?;
        tmux.press(&["F3"])?;
        tmux.shows("│ tried: as exported /ab/new").map(drop)
    })
}
