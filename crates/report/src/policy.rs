//! The page's Content Security Policy. The page loads no file, and applies only its own style and
//! script.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Returns the policy for a page that contains this style and this script.
pub(crate) fn policy(style: &str, script: &str) -> String {
    format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        hash(style),
        hash(script)
    )
}

/// Returns the hash of a text in the form of the policy.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_is_the_one_that_browsers_compute() {
        // The example of the standard, CSP level 3.
        assert_eq!(
            hash("doSubmit()"),
            "sha256-jzgBGA4UWFFmpOBq0JpdsySukE1FrEN5bUpoK8Z29fY="
        );
    }
}
