//! Names before values, and the mask that replaces a value.

/// The text that replaces a secret.
pub(super) const SECRET_MASK: &str = "[hidden]";

/// True for a name that can precede a value: `NAME`, `--name`, `-H`, `+name` in a diff.
pub(super) fn is_name(text: &str) -> bool {
    let name = bare(text);
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
}

/// Returns a name without its leading `-` and `+`.
pub(super) fn bare(name: &str) -> &str {
    name.trim_start_matches(['-', '+'])
}
