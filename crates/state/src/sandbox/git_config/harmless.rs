//! Decides which changes of git's configuration a call may make for programs outside of its
//! sandbox. A harmless key neither runs a program nor sends commits to a place that the call has
//! chosen for an existing branch or remote, and git accepts its value: for a value that it cannot
//! read, git refuses all work. All other keys are dangerous.

use agent_bash_process::GitConfigValues;
use std::str::from_utf8;

/// The name of the key that marks a remote as added by a sandboxed call. No branch gets such a
/// remote from a call: otherwise a later `git push` could send commits there.
const MARK: &str = "addedinsandbox";

/// The remote to which git pushes a branch without a remote, if there are several remotes.
const ORIGIN: &str = "origin";

/// The largest size of a value, or of a name in a key, in bytes.
const MAX_TEXT_BYTES: usize = 1000;

/// A value of a key, as [`GitConfigValues`] has it.
type RawValue = Option<Vec<u8>>;

/// A key and its new values; without values, the key is removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChangedKey {
    pub(super) key: String,
    pub(super) values: Vec<String>,
}

/// Returns the keys to write for the change of one key from `before` to `after`; `None` if the
/// change is not harmless. `now` is the repository's configuration, `copy` the configuration after
/// the call.
pub(super) fn changed_key(
    key: &[u8],
    (before, after): (&[RawValue], &[RawValue]),
    now: &GitConfigValues,
    copy: &GitConfigValues,
) -> Option<Vec<ChangedKey>> {
    let key = from_utf8(key).ok()?;
    let (section, rest) = key.split_once('.')?;
    let (sub, name) = match rest.rsplit_once('.') {
        Some((sub, _)) if !is_text(sub) => return None,
        Some((sub, name)) => (Some(sub), name),
        None => (None, rest),
    };
    // A removed value could not be written again if the check of values refuses it.
    let before: Option<Vec<&str>> = before.iter().map(text).collect();
    let after: Vec<&str> = after.iter().map(text).collect::<Option<_>>()?;
    let is_new = before?.is_empty();
    let all = |is_harmless: &dyn Fn(&str) -> bool| after.iter().all(|value| is_harmless(value));
    let is_harmless = match (section, sub, name) {
        ("user", None, "name" | "email") => all(&is_name),
        ("branch", Some(_), "description") => true,
        ("branch", Some(_), "remote") if after.is_empty() => {
            let has_origin =
                |values: &GitConfigValues| values.contains_key(&remote_key(ORIGIN, "url"));
            is_users_remote(ORIGIN, now) || !(has_origin(now) || has_origin(copy))
        }
        ("branch", Some(_), "remote") => all(&|value| value == "." || is_users_remote(value, now)),
        ("branch", Some(_), "merge") => all(&|value| value.starts_with("refs/")),
        ("branch", Some(_), "rebase") | ("pull", None, "rebase") => {
            all(&|value| is_boolean_or(value, &["merges", "interactive"]))
        }
        ("pull", None, "ff") => all(&|value| is_boolean_or(value, &["only"])),
        ("core", None, "autocrlf") => all(&|value| is_boolean_or(value, &["input"])),
        ("core", None, "filemode" | "quotepath")
        | ("rerere", None, "enabled")
        | ("submodule", Some(_), "active") => all(&is_boolean),
        ("submodule", Some(_), "update") => {
            all(&|value| matches!(value, "checkout" | "rebase" | "merge" | "none"))
        }
        ("lfs", None, "repositoryformatversion") => all(&|value| value == "0"),
        ("submodule", Some(_), "url") => is_new && all(&is_harmless_url),
        ("remote", Some(remote), _) if is_calls_remote(remote, now) => match name {
            // Without an address, git takes the remote's name for the path of a repository.
            "url" if after.is_empty() => {
                let prefix = remote_key(remote, "");
                !copy.keys().any(|key| key.starts_with(&prefix))
            }
            "url" => all(&is_harmless_url),
            _ if !after.is_empty() && !has_harmless_url(remote, copy) => false,
            "fetch" => all(&|value| is_into_own_branches(value, remote)),
            "prune" => all(&is_boolean),
            MARK => after == ["true"] || !copy.contains_key(&remote_key(remote, "url")),
            _ => false,
        },
        _ => false,
    };
    let with_values = |key: String, values: &[&str]| ChangedKey {
        key,
        values: values.iter().map(|&value| value.to_owned()).collect(),
    };
    let mut changed = vec![with_values(key.to_owned(), &after)];
    match (section, sub, name) {
        ("remote", Some(remote), "url") => {
            let mark: &[&str] = if after.is_empty() { &[] } else { &["true"] };
            changed.push(with_values(format!("remote.{remote}.{MARK}"), mark));
        }
        // Only written together with the address, which must not stay without the mark.
        ("remote", _, MARK) => changed.clear(),
        _ => {}
    }
    is_harmless.then_some(changed)
}

fn remote_key(remote: &str, name: &str) -> Vec<u8> {
    format!("remote.{remote}.{name}").into_bytes()
}

/// True if a remote has only harmless addresses.
fn has_harmless_url(remote: &str, values: &GitConfigValues) -> bool {
    let urls = values.get(&remote_key(remote, "url"));
    urls.is_some_and(|urls| {
        urls.iter()
            .all(|url| text(url).is_some_and(is_harmless_url))
    })
}

/// True if a remote was not added by a call.
fn is_users_remote(remote: &str, now: &GitConfigValues) -> bool {
    now.contains_key(&remote_key(remote, "url")) && !now.contains_key(&remote_key(remote, MARK))
}

/// True if a call may change the keys of this remote: the remote is new and no branch waits for it,
/// or a call has added it. The name must not look like an address or a path, because git prefers a
/// remote of this name. [`ORIGIN`] must be the first remote.
fn is_calls_remote(remote: &str, now: &GitConfigValues) -> bool {
    let is_part =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let prefix = remote_key(remote, "");
    let is_mentioned = |(key, values): (&Vec<u8>, &Vec<RawValue>)| {
        let is_name = key.ends_with(b"remote") || key.ends_with(b"pushdefault");
        let mut values = values.iter().flatten();
        // Remotes and `pushDefault` may be in files that are not listed.
        let is_elsewhere = key.starts_with(b"include") || key == b"extensions.worktreeconfig";
        is_elsewhere
            || key.starts_with(&prefix)
            || is_name && values.any(|value| value == remote.as_bytes())
            || remote == ORIGIN && key.starts_with(b"remote.") && key.ends_with(b".url")
    };
    let is_new = !now.iter().any(is_mentioned);
    remote.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && remote.chars().all(is_part)
        && (is_new || now.contains_key(&remote_key(remote, MARK)))
}

/// True if a refspec is valid, and the branches that it fetches get names of this remote only.
fn is_into_own_branches(refspec: &str, remote: &str) -> bool {
    let own = format!("refs/remotes/{remote}/");
    let refspec = refspec.strip_prefix('+').unwrap_or(refspec);
    match refspec.split_once(':') {
        Some((source, target)) => {
            let is_pattern = [source, target].map(|name| name.contains('*'));
            target.starts_with(&own)
                && is_reference(source)
                && is_reference(target)
                && is_pattern[0] == is_pattern[1]
        }
        None => is_reference(refspec) && !refspec.contains('*'),
    }
}

/// True for the name of a reference, or a pattern with one `*`, as `git check-ref-format` has it.
fn is_reference(name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || "-_./*+@#%,=".contains(letter);
    name.chars().all(is_part)
        && name.matches('*').count() <= 1
        && !name.contains("..")
        && name.split('/').all(|part| {
            !part.is_empty()
                && !part.starts_with(['.', '-'])
                && !part.ends_with('.')
                && part.strip_suffix(".lock").is_none()
        })
}

fn text(value: &RawValue) -> Option<&str> {
    let value = from_utf8(value.as_deref()?).ok()?;
    is_text(value).then_some(value)
}

/// True for a short line that git does not take for an option, or for the address of a program.
fn is_text(value: &str) -> bool {
    !value.is_empty()
        && value.len() <= MAX_TEXT_BYTES
        && !value.chars().any(char::is_control)
        && !value.starts_with('-')
        && !value.contains("::")
}

/// True for a name without letters that end or start a command of a shell: git writes the name into
/// its logs.
fn is_name(value: &str) -> bool {
    !value.contains(|letter: char| ";&|<>()`$\\".contains(letter))
}

fn is_boolean(value: &str) -> bool {
    is_boolean_or(value, &[])
}

/// True for a boolean value or one of these words.
fn is_boolean_or(value: &str, words: &[&str]) -> bool {
    const BOOLEANS: [&str; 8] = ["true", "false", "yes", "no", "on", "off", "1", "0"];
    let is_boolean = |word: &&str| word.eq_ignore_ascii_case(value);
    BOOLEANS.iter().any(is_boolean) || words.contains(&value)
}

/// True for an address of another machine, of a protocol that runs no program of the call. A push
/// to a directory runs the hooks there, which the call could have written.
fn is_harmless_url(url: &str) -> bool {
    const SCHEMES: [&str; 4] = ["https://", "http://", "ssh://", "git://"];
    let (authority, path) = match SCHEMES.iter().find_map(|scheme| url.strip_prefix(scheme)) {
        Some(rest) => rest.split_once('/').unwrap_or((rest, "")),
        None if url.contains("://") => return false,
        None => match url.split_once(':') {
            Some((host, path)) => (host, path),
            None => return false,
        },
    };
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "._-:+~".contains(letter);
    let mut parts = authority.split('@');
    parts.all(|part| {
        part.starts_with(|letter: char| letter.is_ascii_alphanumeric()) && part.chars().all(is_part)
    }) && !path.starts_with('-')
        && path.chars().all(|letter| letter.is_ascii_graphic())
}
