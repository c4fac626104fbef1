//! Compares the numbers of system calls with the kernel's headers, for x86-64 and aarch64 and for
//! their 32-bit programs. Nothing is run on these processors.
//!
//! A filter with a wrong number lets the call that it means pass. On one processor, tests notice
//! this; the numbers of the others are compared as data. They come from the crate `libc` (for each
//! name that the sources use), from constants of our own, and from the table of 32-bit calls.

use crate::layers::metadata_command;
use crate::source_rules::crate_sources;
use crate::{Tree, say};
use anyhow::{Context, Result, bail, ensure};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use xshell::cmd;

/// The crates whose sources name system calls.
const CRATES: [&str; 3] = ["crates/notify/", "crates/process/", "crates/sandbox/"];

/// The table of 32-bit calls.
const TABLE_32_BIT: &str = "crates/sandbox/src/trace/table.rs";

/// Fewer rows or names than these mean that the sources were not understood.
const MIN_NAMES: usize = 60;
const MIN_ROWS_32_BIT: usize = 20;

/// The headers of one architecture.
struct Headers {
    architecture: &'static str,
    /// The directory below the root of a system.
    directory: &'static str,
    header: &'static str,
    /// The Debian package.
    package: &'static str,
    source: NumberSource,
}

/// Where our numbers of an architecture come from.
enum NumberSource {
    /// The files of the crate `libc` below `src/unix/linux_like/linux`, by C library.
    Libc(&'static [(&'static str, &'static [&'static str])]),
    /// The columns of the table of 32-bit calls.
    TableX86,
    TableArm,
}

const X86_64: Headers = Headers {
    architecture: "x86-64",
    directory: "usr/include/x86_64-linux-gnu",
    header: "asm/unistd_64.h",
    package: "linux-libc-dev (on amd64)",
    source: NumberSource::Libc(&[
        ("glibc", &["gnu/b64/x86_64/not_x32.rs"]),
        ("musl", &["musl/b64/x86_64/mod.rs"]),
    ]),
};
const AARCH64: Headers = Headers {
    architecture: "aarch64",
    directory: "usr/aarch64-linux-gnu/include",
    header: "asm/unistd.h",
    package: "linux-libc-dev-arm64-cross",
    source: NumberSource::Libc(&[
        (
            "glibc",
            &["gnu/b64/aarch64/mod.rs", "gnu/b64/aarch64/lp64.rs"],
        ),
        ("musl", &["musl/b64/aarch64/mod.rs"]),
    ]),
};
const X86: Headers = Headers {
    architecture: "x86",
    header: "asm/unistd_32.h",
    source: NumberSource::TableX86,
    ..X86_64
};
const ARM: Headers = Headers {
    architecture: "32-bit ARM",
    directory: "usr/arm-linux-gnueabihf/include",
    header: "asm/unistd.h",
    package: "linux-libc-dev-armhf-cross",
    source: NumberSource::TableArm,
};

/// The numbers of one source, by the name of the call.
type Numbers = BTreeMap<String, i64>;

/// `cargo xtask system-calls [ROOT]`: the headers are below `/`, or the root of another system.
pub(crate) fn command(tree: &Tree, arguments: &[String]) -> Result<()> {
    match arguments {
        [] => compare(tree, Path::new("/")),
        [root] => compare(tree, Path::new(root)),
        _ => bail!("usage: cargo xtask system-calls [ROOT]"),
    }
}

/// The step of the suite.
pub(crate) fn check_tree(tree: &Tree) -> Result<()> {
    compare(tree, Path::new("/"))
}

fn compare(tree: &Tree, root: &Path) -> Result<()> {
    let used = UsedCalls::read(tree)?;
    let libc = libc_sources(tree)?;
    for headers in [X86_64, AARCH64, X86, ARM] {
        if !root.join(headers.directory).join(headers.header).exists() {
            let (name, package) = (headers.architecture, headers.package);
            say(&format!(
                "   left out: {name}: the package {package} is missing"
            ));
            continue;
        }
        let sources = match &headers.source {
            NumberSource::TableX86 => vec![("our table", used.on_x86.clone())],
            NumberSource::TableArm => vec![("our table", used.on_arm.clone())],
            NumberSource::Libc(libraries) => libraries
                .iter()
                .map(|(library, files)| Ok((*library, used.native_numbers(&libc, files)?)))
                .collect::<Result<_>>()?,
        };
        for (source, numbers) in sources {
            let expected = header_numbers(tree, root, &headers, &numbers)?;
            let report = differences(&numbers, &expected);
            let name = format!("{}, {source}", headers.architecture);
            say(&format!("   {name}: {} numbers are equal", report.equal));
            if !report.unknown.is_empty() {
                let calls = report.unknown.join(", ");
                say(&format!("   {name}: newer than the headers: {calls}"));
            }
            ensure!(
                report.wrong.is_empty(),
                "{name}: other numbers than in {}: {}",
                headers.header,
                report.wrong.join(", ")
            );
        }
    }
    Ok(())
}

/// The system calls that the sources name.
#[derive(Debug, Default)]
struct UsedCalls {
    /// Names whose numbers come from `libc`.
    names: BTreeSet<String>,
    /// Constants of our own, with one number on all architectures.
    constants: Numbers,
    /// The columns of the table of 32-bit calls.
    on_x86: Numbers,
    on_arm: Numbers,
}

impl UsedCalls {
    fn read(tree: &Tree) -> Result<Self> {
        let mut used = Self::default();
        for (path, source) in crate_sources(tree)? {
            if CRATES.iter().any(|directory| path.starts_with(directory)) {
                used.add(&source)?;
            }
        }
        let table = fs::read_to_string(tree.root.join(TABLE_32_BIT))?;
        used.add_table_32_bit(&table)?;
        ensure!(
            used.names.len() >= MIN_NAMES,
            "the sources name {} calls",
            used.names.len()
        );
        let rows = used.on_x86.len();
        ensure!(
            rows >= MIN_ROWS_32_BIT,
            "{TABLE_32_BIT} has {rows} rows of 32-bit calls"
        );
        Ok(used)
    }

    fn add(&mut self, source: &str) -> Result<()> {
        let name = Regex::new(r"\blibc::SYS_(\w+)")?;
        for found in name.captures_iter(source) {
            self.names.insert(found[1].to_owned());
        }
        let constant = Regex::new(r"const SYS_(\w+): i64 = (\d+);")?;
        for found in constant.captures_iter(source) {
            self.constants
                .insert(found[1].to_lowercase(), found[2].parse()?);
        }
        Ok(())
    }

    fn add_table_32_bit(&mut self, source: &str) -> Result<()> {
        let row = Regex::new(r#"\("(\w+)", (\d+), (\d+)\)"#)?;
        for found in row.captures_iter(source) {
            self.on_x86.insert(found[1].to_owned(), found[2].parse()?);
            self.on_arm.insert(found[1].to_owned(), found[3].parse()?);
        }
        Ok(())
    }

    /// Returns the numbers in files of the crate `libc` for the used names, and the constants. The
    /// files lack calls that their architecture lacks.
    fn native_numbers(&self, directory: &Path, files: &[&str]) -> Result<Numbers> {
        let constant = Regex::new(r"(?m)^\s*pub const SYS_(\w+): (?:crate::)?c_long = (\d+);")?;
        let mut numbers = self.constants.clone();
        for file in files {
            let file = directory.join(file);
            let source =
                fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
            for found in constant.captures_iter(&source) {
                if self.names.contains(&found[1]) {
                    numbers.insert(found[1].to_owned(), found[2].parse()?);
                }
            }
        }
        let count = numbers.len();
        ensure!(count >= MIN_NAMES, "{files:?} have {count} of the calls");
        Ok(numbers)
    }
}

/// The result of a comparison.
#[derive(Debug, Default, PartialEq, Eq)]
struct Report {
    equal: usize,
    unknown: Vec<String>,
    wrong: Vec<String>,
}

fn differences(numbers: &Numbers, expected: &Numbers) -> Report {
    let mut report = Report::default();
    for (name, number) in numbers {
        match expected.get(name) {
            Some(expected) if expected == number => report.equal += 1,
            Some(expected) => report
                .wrong
                .push(format!("{name} is {expected}, not {number}")),
            None => report.unknown.push(name.clone()),
        }
    }
    report
}

/// Returns the numbers of the headers. The C preprocessor expands a line for each name.
fn header_numbers(tree: &Tree, root: &Path, headers: &Headers, names: &Numbers) -> Result<Numbers> {
    let directory = root.join(headers.directory);
    // The generic headers of Debian's native package are one level higher.
    let generic = root.join("usr/include");
    let mut lines = format!("#define __ARM_EABI__ 1\n#include <{}>\n", headers.header);
    for name in names.keys() {
        let _ = writeln!(lines, "@ {name} @ __NR_{name}");
    }
    let expanded = cmd!(
        tree.shell,
        "cc -E -P -nostdinc -isystem {directory} -isystem {generic} -x c -"
    );
    let expanded = expanded.quiet().stdin(lines).read()?;
    let line = Regex::new(r"@ ?(\w+) ?@ ?([\d()+ ]+)$")?;
    let digits = Regex::new(r"\d+")?;
    let mut numbers = Numbers::new();
    for found in expanded.lines().filter_map(|text| line.captures(text)) {
        let terms = digits
            .find_iter(&found[2])
            .map(|term| term.as_str().parse::<i64>());
        numbers.insert(found[1].to_owned(), terms.sum::<Result<i64, _>>()?);
    }
    Ok(numbers)
}

/// Returns the directory of the files for Linux in the sources of `libc`.
fn libc_sources(tree: &Tree) -> Result<PathBuf> {
    let metadata = metadata_command(tree).exec()?;
    let package = metadata
        .packages
        .iter()
        .find(|package| package.name.as_str() == "libc");
    let manifest = &package.context("the crate libc is missing")?.manifest_path;
    let directory = manifest.parent().context("a manifest is in a directory")?;
    Ok(directory
        .join("src/unix/linux_like/linux")
        .into_std_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(rows: &[(&str, i64)]) -> Numbers {
        let rows = rows
            .iter()
            .map(|(name, number)| ((*name).to_owned(), *number));
        rows.collect()
    }

    #[test]
    fn wrong_and_unknown_numbers_are_reported() {
        let expected = numbers(&[("openat", 56), ("read", 63)]);
        let report = differences(
            &numbers(&[("openat", 257), ("read", 63), ("new", 469)]),
            &expected,
        );
        assert_eq!(report.equal, 1);
        assert_eq!(report.wrong, ["openat is 56, not 257"]);
        assert_eq!(report.unknown, ["new"]);
    }

    #[test]
    fn sources_are_understood() {
        let mut used = UsedCalls::default();
        used.add("rule(nix::libc::SYS_fcntl, x);\nconst SYS_FCHMODAT2: i64 = 452;")
            .unwrap();
        used.add_table_32_bit("    (\"openat\", 295, 322),")
            .unwrap();
        assert_eq!(used.names, ["fcntl".to_owned()].into());
        assert_eq!(used.constants, numbers(&[("fchmodat2", 452)]));
        assert_eq!(used.on_x86, numbers(&[("openat", 295)]));
        assert_eq!(used.on_arm, numbers(&[("openat", 322)]));
    }

    #[test]
    fn numbers_of_a_system_are_sums_and_aliases_of_its_headers() {
        let root = tempfile::tempdir().unwrap();
        let asm = root.path().join("usr/arm-linux-gnueabihf/include/asm");
        fs::create_dir_all(&asm).unwrap();
        let text = "#define BASE 5\n#define __NR_open (BASE + 5)\n#define __NR_of_open __NR_open\n";
        fs::write(asm.join("unistd.h"), text).unwrap();
        let tree = Tree::open().unwrap();
        let names = numbers(&[("open", 0), ("of_open", 0), ("absent", 0)]);
        let found = header_numbers(&tree, root.path(), &ARM, &names).unwrap();
        assert_eq!(found, numbers(&[("open", 10), ("of_open", 10)]));
    }
}
