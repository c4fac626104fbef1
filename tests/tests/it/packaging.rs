//! The files of `packaging/`: they have the version of the product and one address, and the
//! installer accepts a good archive and refuses others.

use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::extract::Path as UrlPath;
use axum::http::StatusCode;
use axum::routing::get;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The address until there is a release: no such domain can exist.
const ADDRESS: &str = "https://example.invalid/agent-bash";

/// The files that name the address, each with a text that has the version in place of `*`.
const FILES: [(&str, &str); 7] = [
    ("packaging/install.sh", "version=${AGENT_BASH_VERSION:-*}"),
    ("packaging/action.yml", "default: \"*\""),
    ("packaging/Containerfile", "image.version=\"*\" \\"),
    ("packaging/homebrew/agent-bash.rb", "version \"*\""),
    ("packaging/nix/flake.nix", "version = \"*\";"),
    (
        "packaging/devcontainer/src/agent-bash/devcontainer-feature.json",
        "\"version\": \"*\",",
    ),
    (
        "packaging/devcontainer/src/agent-bash/devcontainer-feature.json",
        "\"default\": \"*\",",
    ),
];

#[test]
fn packaging_files_have_the_version_of_the_product() -> Result<()> {
    for (file, pattern) in FILES {
        let text = fs::read_to_string(Path::new(ROOT).join(file)).context(file)?;
        let expected = pattern.replace('*', VERSION);
        ensure!(text.contains(&expected), "{file} has no `{expected}`");
    }
    Ok(())
}

#[test]
fn packaging_files_share_one_address() -> Result<()> {
    let files = FILES.iter().map(|(file, _)| *file);
    for file in files.chain(["Cargo.toml", "crates/cli/Cargo.toml"]) {
        let text = fs::read_to_string(Path::new(ROOT).join(file)).context(file)?;
        let addresses = text.matches("https://").count();
        assert_eq!(text.matches(ADDRESS).count(), addresses, "{file}");
    }
    Ok(())
}

/// An archive as `cargo xtask dist` makes it. Its program prints `version` and the arguments.
fn archive(world: &World, version: &str) -> Result<Vec<u8>> {
    let root = world.temp();
    fs::create_dir_all(root.join("package/bin"))?;
    let program = root.join("package/bin/agent-bash");
    fs::write(&program, format!("#!/bin/sh\necho {version} $*\n"))?;
    let mut command = world.command("sh");
    command.args(["-c", "chmod +x \"$0\" && tar -czf - package"]);
    let packed = command.arg(&program).current_dir(&root).output()?;
    ensure!(packed.status.success(), "{packed:?}");
    Ok(packed.stdout)
}

fn digest(world: &World, bytes: &[u8]) -> Result<String> {
    let file = world.temp().join("digested");
    fs::write(&file, bytes)?;
    let printed = world.command("sha256sum").arg(&file).output()?;
    let printed = String::from_utf8(printed.stdout)?;
    Ok(printed.split(' ').next().unwrap_or_default().to_owned())
}

/// Serves `files` on loopback until the runtime ends; returns the address.
async fn serve(files: HashMap<String, Vec<u8>>) -> Result<String> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let answer = move |UrlPath(path): UrlPath<String>| {
        let file = files.get(&path).cloned();
        async move { file.ok_or(StatusCode::NOT_FOUND) }
    };
    let router = Router::new().route("/{*path}", get(answer));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(format!("http://{address}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn packaging_installer_refuses_a_corrupt_archive_and_keeps_the_installed_program()
-> Result<()> {
    let world = World::new()?;
    let processor = match std::env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "x64",
    };
    let name = format!("agent-bash-linux-{processor}-{VERSION}.tgz");
    let good = archive(&world, "good program")?;
    let corrupt = archive(&world, "corrupt program")?;
    let listed = format!("{}  {name}\n", digest(&world, &good)?).into_bytes();
    let url = serve(HashMap::from([
        ("good/SHA256SUMS".to_owned(), listed.clone()),
        (format!("good/{name}"), good.clone()),
        ("corrupt/SHA256SUMS".to_owned(), listed.clone()),
        (format!("corrupt/{name}"), corrupt),
        ("cut/SHA256SUMS".to_owned(), listed.clone()),
        (format!("cut/{name}"), good[..good.len() / 2].to_vec()),
        ("missing/SHA256SUMS".to_owned(), listed),
        ("unlisted/SHA256SUMS".to_owned(), Vec::new()),
        (format!("unlisted/{name}"), good),
    ]))
    .await?;

    let install = |directory: &str, arguments: &[&str]| {
        let mut command = world.command("sh");
        command
            .arg(Path::new(ROOT).join("packaging/install.sh"))
            .args(arguments)
            .env("AGENT_BASH_URL", format!("{url}/{directory}"));
        product::run(command, None)
    };
    let bin = world.home().join(".local/bin");
    for (directory, code, reason) in [
        ("good", 0, ""),
        ("corrupt", 1, "has the SHA-256 digest"),
        ("cut", 1, "has the SHA-256 digest"),
        ("missing", 1, "cannot download"),
        ("unlisted", 1, "does not list"),
    ] {
        let ran = install(directory, &[])?;
        assert_eq!(ran.code, code, "{directory}: {}{}", ran.stdout, ran.stderr);
        ensure!(ran.stderr.contains(reason), "{directory}: {}", ran.stderr);
        let files: Vec<_> = fs::read_dir(&bin)?
            .map(|entry| Ok(entry?.file_name()))
            .collect::<Result<_>>()?;
        assert_eq!(files, ["agent-bash"], "{directory}");
        let program = fs::read_to_string(bin.join("agent-bash"))?;
        ensure!(program.contains("good program"), "{directory}: {program}");
    }
    // While an agent still needs the program, it stays.
    let program = bin.join("agent-bash");
    let good = fs::read(&program)?;
    fs::write(&program, "#!/bin/sh\n[ \"$1\" = --version ]\n")?;
    let ran = install("good", &["--uninstall"])?;
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    ensure!(ran.stderr.contains("not removed: "), "{}", ran.stderr);
    fs::write(&program, good)?;
    let ran = install("good", &["--uninstall"])?;
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    // The agents' settings are restored first.
    let undone = ran.stdout.contains("good program setup --undo --yes\n");
    ensure!(undone, "{}", ran.stdout);
    assert_eq!(fs::read_dir(&bin)?.count(), 0);
    Ok(())
}
