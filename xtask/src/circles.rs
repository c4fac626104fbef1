//! Finds source files of a crate that import each other in a circle, and modules of its root.
//! Without circles a file can be read, moved and tested with the files below it and without those
//! above.
//!
//! An arrow runs from a file that uses a name to the file that defines the name; re-exports are
//! followed to the definition. Only `use` items and paths outside of tests are read, not method
//! calls or the contents of macros.

use crate::Tree;
use crate::source_rules::crate_sources;
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use syn::visit::{self, Visit};
use syn::{Item, Meta, UseTree, Visibility};

/// Returns a sentence for each circle of the checkout; a part of `cargo xtask layers`.
pub(crate) fn faults_of(tree: &Tree) -> Result<Vec<String>> {
    faults(&crate_sources(tree)?)
}

/// Returns a sentence for each circle. `sources` are texts by path.
fn faults(sources: &BTreeMap<String, String>) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for root in sources.keys().filter(|path| is_root(path)) {
        let modules = CrateModules::read(root, sources)?;
        let arrows = modules.arrows();
        for (kind, arrows) in [("modules", between_modules(&arrows)), ("files", arrows)] {
            let circles = circles(&arrows);
            let descriptions = circles.iter().map(|it| description(kind, it, &arrows));
            faults.extend(descriptions);
        }
    }
    Ok(faults)
}

/// Returns the arrows between the modules of a crate's root, each with all files below it.
fn between_modules<'h>(arrows: &Arrows<'h>) -> Arrows<'h> {
    let mut between = Arrows::new();
    for ((from, to), names) in arrows {
        let (from, to) = (root_module(from), root_module(to));
        if from != to {
            let all = between.entry((from, to)).or_default();
            all.extend(names.iter().cloned());
        }
    }
    between
}

/// Returns the path of a file's module in the crate's root, without `.rs`.
fn root_module(file: &str) -> &str {
    let folder = file.find("/src/").map_or(0, |at| at + "/src/".len());
    let end = file[folder..].find(['/', '.']);
    end.map_or(file, |end| &file[..folder + end])
}

fn description(kind: &str, circle: &[&str], arrows: &Arrows<'_>) -> String {
    let mut text = format!("{} {kind} import each other in a circle:", circle.len());
    for ((from, to), names) in arrows {
        if circle.contains(from) && circle.contains(to) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            // Writing to a String cannot fail.
            let _ = write!(text, "\n    {from} -> {to}: {}", names.join(", "));
        }
    }
    text
}

/// Arrows from file to file, with the imported names.
type Arrows<'h> = BTreeMap<(&'h str, &'h str), BTreeSet<String>>;

/// Returns the sets of files that import each other in a circle, each sorted.
fn circles<'h>(arrows: &Arrows<'h>) -> BTreeSet<Vec<&'h str>> {
    let reached = |from: &'h str| {
        let (mut reached, mut pending) = (BTreeSet::new(), vec![from]);
        while let Some(file) = pending.pop() {
            let next = arrows.keys().filter(|(start, _)| *start == file);
            pending.extend(next.map(|(_, end)| *end).filter(|end| reached.insert(*end)));
        }
        reached
    };
    let starts: BTreeSet<&str> = arrows.keys().map(|(from, _)| *from).collect();
    let reached_from: BTreeMap<&str, BTreeSet<&str>> =
        starts.iter().map(|file| (*file, reached(file))).collect();
    let circle = |from: &&str| {
        let back = |to: &&&str| {
            reached_from
                .get(**to)
                .is_some_and(|back| back.contains(from))
        };
        reached_from[from]
            .iter()
            .filter(back)
            .copied()
            .collect::<Vec<_>>()
    };
    starts
        .iter()
        .map(circle)
        .filter(|files| !files.is_empty())
        .collect()
}

/// Maximum number of re-exports that lead to a definition.
const MAX_REEXPORTS: usize = 16;

/// A path of names from a crate's root.
type Names = Vec<String>;

/// The modules of one crate, by their path from the root.
struct CrateModules(BTreeMap<Names, Module>);

/// A module with its own file.
#[derive(Default)]
struct Module {
    file: String,
    /// Items and modules inside the file.
    defined: BTreeSet<String>,
    /// The names that `use` items import, each with its path.
    imported: BTreeMap<String, Names>,
    /// Modules imported by `*`.
    globs: Vec<Names>,
    /// Every used path, except in re-exports.
    used_paths: BTreeSet<Names>,
    /// The child modules, each with its own file.
    children: Vec<String>,
}

impl CrateModules {
    /// Reads a crate, starting at its root file. Skips modules that are compiled for tests only.
    fn read(root: &str, sources: &BTreeMap<String, String>) -> Result<Self> {
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut modules = BTreeMap::new();
        let mut pending = vec![(Names::new(), root.to_owned())];
        while let Some((path, file)) = pending.pop() {
            let text = sources
                .get(&file)
                .with_context(|| format!("{file} is not there"))?;
            let mut reader = FileReader {
                path: path.clone(),
                module: Module {
                    file: file.clone(),
                    ..Module::default()
                },
                inline_depth: 0,
            };
            reader.visit_file(&syn::parse_file(text).context(file)?);
            for child in &reader.module.children {
                let child = joined(&path, [child.clone()]);
                let file = format!("{folder}/{}.rs", child.join("/"));
                pending.push((child, file));
            }
            modules.insert(path, reader.module);
        }
        Ok(Self(modules))
    }

    fn arrows(&self) -> Arrows<'_> {
        let mut arrows = Arrows::new();
        for module in self.0.values() {
            for path in &module.used_paths {
                let definer = self.definer(path, 0).filter(|file| *file != module.file);
                if let (Some(file), Some(name)) = (definer, path.last()) {
                    let names = arrows.entry((module.file.as_str(), file)).or_default();
                    names.insert(name.clone());
                }
            }
        }
        arrows
    }

    /// Returns the file that defines the name at the end of a path; `None` for modules and other
    /// crates.
    fn definer(&self, path: &[String], hops: usize) -> Option<&str> {
        let known = |length: &usize| self.0.contains_key(&path[..*length]);
        let length = (0..=path.len()).rev().find(known)?;
        let (module, rest) = (&self.0[&path[..length]], &path[length..]);
        let name = rest.first()?;
        if module.defined.contains(name) || name == "*" {
            return Some(&module.file);
        }
        // The limit ends circular re-exports, which define nothing.
        let hops = (hops < MAX_REEXPORTS).then_some(hops + 1)?;
        if let Some(imported) = module.imported.get(name) {
            return self.definer(&joined(imported, rest[1..].to_vec()), hops);
        }
        let mut globs = module.globs.iter();
        globs.find_map(|glob| self.definer(&joined(glob, rest.to_vec()), hops))
    }
}

fn joined(path: &[String], rest: impl IntoIterator<Item = String>) -> Names {
    path.iter().cloned().chain(rest).collect()
}

/// The state of reading one file.
struct FileReader {
    /// The path of the file's module.
    path: Names,
    module: Module,
    /// The number of inline modules around the current item.
    inline_depth: usize,
}

impl FileReader {
    /// Resolves a written path to the path from the crate's root.
    fn full_path(&self, written: &[String]) -> Names {
        let mut inline_depth = self.inline_depth;
        let mut path = self.path.clone();
        let mut rest = written;
        while let [first, following @ ..] = rest {
            match first.as_str() {
                "crate" => path.clear(),
                "self" => {}
                // `super` inside an inline module stays in this file.
                "super" if inline_depth > 0 => inline_depth -= 1,
                "super" => drop(path.pop()),
                _ => break,
            }
            rest = following;
        }
        joined(&path, rest.to_vec())
    }

    /// Records the paths that a `use` tree imports. `before` is the path in front of the tree.
    fn bind(&mut self, tree: &UseTree, before: &[String], is_reexport: bool) {
        let (imported, name) = match tree {
            UseTree::Path(path) => {
                let before = joined(before, [path.ident.to_string()]);
                return self.bind(&path.tree, &before, is_reexport);
            }
            UseTree::Group(group) => {
                let all = group.items.iter();
                return all.for_each(|tree| self.bind(tree, before, is_reexport));
            }
            UseTree::Glob(_) => (None, "*".to_owned()),
            UseTree::Name(name) if name.ident == "self" => {
                (before.last().cloned(), "self".to_owned())
            }
            UseTree::Name(name) => (Some(name.ident.to_string()), name.ident.to_string()),
            UseTree::Rename(rename) => (Some(rename.rename.to_string()), rename.ident.to_string()),
        };
        let written = if name == "self" {
            before.to_vec()
        } else {
            joined(before, [name])
        };
        let path = self.full_path(&written);
        match imported {
            Some(imported) => drop(self.module.imported.insert(imported, path.clone())),
            None => self.module.globs.push(path[..path.len() - 1].to_vec()),
        }
        if !is_reexport {
            self.module.used_paths.insert(path);
        }
    }
}

impl<'ast> Visit<'ast> for FileReader {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = match item {
            Item::Const(item) => (&item.attrs, Some(&item.ident)),
            Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
            Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
            Item::Static(item) => (&item.attrs, Some(&item.ident)),
            Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            Item::Type(item) => (&item.attrs, Some(&item.ident)),
            Item::Union(item) => (&item.attrs, Some(&item.ident)),
            Item::Mod(item) => (&item.attrs, item.content.as_ref().map(|_| &item.ident)),
            Item::Impl(item) => (&item.attrs, None),
            Item::Use(item) => (&item.attrs, None),
            _ => return,
        };
        let for_tests = |meta: &Meta| {
            let list = meta
                .require_list()
                .ok()
                .filter(|list| list.path.is_ident("cfg"));
            let condition = list.map(|list| list.tokens.to_string());
            condition.is_some_and(|text| text == "test" || text.starts_with("all (test ,"))
        };
        if attributes
            .iter()
            .any(|attribute| for_tests(&attribute.meta))
        {
            return;
        }
        self.module.defined.extend(name.map(ToString::to_string));
        match item {
            Item::Use(item) => {
                self.bind(&item.tree, &[], !matches!(item.vis, Visibility::Inherited));
            }
            Item::Mod(item) if item.content.is_none() => {
                self.module.children.push(item.ident.to_string());
            }
            Item::Mod(_) => {
                self.inline_depth += 1;
                visit::visit_item(self, item);
                self.inline_depth -= 1;
            }
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string());
        let full = self.full_path(&names.collect::<Vec<_>>());
        self.module.used_paths.insert(full);
        visit::visit_path(self, path);
    }
}

/// True if this file is the root of a crate.
fn is_root(path: &str) -> bool {
    path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_between(kind: &str, files: &[(&str, &str)]) -> Vec<String> {
        let path = |name: &str| format!("crates/x/src/{name}.rs");
        let sources = files
            .iter()
            .map(|(name, text)| (path(name), (*text).to_owned()));
        let mut faults = faults(&sources.collect()).unwrap();
        faults.retain(|fault| fault.contains(&format!(" {kind} import")));
        faults
    }

    fn faults_in(files: &[(&str, &str)]) -> Vec<String> {
        faults_between("files", files)
    }

    #[test]
    fn modules_of_the_root_that_import_each_other_are_found() {
        let files = |up: &'static str| {
            [
                ("lib", "mod a; mod b;"),
                ("a", "mod low; mod high;"),
                ("a/low", "pub struct Low;"),
                ("a/high", up),
                ("b", "pub struct B(crate::a::low::Low);"),
            ]
        };
        let up = files("use crate::b::B;");
        assert_eq!(faults_in(&up), [""; 0]);
        let [description] = &faults_between("modules", &up)[..] else {
            panic!("one circle")
        };
        let arrow = "crates/x/src/a -> crates/x/src/b: B";
        assert!(description.contains(arrow), "{description}");
        let inside = files("use super::low::Low;");
        assert_eq!(faults_between("modules", &inside), [""; 0]);
    }

    #[test]
    fn checkout_has_no_circle() {
        assert_eq!(faults_of(&Tree::open().unwrap()).unwrap(), [""; 0]);
    }

    #[test]
    fn files_that_import_each_other_are_found() {
        let lib = ("lib", "mod a; mod b;");
        let b = ("b", "pub struct B; fn f() { super::a::f() }");
        for (a, is_circle) in [
            ("use crate::b::B; pub fn f() {}", true),
            ("pub use crate::b::B; pub fn f() {}", false),
            ("use crate::b; pub fn f() {}", false),
            ("use crate::b; pub fn f(_: b::B) {}", true),
            ("use crate::b::*; pub fn f() {}", true),
            ("pub fn f() {} mod inside { use super::super::b::B; }", true),
            (
                "pub fn f() {} #[cfg(test)] mod tests { use crate::b::B; }",
                false,
            ),
            ("pub fn f() {}", false),
        ] {
            let faults_in = faults_in(&[lib, ("a", a), b]);
            assert_eq!(
                faults_in.len(),
                usize::from(is_circle),
                "{a}: {faults_in:?}"
            );
        }
    }

    #[test]
    fn re_exported_name_belongs_to_defining_file() {
        let lib = "mod a; mod b; pub use a::below::Below; pub use b::*;";
        let a = "mod below; use crate::B;";
        let files = |b: &'static str| {
            [
                ("lib", lib),
                ("a", a),
                ("a/below", "pub struct Below;"),
                ("b", b),
            ]
        };
        assert_eq!(
            faults_in(&files("pub struct B; use crate::Below;")),
            [""; 0]
        );
        let circle = faults_in(&files("pub struct B; impl B { fn a() -> crate::a::A {} }"));
        assert_eq!(circle, [""; 0], "`a` defines no `A`");
        let up = [
            ("lib", lib),
            ("a", a),
            ("a/below", "pub struct Below(super::super::b::B);"),
            ("b", "pub struct B(crate::Below);"),
        ];
        let [description] = &faults_in(&up)[..] else {
            panic!("one circle")
        };
        assert!(
            description.contains("crates/x/src/b.rs -> crates/x/src/a/below.rs: Below"),
            "{description}"
        );
    }
}
