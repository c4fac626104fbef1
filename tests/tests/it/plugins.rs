//! The plugins of `plugins/`: their hooks are those that `agent-bash hook --install` writes, and
//! all have the same skill and the version of the product. `cargo xtask agents` installs them in
//! the real agents.

use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::Path;

const PLUGINS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../plugins");

/// A plugin: its agent, which is also its directory, its manifest, its file with hooks, and the
/// file below the home that the installer of hooks writes.
struct Plugin {
    agent: &'static str,
    manifest: &'static str,
    hooks: &'static str,
    installed: &'static str,
}

const ALL: [Plugin; 4] = [
    Plugin {
        agent: "claude-code",
        manifest: ".claude-plugin/plugin.json",
        hooks: "hooks/hooks.json",
        installed: ".claude/settings.json",
    },
    Plugin {
        agent: "codex",
        manifest: ".codex-plugin/plugin.json",
        hooks: "hooks/hooks.json",
        installed: ".codex/hooks.json",
    },
    Plugin {
        agent: "copilot",
        manifest: "plugin.json",
        hooks: "hooks.json",
        installed: ".copilot/hooks/agent-bash.json",
    },
    Plugin {
        agent: "gemini-cli",
        manifest: "gemini-extension.json",
        hooks: "hooks/hooks.json",
        installed: ".gemini/settings.json",
    },
];

impl Plugin {
    fn read(&self, file: &str) -> Result<String> {
        let path = Path::new(PLUGINS).join(self.agent).join(file);
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    }
}

#[test]
fn plugins_have_the_hooks_of_the_installer() -> Result<()> {
    let program = product::agent_bash()?;
    for plugin in &ALL {
        let world = World::new()?;
        let mut command = world.command(program);
        command.args(["hook", "--install", "--yes", plugin.agent]);
        let ran = product::run(command, None)?;
        ensure!(ran.code == 0, "{}: {}", plugin.agent, ran.stderr);
        let installed = fs::read_to_string(world.home().join(plugin.installed))?;
        // The installer names the program by its path, a plugin by its name.
        let installed = installed.replace(&*program.to_string_lossy(), "agent-bash");
        let installed: Value = serde_json::from_str(&installed)?;
        let hooks: Value = serde_json::from_str(&plugin.read(plugin.hooks)?)?;
        ensure!(hooks["hooks"].is_object(), "{}: {hooks}", plugin.agent);
        assert_eq!(hooks["hooks"], installed["hooks"], "{}", plugin.agent);
    }
    Ok(())
}

#[test]
fn plugins_have_the_version_of_the_product_and_one_skill() -> Result<()> {
    const SKILL: &str = "skills/agent-bash-changes/SKILL.md";
    let first = ALL[0].read(SKILL)?;
    ensure!(
        first.starts_with("---\nname: agent-bash-changes\n"),
        "{first}"
    );
    for plugin in &ALL {
        let manifest: Value = serde_json::from_str(&plugin.read(plugin.manifest)?)?;
        assert_eq!(manifest["name"], "agent-bash", "{}", plugin.agent);
        assert_eq!(
            manifest["version"],
            env!("CARGO_PKG_VERSION"),
            "{}",
            plugin.agent
        );
        assert_eq!(plugin.read(SKILL)?, first, "{}", plugin.agent);
    }
    Ok(())
}
