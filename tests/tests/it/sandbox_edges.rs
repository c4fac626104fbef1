//! Files that a sandboxed call leaves in its workspace decide neither the writable paths nor the
//! settings of a later call. Files that run programs outside are named.

use agent_bash_tests::poll;
use agent_bash_tests::product::{self, CommandResult};
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(60);

/// A home with a repository `repo` and a directory `victim` that no call may write.
struct Scene {
    world: World,
}

impl Scene {
    fn new() -> Result<Self> {
        let world = World::new()?;
        for name in ["repo/app", "victim"] {
            fs::create_dir_all(world.cwd().join(name))?;
        }
        let scene = Self { world };
        scene.outside("git init -q && echo a > a.txt && git add a.txt && git commit -qm a")?;
        Ok(scene)
    }

    fn repo(&self) -> PathBuf {
        self.world.cwd().join("repo")
    }

    fn victim(&self) -> PathBuf {
        self.world.cwd().join("victim")
    }

    /// A script of the user's in the repository.
    fn outside(&self, script: &str) -> Result<()> {
        let mut command = self.world.command(Path::new("bash"));
        command.args(["-c", script]).current_dir(self.repo());
        for name in ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "EMAIL"] {
            command.env(name, "user@example.invalid");
        }
        let ran = product::run(command, None)?;
        ensure!(ran.code == 0, "{script}: {ran:?}");
        Ok(())
    }

    fn command(&self, directory: &Path, words: &[&str]) -> Result<Command> {
        let mut command = self.world.command(product::agent_bash()?);
        command.args(["run", "--json", "--sandbox", "workspace_write"]);
        command.args(words).current_dir(directory);
        Ok(command)
    }

    fn call(&self, directory: &Path, words: &[&str]) -> Result<Value> {
        result(&product::run(self.command(directory, words)?, None)?)
    }

    fn is_spared(&self) -> Result<bool> {
        Ok(fs::read_dir(self.victim())?.next().is_none())
    }
}

fn result(ran: &CommandResult) -> Result<Value> {
    serde_json::from_str(&ran.stdout).with_context(|| format!("{ran:?}"))
}

/// Returns the changed files that the result names.
fn named(result: &Value) -> Vec<String> {
    let notices = result["notices"].as_array().into_iter().flatten();
    let changed = notices.filter(|notice| notice["kind"] == "protected_changed");
    let paths = changed.flat_map(|notice| notice["paths"].as_array().into_iter().flatten());
    paths
        .filter_map(|path| path.as_str().map(str::to_owned))
        .collect()
}

fn text(result: &Value) -> &str {
    result["text"].as_str().unwrap_or_default()
}

#[test]
fn directory_replaced_by_link_is_never_the_workspace() -> Result<()> {
    for directory in ["app", "app/deep"] {
        let scene = Scene::new()?;
        let start = scene.repo().join(directory);
        fs::create_dir_all(&start)?;
        fs::create_dir_all(scene.victim().join("deep"))?;
        let replace = format!(
            "cd {0} && mv app app.old && ln -s ../victim app",
            scene.repo().display()
        );
        scene.call(&start, &[&replace])?;
        ensure!(
            scene.repo().join("app").is_symlink(),
            "the call replaces it"
        );
        let write = "echo x > planted; echo x > ../planted";
        let mut by_name = scene.command(&start, &[write])?;
        by_name.env("PWD", &start);
        let mut by_place = scene.command(&start, &[write])?;
        by_place.env_remove("PWD");
        let option = start.to_string_lossy();
        let by_option = scene.command(&scene.world.home(), &["--cwd", &option, write])?;
        for command in [by_name, by_place, by_option] {
            let result = result(&product::run(command, None)?)?;
            ensure!(
                text(&result).contains("symbolic link"),
                "{directory}: {result}"
            );
            ensure!(
                result["status"]["kind"] == "not_started",
                "{directory}: {result}"
            );
        }
        for name in ["planted", "deep/planted"] {
            ensure!(!scene.victim().join(name).exists(), "{directory}: {name}");
        }
        // A link to a path outside of the victim is harmless.
        fs::remove_file(scene.repo().join("app"))?;
        symlink("app.old", scene.repo().join("app"))?;
        let result = scene.call(&start, &["echo x > made"])?;
        ensure!(result["status"]["code"] == 0, "{directory}: {result}");
    }
    Ok(())
}

#[test]
fn workspace_is_unchanged_after_a_call_removes_its_repository() -> Result<()> {
    let scene = Scene::new()?;
    let outer = scene.world.cwd().join("repo");
    let inner = outer.join("inner");
    fs::create_dir_all(inner.join("app"))?;
    // Nothing can be mounted over a link, so that it can be removed.
    fs::create_dir_all(inner.join(".store"))?;
    symlink(".store", inner.join(".git"))?;
    scene.call(&inner.join("app"), &["rm ../.git; echo x > ../made"])?;
    ensure!(!inner.join(".git").is_symlink() && inner.join("made").exists());
    scene.call(
        &inner.join("app"),
        &["echo x > ../../made; echo x > ../again"],
    )?;
    ensure!(!outer.join("made").exists() && inner.join("again").exists());
    Ok(())
}

#[test]
fn nested_writable_directory_cannot_be_replaced_by_a_link() -> Result<()> {
    let scene = Scene::new()?;
    let (outer, inner) = (
        scene.world.home().join("outer"),
        scene.world.home().join("outer/a/inner"),
    );
    fs::create_dir_all(&inner)?;
    let options = |script: &'static str| {
        let paths = [&outer, &inner].map(|path| path.to_string_lossy().into_owned());
        let [outer, inner] = paths;
        [
            "--writable".into(),
            outer,
            "--writable".into(),
            inner,
            script.to_owned(),
        ]
    };
    let call = |script| {
        let words = options(script);
        scene.call(&scene.repo(), &words.each_ref().map(String::as_str))
    };
    let made = call(
        "echo x > ~/outer/a/inner/made; mv ~/outer/a ~/outer/b; mv ~/outer/a/inner ~/outer/a/other",
    )?;
    let is_full = made["sandbox"]["enforced"] == "full";
    ensure!(inner.join("made").exists() || !is_full, "{made}");
    if inner.exists() {
        fs::rename(&inner, outer.join("old"))?;
    }
    fs::create_dir_all(outer.join("a"))?;
    symlink(scene.victim(), &inner)?;
    let refused = call("echo x > ~/outer/a/inner/planted")?;
    ensure!(text(&refused).contains("symbolic link"), "{refused}");
    ensure!(scene.is_spared()?, "{refused}");
    Ok(())
}

#[test]
fn settings_changed_by_a_call_have_no_effect() -> Result<()> {
    let scene = Scene::new()?;
    let app = scene.repo().join("app");
    let config = scene.world.home().join(".config/agent-bash");
    fs::create_dir_all(&config)?;
    fs::write(config.join("config.toml"), "[sandbox]\nnetwork = \"on\"\n")?;
    let file = app.join(".agent-bash.toml");
    let network = |directory: &Path| -> Result<String> {
        let result = scene.call(directory, &["true"])?;
        Ok(result["sandbox"]["network"]
            .as_str()
            .unwrap_or_default()
            .to_owned())
    };
    ensure!(network(&app)? == "on");
    fs::write(&file, "[sandbox]\nnetwork = \"off\"\n")?;
    for script in [
        "rm -f .agent-bash.toml",
        "cd ..; mv app old; cp -r old app; rm app/.agent-bash.toml",
        "echo '[sandbox]' > .agent-bash.toml",
        "ln -sf /dev/null .agent-bash.toml",
        "mkdir -p sub; : > ../.agent-bash.toml",
    ] {
        scene.call(&app, &[script])?;
        ensure!(network(&app)? == "off", "{script}");
    }
    // A settings file in a nearer directory, and an invalid one that would make every start fail.
    fs::create_dir_all(app.join("near"))?;
    let near = app.join("near");
    for script in [": > .agent-bash.toml", "echo nonsense > .agent-bash.toml"] {
        let result = scene.call(&near, &[script])?;
        let is_named = named(&result)
            .iter()
            .any(|path| path.ends_with("near/.agent-bash.toml"));
        ensure!(is_named, "{script}: {result}");
        ensure!(network(&near)? == "off", "{script}");
        fs::remove_file(near.join(".agent-bash.toml"))?;
    }
    // A file that the user writes is read.
    fs::write(&file, "[sandbox]\nnetwork = \"loopback\"\n")?;
    ensure!(network(&app)? == "loopback");
    Ok(())
}

/// The user's settings file may be a link into the workspace, as in a repository of dotfiles.
#[test]
fn settings_reached_through_replaced_links_have_no_effect() -> Result<()> {
    for is_directory_linked in [true, false] {
        let scene = Scene::new()?;
        let (repo, home) = (scene.repo(), scene.world.home());
        fs::create_dir_all(repo.join("dots"))?;
        fs::write(
            repo.join("dots/config.toml"),
            "[sandbox]\nnetwork = \"loopback\"\n",
        )?;
        symlink("dots", repo.join("link"))?;
        let config = home.join(".config/agent-bash");
        fs::create_dir_all(home.join(".config"))?;
        if is_directory_linked {
            symlink(repo.join("link"), &config)?;
        } else {
            fs::create_dir(&config)?;
            symlink(repo.join("link/config.toml"), config.join("config.toml"))?;
        }
        for script in [
            "mkdir other third; echo '[sandbox]' | tee other/config.toml > third/config.toml",
            "ln -sfn other link",
            "ln -sfn third link",
            "rm link",
            "mkdir link; echo '[sandbox]' > link/config.toml",
        ] {
            scene.call(&repo, &[script])?;
            let result = scene.call(&repo, &["true"])?;
            let network = &result["sandbox"]["network"];
            ensure!(network == "loopback", "{script}: {result}");
        }
        fs::write(
            repo.join("link/config.toml"),
            "[sandbox]\nnetwork = \"on\"\n",
        )?;
        let result = scene.call(&repo, &["true"])?;
        ensure!(result["sandbox"]["network"] == "on", "{result}");
    }
    Ok(())
}

#[test]
fn changed_git_programs_and_hooks_are_named() -> Result<()> {
    for (before, script, want) in [
        ("", "mv .git/HEAD .git/HEAD.old", ".git/HEAD"),
        ("", "echo nonsense > .git/HEAD", ".git/HEAD"),
        (
            "",
            "mv .git/refs .git/other; mv .git/objects .git/others",
            ".git/HEAD",
        ),
        (
            "",
            "mkdir -p objects refs; echo 'ref: refs/heads/main' > HEAD; : > config",
            "config",
        ),
        (
            "",
            "mkdir -p a/b/objects a/b/refs; echo 'ref: refs/heads/main' > a/b/HEAD; : > a/b/config",
            "a/b/config",
        ),
        ("", "git init -q lib", "lib/.git"),
        ("", "git init -q --bare lib", "lib/config"),
        (
            "",
            "mkdir lib; git init -q --separate-git-dir lib/store lib",
            "lib/.git",
        ),
        (
            "rm -rf .git",
            "mkdir src; git init -q --separate-git-dir src/.d .",
            ".git",
        ),
        (
            "git init -q lib",
            "echo '[core]' >> lib/.git/config",
            "lib/.git/config",
        ),
        (
            "git init -q lib",
            ": > lib/.git/hooks/post-checkout",
            "lib/.git/hooks/post-checkout",
        ),
        (
            "git init -q lib",
            "mv lib/.git x; echo 'gitdir: ../x' > lib/.git",
            "lib/.git",
        ),
        (
            "git init -q --bare store",
            "echo '[core]' >> store/config",
            "store/config",
        ),
        (
            "git worktree add -q side",
            "echo ../../../x > .git/worktrees/side/commondir",
            "commondir",
        ),
        (
            "git worktree add -q side",
            ": > .git/worktrees/side/config.worktree",
            "config.worktree",
        ),
        (
            "git worktree add -q side",
            "echo 'gitdir: ../x' > side/.git",
            "side/.git",
        ),
        (
            "",
            "mkdir .git/rebase-merge; echo 'exec touch x' > .git/rebase-merge/git-rebase-todo",
            "git-rebase-todo",
        ),
        (
            "",
            "mkdir .git/rebase-merge; echo x/y > .git/rebase-merge/strategy",
            "rebase-merge/strategy",
        ),
        ("", "ln -sf /outside .git/FETCH_HEAD", ".git/FETCH_HEAD"),
        (
            "",
            "mkdir -p objects refs pkg/.vscode; cp .git/HEAD .; : > pkg/.vscode/tasks.json",
            "pkg/.vscode/tasks.json",
        ),
        (
            "",
            "mkdir -p .git/modules/new/objects .git/modules/new/refs; cp .git/HEAD .git/config .git/modules/new",
            "modules/new/config",
        ),
    ] {
        let scene = Scene::new()?;
        scene.outside(before)?;
        let result = scene.call(&scene.repo(), &[script])?;
        let names = named(&result);
        ensure!(
            names.iter().any(|path| path.ends_with(want)),
            "{before}; {script}: {result}"
        );
    }
    Ok(())
}

#[test]
fn repository_named_by_a_gitfile_is_protected() -> Result<()> {
    let scene = Scene::new()?;
    scene.outside("mv .git .bare && echo 'gitdir: ./.bare' > .git && git status")?;
    let was = fs::read(scene.repo().join(".bare/config"))?;
    let script = "echo '[core]' >> .bare/config; echo x > .bare/hooks/post-checkout; echo 'gitdir: x' > .git";
    let result = scene.call(&scene.repo(), &[script])?;
    if result["sandbox"]["enforced"] == "full" {
        ensure!(
            fs::read(scene.repo().join(".bare/config"))? == was,
            "{result}"
        );
        ensure!(
            !scene.repo().join(".bare/hooks/post-checkout").exists(),
            "{result}"
        );
        ensure!(named(&result).is_empty(), "{result}");
    } else {
        ensure!(named(&result).len() > 2, "{result}");
    }
    Ok(())
}

#[test]
fn protected_names_are_reported_at_any_depth() -> Result<()> {
    let scene = Scene::new()?;
    let files = [
        "pkg/.envrc",
        "pkg/.vscode/tasks.json",
        "a/b/c/.claude/settings.json",
        "pkg/.mcp.json",
        "opencode.json",
        ".vimrc",
        ".helix/languages.toml",
        "x.code-workspace",
        "CLAUDE.md",
        "pkg/AGENTS.md",
        ".github/copilot-instructions.md",
        ".husky/pre-commit",
        "lefthook.yml",
        ".rbenv-vars",
        ".tool-versions",
        "lib/.jj/repo/config.toml",
        "pkg/.direnv/flake-profile-a.rc",
    ];
    let all = files.join(" ");
    for before in [
        format!("mkdir -p $(dirname {all}); for f in {all}; do echo old > $f; done"),
        "rm -rf *; rm -rf .[a-f]* .[h-z]*".to_owned(),
    ] {
        scene.outside(&before)?;
        let script = format!(
            "mkdir -p $(dirname {all}); for f in {all}; do echo changed > $f; done 2> /dev/null; true"
        );
        let result = scene.call(&scene.repo(), &[&script])?;
        let names = named(&result);
        for file in files {
            let path = scene.repo().join(file);
            let is_changed = fs::read_to_string(&path).is_ok_and(|text| text == "changed\n");
            let is_named = names
                .iter()
                .any(|name| path.starts_with(name) || Path::new(name) == path);
            ensure!(!is_changed || is_named, "{before}: {file}: {result}");
        }
    }
    let removed = scene.call(&scene.repo(), &["rm -r pkg"])?;
    ensure!(
        named(&removed)
            .iter()
            .any(|path| path.ends_with("pkg/.envrc")),
        "{removed}"
    );
    for script in [
        "git -c user.name=n -c user.email=e commit -q --allow-empty -m b; git switch -qc other; git switch -q -",
        "mkdir -p src/deep node_modules/x/.vscode; echo x > src/deep/file; echo x > node_modules/x/.vscode/a",
        "git worktree add -q side; git worktree remove side",
        "git worktree add -q kept",
        "echo x >> a.txt; git stash -q; git stash pop -q; git gc -q",
        "cat pkg/AGENTS.md CLAUDE.md; ls -la .git/hooks",
    ] {
        let result = scene.call(&scene.repo(), &[script])?;
        ensure!(named(&result).is_empty(), "{script}: {result}");
    }
    Ok(())
}

#[test]
fn another_writable_directory_is_protected_like_the_workspace() -> Result<()> {
    let scene = Scene::new()?;
    let other = scene.world.home().join("other");
    for name in [".git/hooks", ".vscode", "sub"] {
        fs::create_dir_all(other.join(name))?;
    }
    for name in [".git/config", ".vscode/tasks.json"] {
        fs::write(other.join(name), "old\n")?;
    }
    let option = other.to_string_lossy();
    let script = "cd ~/other && for f in .git/config .git/hooks/x .vscode/tasks.json sub/.envrc .mcp.json; do echo changed > $f; done; true";
    let result = scene.call(&scene.repo(), &["--writable", &option, script])?;
    let names = named(&result);
    for file in [
        ".git/config", ".git/hooks/x", ".vscode/tasks.json", "sub/.envrc", ".mcp.json",
    ] {
        let path = other.join(file);
        let is_changed = fs::read_to_string(&path).is_ok_and(|text| text == "changed\n");
        let is_named = names.iter().any(|name| path.starts_with(name));
        ensure!(!is_changed || is_named, "{file}: {result}");
        let is_new = ["sub/.envrc", ".mcp.json"].contains(&file);
        ensure!(
            is_changed == is_new || result["sandbox"]["enforced"] != "full",
            "{file}: {result}"
        );
    }
    Ok(())
}

/// A mount protects a name. A call can write the file by another name, if the user has made one.
#[test]
fn protected_file_written_by_another_hard_link_is_named_and_settings_stay() -> Result<()> {
    let scene = Scene::new()?;
    let repo = scene.repo();
    fs::write(scene.victim().join("secret"), "CANARY\n")?;
    let secret = scene.victim().join("secret").display().to_string();
    let settings = format!("[sandbox]\nhidden = [\"{secret}\"]\n");
    fs::write(repo.join(".agent-bash.toml"), settings)?;
    fs::create_dir(repo.join(".vscode"))?;
    fs::write(repo.join(".vscode/tasks.json"), "{}\n")?;
    fs::create_dir(repo.join("copies"))?;
    for (file, copy) in [
        (".agent-bash.toml", "settings"),
        (".vscode/tasks.json", "tasks"),
        (".git/config", "config"),
    ] {
        fs::hard_link(repo.join(file), repo.join("copies").join(copy))?;
    }
    let read = format!("cat {secret}");
    ensure!(!text(&scene.call(&repo, &[&read])?).contains("CANARY"));
    let write = "for file in copies/*; do echo '# x' >> $file; done; : > copies/settings";
    let mut named = named(&scene.call(&repo, &[write])?);
    named.sort();
    for file in [".agent-bash.toml", ".git/config", ".vscode"] {
        let file = repo.join(file);
        let is_named = named.iter().any(|path| Path::new(path).starts_with(&file));
        ensure!(is_named, "{}: {named:?}", file.display());
    }
    ensure!(fs::read(repo.join(".agent-bash.toml"))?.is_empty());
    ensure!(!text(&scene.call(&repo, &[&read])?).contains("CANARY"));
    // A call that changes no such file names none.
    let ended = scene.call(&repo, &["echo 1 > other"])?;
    ensure!(crate::sandbox_edges::named(&ended).is_empty(), "{ended}");
    Ok(())
}

/// A start file that runs a file of the project, as with `. .venv/bin/activate`: a sandboxed call
/// may have written that file.
#[test]
fn start_file_of_a_server_changes_nothing_outside() -> Result<()> {
    for (level, is_confined) in [("workspace_write", true), ("off", false)] {
        let scene = Scene::new()?;
        fs::write(scene.world.home().join(".bashrc"), ". ./set-up.sh\n")?;
        let (out, token) = (
            scene.victim().join("out"),
            scene.world.home().join(".netrc"),
        );
        fs::write(&token, "of-netrc\n")?;
        let planted = format!(
            "echo x > {}; shown() {{ echo \"shown $SHOWN\"; }}; export SHOWN=$(cat {})",
            out.display(),
            token.display()
        );
        fs::write(scene.repo().join("set-up.sh"), planted)?;
        let mut command = scene.world.command(product::agent_bash()?);
        command.arg("rpc").current_dir(scene.repo());
        command.env("AGENT_BASH_SANDBOX_LEVEL", level);
        let mut server = ServerClient::start(command)?;
        // On a slow machine, the first calls run before the file has been read.
        let text = poll::until(SOON, || {
            let call = json!({"id": server.new_id(), "type": "tool_call", "request": "shown"});
            server.send(&call).ok()?;
            let answer = server.next(SOON).ok()?;
            let text = answer["data"]["text"].as_str()?.to_owned();
            text.starts_with("shown ").then_some(text)
        });
        let text = text.context("the file was not read")?;
        ensure!(text.contains("of-netrc") != is_confined, "{level}: {text}");
        ensure!(out.exists() != is_confined, "{level}");
        ensure!(server.end()?.status.success(), "its end");
        scene.world.assert_nothing_left(SOON);
    }
    Ok(())
}

#[test]
fn settings_of_a_project_count_after_a_call_has_moved_its_directory() -> Result<()> {
    let scene = Scene::new()?;
    let settings = "[sandbox]\nlevel = \"read_only\"\n";
    fs::write(scene.repo().join("app/.agent-bash.toml"), settings)?;
    let create = "mkdir other; (cat */.agent-bash.toml; echo '# x') > other/.agent-bash.toml";
    scene.call(&scene.repo(), &[&format!("mv app moved; {create}")])?;
    for (directory, level) in [("moved", json!("read_only")), ("other", Value::Null)] {
        let mut command = scene.world.command(product::agent_bash()?);
        command.args(["run", "--json", "true"]);
        command.current_dir(scene.repo().join(directory));
        let ended = result(&product::run(command, None)?)?;
        ensure!(ended["sandbox"]["level"] == level, "{ended}");
    }
    Ok(())
}
