//! Names that stand before values, and what stands in the place of a value.

/// The text in the place of a secret.
pub(super) const SECRET_MASK: &str = "[hidden]";

/// `NAME`, `--name`, `-H`, `+name` in a diff: what may stand before a value.
pub(super) fn is_name(text: &str) -> bool {
    let name = bare(text);
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
}

/// A name without what is before it.
pub(super) fn bare(name: &str) -> &str {
    name.trim_start_matches(['-', '+'])
}
