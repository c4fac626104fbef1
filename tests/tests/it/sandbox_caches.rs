//! The caches of tools in the sandbox of the real binary: private ones of the workspace, the user's
//! own, or none.

use agent_bash_tests::product::{self, CommandResult};
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// Time limit on a slow machine.
const SOON: Duration = Duration::from_secs(60);

/// Runs a script in the sandbox, with its working directory in `directory`.
fn run(world: &World, directory: &Path, options: &[&str], script: &str) -> Result<Value> {
    let ran = run_as(world, directory, &[], options, script)?;
    serde_json::from_str(&ran.stdout).with_context(|| format!("{ran:?}"))
}

fn run_as(
    world: &World,
    directory: &Path,
    variables: &[(&str, &str)],
    options: &[&str],
    script: &str,
) -> Result<CommandResult> {
    let mut command = world.command(product::agent_bash()?);
    command.args(["run", "--json", "--sandbox", "workspace_write"]);
    command.args(options).arg(script).current_dir(directory);
    command.envs(variables.iter().copied());
    product::run(command, None)
}

fn text(result: &Value) -> &str {
    result["text"].as_str().unwrap_or_default()
}

#[test]
fn private_cache_is_kept_for_later_calls_of_its_workspace_only() -> Result<()> {
    let world = World::new()?;
    for name in ["one/.git", "two/.git"] {
        fs::create_dir_all(world.cwd().join(name))?;
    }
    let (one, two) = (world.cwd().join("one"), world.cwd().join("two"));
    let write = r#"mkdir -p "$GOCACHE" && echo kept > "$GOCACHE/entry"; echo x > file"#;
    let first = run(&world, &one, &["--changes=undo"], write)?;
    ensure!(first["status"]["code"] == 0, "{first}");
    // The record has the file of the workspace, and nothing of the cache.
    let changes = &first["changes"];
    ensure!(
        changes["counts"]["created"] == 1 && changes["exact"] == true,
        "{first}"
    );
    ensure!(
        changes["outside"]
            .as_object()
            .is_none_or(serde_json::Map::is_empty),
        "{first}"
    );
    let read = r#"cat "$GOCACHE/entry""#;
    ensure!(text(&run(&world, &one, &[], read)?).contains("kept"));
    ensure!(!text(&run(&world, &two, &[], read)?).contains("kept"));
    // Without private caches there is no variable.
    let off = [("AGENT_BASH_SANDBOX_CACHES", "off")];
    let ran = run_as(&world, &one, &off, &[], "echo [$GOCACHE]")?;
    ensure!(ran.stdout.contains("[]"), "{ran:?}");
    let unconfined = ["run", "--sandbox", "off", "echo [$GOCACHE]"];
    let mut command = world.command(product::agent_bash()?);
    command.args(unconfined);
    let ran = product::run(command, None)?;
    ensure!(ran.stdout.contains("[]"), "{ran:?}");
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn download_cache_of_the_user_is_read_without_a_network_and_private_with_one() -> Result<()> {
    let world = World::new()?;
    fs::create_dir_all(world.cwd().join(".git"))?;
    let show = r#"echo "[$npm_config_cache]"; echo x > ~/.npm/new"#;
    // The user has none: a private one can be written.
    let none = run(&world, &world.cwd(), &[], show)?;
    ensure!(text(&none).contains("/caches/"), "{none}");
    fs::create_dir_all(world.home().join(".npm"))?;
    let own = run(&world, &world.cwd(), &[], show)?;
    ensure!(text(&own).contains("[]"), "{own}");
    let networked = run(&world, &world.cwd(), &["--network", "on"], show)?;
    ensure!(text(&networked).contains("/caches/"), "{networked}");
    ensure!(!world.home().join(".npm/new").exists());
    world.assert_nothing_left(SOON);
    Ok(())
}

/// The messages name no path. A call with a network can fill its cache, so nothing is said there.
#[test]
fn cache_that_lacks_a_file_is_named_without_a_network_only() -> Result<()> {
    let world = World::new()?;
    fs::create_dir_all(world.cwd().join(".git"))?;
    for (message, tool, cache) in [
        ("npm error code ENOTCACHED", "npm", "/.npm"),
        ("ERR_PNPM_NO_OFFLINE_TARBALL", "pnpm", "/pnpm/store"),
        (
            "error Can't make a request in offline mode (URL)",
            "yarn",
            "/.cache/yarn",
        ),
        (
            "hint: Packages were unavailable because the network was disabled.",
            "uv",
            "/.cache/uv",
        ),
    ] {
        fs::write(world.cwd().join("message"), message)?;
        let fails = "cat message >&2; exit 1";
        let printed = run(&world, &world.cwd(), &[], fails)?;
        let line = format!("{tool} says that its cache lacks something");
        ensure!(
            text(&printed).contains(&line) && text(&printed).contains(cache),
            "{printed}"
        );
        let silent = run(&world, &world.cwd(), &["--network", "on"], fails)?;
        ensure!(!text(&silent).contains("its cache lacks"), "{silent}");
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn shared_caches_are_the_users_except_those_with_secrets() -> Result<()> {
    let world = World::new()?;
    fs::create_dir_all(world.cwd().join(".git"))?;
    for name in [".npm", ".cargo/registry", ".cache/huggingface/hub"] {
        fs::create_dir_all(world.home().join(name))?;
    }
    // A cache of another tool that is a secret.
    let keys = world.home().join(".ssh");
    let shared = [
        ("AGENT_BASH_SANDBOX_CACHES", "shared"),
        ("PIP_CACHE_DIR", &*keys.to_string_lossy()),
    ];
    fs::create_dir_all(world.home().join(".ssh"))?;
    let write = "for d in .npm .cargo/registry .cargo .ssh; do echo x >> ~/$d/new; done; echo [$npm_config_cache]";
    let ran = run_as(&world, &world.cwd(), &shared, &[], write)?;
    ensure!(ran.stdout.contains("[]"), "{ran:?}");
    for (name, is_written) in [
        (".npm", true),
        (".cargo/registry", true),
        (".cargo", false),
        (".ssh", false),
    ] {
        let written = world.home().join(name).join("new").exists();
        ensure!(written == is_written, "{name}: {ran:?}");
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn private_cache_links_to_the_settings_of_the_user() -> Result<()> {
    let world = World::new()?;
    fs::create_dir_all(world.cwd().join(".git"))?;
    fs::create_dir_all(world.home().join(".cargo"))?;
    fs::write(world.home().join(".cargo/config.toml"), "# own\n")?;
    let script = r#"cat "$CARGO_HOME/config.toml"; echo x > "$CARGO_HOME/config.toml""#;
    let ran = run(&world, &world.cwd(), &["--network", "on"], script)?;
    ensure!(text(&ran).contains("# own"), "{ran}");
    let own = fs::read_to_string(world.home().join(".cargo/config.toml"))?;
    ensure!(own == "# own\n", "{ran}");
    world.assert_nothing_left(SOON);
    Ok(())
}

/// pnpm 12 has its locks in `/tmp`, and the user's pnpm opens them.
#[test]
fn directory_with_a_fixed_path_is_a_private_one_in_a_full_sandbox() -> Result<()> {
    let world = World::new()?;
    fs::create_dir_all(world.cwd().join(".git"))?;
    world.script("pnpm", "")?;
    let user = fs::metadata(world.home())?.uid();
    let locks = format!("/tmp/pnpm-store-operation-locks-{user}");
    let existed = Path::new(&locks).exists();
    let name = format!("agent-bash-test-{}", std::process::id());
    let script = format!("echo x > {locks}/{name}; echo wrote $?");
    let ran = run_as(&world, &world.cwd(), &[], &[], &script)?;
    let result: Value = serde_json::from_str(&ran.stdout)?;
    let is_full = result["sandbox"]["enforced"] == "full";
    ensure!(text(&result).contains("wrote 0") == is_full, "{ran:?}");
    ensure!(!Path::new(&locks).join(&name).exists(), "{ran:?}");
    if !existed {
        // Fails if another program uses it since.
        let _ = fs::remove_dir(&locks);
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

/// A call may write its private caches. It must not choose by them what a later call may write.
#[test]
fn links_in_the_private_caches_lead_to_nothing_writable() -> Result<()> {
    let world = World::new()?;
    fs::create_dir_all(world.cwd().join(".git"))?;
    fs::create_dir_all(world.home().join("own"))?;
    world.script("pnpm", "")?;
    let own = world.home().join("own");
    // Replaces every entry by a link, and the directory itself if it can.
    let replace = format!(
        r#"cd "$GOCACHE/.." 2>/dev/null || cd "${{GOCACHE%/*}}"; for entry in * go-build npm; do rm -rf "$entry"; ln -s {own} "$entry"; done
           cd /; root=${{GOCACHE%/*}}; mv "$root" "$root.old"; ln -s {own} "$root"; mv "$root.mounts" "$root.gone"; true"#,
        own = own.display()
    );
    run(&world, &world.cwd(), &[], &replace)?;
    let user = fs::metadata(world.home())?.uid();
    let write = format!(
        r#"echo x > "$GOCACHE/new"; echo x > {own}/new; for d in /tmp/pnpm-*-{user}; do echo x > "$d/new"; rm -f "$d/new"; done; true"#,
        own = own.display()
    );
    let second = run(&world, &world.cwd(), &[], &write)?;
    ensure!(second["status"]["code"] == 0, "{second}");
    ensure!(fs::read_dir(&own)?.next().is_none(), "{second}");
    world.assert_nothing_left(SOON);
    Ok(())
}
