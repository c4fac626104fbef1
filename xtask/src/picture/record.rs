//! Records a real session: the interface on a terminal, with typed keys, in a small project.

use super::{COLUMNS, DIRECTORY, ROWS, SCREENS, THEMES};
use crate::Tree;
use crate::suite::cargo;
use agent_bash_tests::tmux::Tmux;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::time::Duration;

/// The script that creates the project.
const PROJECT: &str = r#"
mkdir -p ~/shop/src ~/shop/legacy && cd ~/shop
printf 'all:\n\t@echo "  compiling src/cart.c"; sleep 0.4; echo "  compiling src/main.c"; sleep 0.3\n\t@printf "\\033[32m14 tests passed\\033[0m, 0 failed\\n"\n' > Makefile
printf '# shop\n\nPrices come from the old table in `legacy/`.\n\nmake\n' > README.md
printf 'int total(int a, int b) { return a + b; }\n' > src/cart.c
printf 'int main(void) { return 0; }\n' > src/main.c
printf '9.99\n' > legacy/prices.txt; printf 'see prices.txt\n' > legacy/notes.md
git init -qb main && git config user.name You && git config user.email you@example.com
git add src legacy README.md Makefile && git commit -qm 'A shop'
"#;

/// Records all screens.
pub(super) fn record(tree: &Tree) -> Result<()> {
    cargo(tree, &["build", "--package", "agent-bash-cli"]).run()?;
    let target = crate::layers::metadata(tree)?.target_directory;
    let program = target.as_std_path().join("debug/agent-bash");
    THEMES.iter().try_for_each(|theme| {
        let directory = tree.root.join(DIRECTORY).join(theme.name);
        std::fs::create_dir_all(&directory)?;
        session(&program, theme.name, &directory)
    })
}

/// Runs the session, and writes its screens into `directory`.
fn session(program: &Path, theme: &str, directory: &Path) -> Result<()> {
    let world = World::new()?.with_program(program)?;
    let made = world.command("bash").args(["-c", PROJECT]).status()?;
    ensure!(made.success(), "the project for the recording was not made");
    let tmux = Tmux::start(&world, COLUMNS.get(), ROWS.get())?;
    tmux.enters(&format!(
        "cd ~/shop && clear && exec agent-bash tui --theme {theme}"
    ))?;
    tmux.shows("❯")?;

    tmux.enters("make")?;
    tmux.shows("0 failed")?;
    tmux.until("make has ended", |screen| screen.contains("exit 0"))?;
    tmux.enters("git add -A && git commit -m wip")?;
    tmux.shows("Blocked")?;
    tmux.enters("python3 -m http.server --bind 127.0.0.1 8137 & sleep 0.5; echo serving")?;
    tmux.shows("still running as")?;
    tmux.shows("1 job")?;
    save_screen(directory, &tmux, 0)?;

    tmux.types(
        "rm -r legacy && sed -i 's/old table/new one/' README.md && echo 4.99 > src/prices.txt",
    )?;
    tmux.press(&["F3"])?;
    tmux.shows("held")?;
    tmux.press(&["C-Up"])?;
    tmux.shows("esc back")?;
    tmux.press(&["Enter"])?;
    tmux.shows("+Prices come from the new one")?;
    save_screen(directory, &tmux, 1)?;
    tmux.press(&["q"])?;
    tmux.hides("+Prices come from the new one")?;
    tmux.press(&["Escape"])?;
    tmux.hides("esc back")?;

    tmux.enters("vim README.md")?;
    // The last line may be drawn after the first lines; the key must come after the whole screen.
    tmux.shows("\"README.md\" 5L")?;
    tmux.press(&["G"])?;
    tmux.shows("All")?;
    save_screen(directory, &tmux, 2)?;
    tmux.types(":q!")?;
    tmux.press(&["Enter"])?;
    drop(tmux);
    // The session leaves a server running; `World::end` stops it.
    drop(world.end(Duration::from_secs(5)));
    Ok(())
}

/// Writes the current screen of the terminal into a file.
fn save_screen(directory: &Path, tmux: &Tmux<'_>, index: usize) -> Result<()> {
    let path = directory.join(SCREENS[index].file);
    std::fs::write(&path, tmux.coloured()?).with_context(|| format!("writing {}", path.display()))
}
