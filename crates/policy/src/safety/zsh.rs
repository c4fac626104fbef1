//! `no_unread_zsh`: syntax that zsh reads but bash does not, near a command that another rule is concerned with.

use super::core_rules::CORE;
use super::rule::{Hit, Rule, Scene};
use crate::Group;
use crate::syntax::find::Search;
use crate::syntax::git::Git;
use crate::syntax::run::{Field, Ran};
use crate::syntax::value::{Piece, Value, Why};
use crate::syntax::written::Written;

pub(super) static RULE: Rule = Rule {
    id: "no_unread_zsh",
    group: Group::Core,
    summary: "Where zsh runs it: syntax that only zsh has (glob qualifiers, `=command`, `${(flags)x}`, `$x[1]`, `$x:h`, short loops, options that change how it reads) around a command that one of the other rules looks at.",
    message: "permission denied: this is syntax that only zsh has, and it cannot be read here, so nobody can say what this command would do. Write it as bash reads it, too",
    suggestion: "name the files, quote what is meant as it stands, write loops with `do` and `done` and `${x}` for `$x`; or run it with `bash -c`",
    fires: &[
        "zsh -c 'rm -rf *(N)'",
        "zsh -c 'rm ${=x}'",
        "zsh -c 'x=(/ a); rm -r $x[1]'",
        "zsh -c 'for f (*) rm -rf $f'",
        "zsh -c 'repeat 2 { git push -f }'",
        "zsh -c '{ rm -rf / } always { print }'",
        "zsh -c 'rm -rf <1-9>'",
        "zsh -c 'git add ${(f)list}'",
        "zsh -c 'f=(*(/)); rm -rf $f'",
        "zsh -c '$commands[rm] -rf ~'",
        "zsh -o extendedglob -c 'rm -rf ^keep'",
        "zsh -c 'setopt extended_glob; rm -rf ^keep'",
        "zsh -c 'alias -g X=\"-rf ~\"; eval rm X'",
        "zsh <<'E'\nrm -rf $dir:h\nE",
    ],
    spares: &[
        "zsh -c 'ls *(N)'",
        "zsh -c 'print -l **/*(.om[1,5]); git status'",
        "zsh -c 'for f (*.txt) wc -l $f'",
        "zsh -c 'cp *(.) /tmp'",
        "zsh -c 'rm build/*.o(N)'",
        "zsh -c 'echo ${(U)name} ${path:h} $path[1]; rm build/out.o'",
        "zsh -c 'rm -rf node_modules && git push origin ${branch}:main'",
        "zsh -c 'git show HEAD^ HEAD~2 stash@{0}'",
        "zsh -c 'setopt err_exit null_glob; rm -rf build'",
        "zsh -c 'emulate -L zsh; rm -rf build'",
        "zsh -c '=ls -l'",
        "zsh -c '[ a == b ] && git status'",
        "bash -c 'rm -rf ${x:h}/build'",
    ],
    // Only our own reader knows zsh.
    needs: |_| false,
    check,
};

/// Programs that treat their words as data: only what zsh itself would execute in them counts.
const SHOWS: [&str; 7] = ["echo", "print", "printf", "test", "[", "grep", "rg"];

/// Options of zsh that do not affect parsing.
const HARMLESS: [&str; 22] = [
    "allexport", "clobber", "dotglob", "errexit", "errreturn", "failglob", "globdots", "hup",
    "localoptions", "localtraps", "monitor", "nomatch", "notify", "nullglob", "numericglobsort",
    "pipefail", "rmstarsilent", "rmstarwait", "unset", "verbose", "warncreateglobal", "xtrace",
];

fn check(ran: &Ran, scene: &Scene<'_>) -> Option<Hit> {
    let unread = ran
        .words
        .iter()
        .find(|field| field.value.zsh_only().is_some());
    if let Some(field) = unread {
        let matters = runs_its_value(field.value.zsh_only()) || matters(field, ran, scene);
        return matters.then(|| Hit::on(ran, [field]));
    }
    let changes = changes_the_reading(ran);
    (changes
        && *scene
            .cares
            .get_or_init(|| scene.all.iter().any(|ran| cares(ran, scene))))
    .then(|| Hit::on(ran, ran.arguments()))
}

/// Whether a core rule, or another enabled one, is concerned with a command with such words.
fn cares(ran: &Ran, scene: &Scene<'_>) -> bool {
    let mut text = String::new();
    for field in ran.words.iter() {
        text.push_str(&field.value.script());
        text.push_str(field.value.zsh_only().unwrap_or_default());
        text.push(' ');
    }
    let written = Written::of(&text);
    concerned(scene).any(|rule| (rule.needs)(&written))
}

/// Whether it matters what this word of the command expands to.
fn matters(field: &Field, ran: &Ran, scene: &Scene<'_>) -> bool {
    match ran.name() {
        // The program is unknown.
        None => true,
        Some(name) if SHOWS.contains(&name) => false,
        Some("git" | "hub") if Git::read(&ran.words).subcommand().is_none() => true,
        Some("find" | "gfind" | "bfs") => {
            let search = Search::read(&ran.words);
            let may_be_an_option = field.value.pieces().len() == 1;
            may_be_an_option || search.deletes || !search.commands.is_empty()
        }
        Some(_) => match without_qualifiers(ran) {
            Some(plain) => is_refused(&plain, scene),
            None => cares(ran, scene),
        },
    }
}

/// The command with `*` for `*(.)`, if its only zsh-specific syntax are such glob qualifiers: they can only select
/// among the files that the glob matches.
fn without_qualifiers(ran: &Ran) -> Option<Ran> {
    let words = ran.words.iter().map(|field| {
        let value = match field.value.zsh_only() {
            Some(_) => unqualified(&field.value)?,
            None => field.value.clone(),
        };
        Some(Field {
            value,
            span: field.span,
        })
    });
    let words = words.collect::<Option<_>>()?;
    let mut plain = ran.clone();
    plain.words = words;
    Some(plain)
}

fn unqualified(value: &Value) -> Option<Value> {
    let (last, glob) = value.pieces().split_last()?;
    let Piece::Unknown {
        why: Why::Zsh(text),
        ..
    } = last
    else {
        return None;
    };
    let choice = text.strip_prefix('(')?.strip_suffix(')')?;
    let chooses = !choice.is_empty() && choice.chars().all(|letter| CHOICES.contains(letter));
    if !chooses || glob.is_empty() {
        return None;
    }
    let mut plain = Value::default();
    for piece in glob {
        plain.extend(&Value::from(piece.clone()));
    }
    plain.zsh_only().is_none().then_some(plain)
}

/// Letters of qualifiers that select and sort. Others run code (`e`, `+`) or change the names (`:h`, `P`).
const CHOICES: &str = "./@=p*%^-,[]0123456789aAcDEFGIklLmMnNoOrRsStTUwWxXY";

/// Whether another rule refuses it.
fn is_refused(ran: &Ran, scene: &Scene<'_>) -> bool {
    concerned(scene).any(|rule| (rule.check)(ran, scene).is_some())
}

/// The core rules, and those that are enabled. Programs in other languages are not zsh's concern.
fn concerned<'s>(scene: &Scene<'s>) -> impl Iterator<Item = &'s Rule> {
    CORE.into_iter()
        .chain(scene.asked.iter().copied())
        .filter(|rule| rule.group != Group::InlineCode)
}

/// `${(e)x}`, `*(e:command:)` and `*(+function)`: their contents are executed.
fn runs_its_value(text: Option<&str>) -> bool {
    let Some((before, behind)) = text.and_then(|text| text.split_once('(')) else {
        return false;
    };
    let flags = behind.split(')').next().unwrap_or(behind);
    let delimited = |at: usize| flags[at + 1..].starts_with([':', '\'', '"', '/', ',', '{', '%']);
    if before.is_empty() {
        flags.starts_with('+') || flags.match_indices('e').any(|(at, _)| delimited(at))
    } else {
        let plain = flags.split([':', '/', ',', '.', '\'', '"']).next();
        plain.is_some_and(|flags| flags.contains('e'))
    }
}

/// `setopt extended_glob`, `emulate sh`, `alias -g`: from here on zsh parses differently.
fn changes_the_reading(ran: &Ran) -> bool {
    let mut words = ran.arguments().iter().map(|field| field.value.literal());
    match ran.name() {
        Some("setopt" | "unsetopt") => words.any(|word| !word.is_some_and(is_harmless)),
        Some("emulate") => {
            words.any(|word| !matches!(word, Some("zsh" | "-L" | "-R" | "-LR" | "-RL")))
        }
        Some("alias") => words.any(|word| {
            word.is_some_and(|word| word.starts_with('-') && word.contains(['g', 's']))
        }),
        _ => false,
    }
}

fn is_harmless(option: &str) -> bool {
    let name: String = option
        .chars()
        .filter(|c| *c != '_')
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let is_one = |name: &str| HARMLESS.contains(&name);
    is_one(&name) || name.strip_prefix("no").is_some_and(is_one)
}
