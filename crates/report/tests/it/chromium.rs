//! Chromium, if it is installed: a page after its scripts have run, and on paper.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test starts a browser, says where there is none, and stops if it fails"
)]

use std::path::Path;
use std::process::{Command, Output};

/// The page as markup in a window of a usual size; `None` without Chromium.
pub(crate) fn in_chromium(html: &str) -> Option<String> {
    in_window(html, "1280,800")
}

/// The page as markup in a window of this size; `None` without Chromium.
pub(crate) fn in_window(html: &str, size: &str) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    let size = format!("--window-size={size}");
    let output = run(
        dir.path(),
        html,
        &[&size, "--virtual-time-budget=2000", "--dump-dom"],
    )?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The number of printed sheets.
pub(crate) fn sheets(html: &str) -> Option<usize> {
    let dir = tempfile::tempdir().unwrap();
    let pdf = dir.path().join("page.pdf");
    run(
        dir.path(),
        html,
        &[&format!("--print-to-pdf={}", pdf.display())],
    )?;
    let pdf = std::fs::read(pdf).unwrap();
    let text = String::from_utf8_lossy(&pdf);
    Some(text.matches("/Type /Page").count() - text.matches("/Type /Pages").count())
}

fn run(dir: &Path, html: &str, args: &[&str]) -> Option<Output> {
    let file = dir.join("page.html");
    std::fs::write(&file, html).unwrap();
    let ran = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu"])
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .args(args)
        .arg(format!("file://{}", file.display()))
        .output();
    if ran.is_err() {
        eprintln!("not tested: there is no chromium on this machine");
    }
    ran.ok()
}

/// The page with a script of the test, which the page's policy would not let run.
pub(crate) fn with_script(html: &str, script: &str) -> String {
    let open = html.replacen("http-equiv=\"Content-Security-Policy\"", "", 1);
    open.replacen("</body>", &format!("<script>{script}</script></body>"), 1)
}
