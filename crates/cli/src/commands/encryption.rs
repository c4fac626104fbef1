//! The warning about `openssl`, without which calls cannot use secrets at hosts with TLS.

use crate::output;
use agent_bash::SandboxSettings;
use agent_bash::core::sandbox::{Network, SandboxLevel};
use agent_bash::process::supervisor::openssl_path;
use agent_bash::settings::Settings;
use std::path::Path;

/// The warning.
const NO_OPENSSL: &str = "the program openssl is not in /usr/bin, so requests with a placeholder of sandbox.secrets fail, \
     except to hosts with `http://`: install the package openssl";

/// Tells the user if the calls with these settings need a missing `openssl`.
pub(crate) fn warn(settings: &Settings) {
    let sandbox = settings.sandbox_in_force();
    let has_proxy = sandbox.level != SandboxLevel::Off && sandbox.network == Network::Hosts;
    if let (true, Some(warning)) = (has_proxy, warning(&sandbox)) {
        output::say(&format!("agent-bash: {warning}"));
    }
}

/// Returns the warning if the secrets of these settings need a missing `openssl`.
pub(crate) fn warning(sandbox: &SandboxSettings) -> Option<&'static str> {
    warning_with(openssl_path(), sandbox)
}

fn warning_with(openssl: Option<&Path>, sandbox: &SandboxSettings) -> Option<&'static str> {
    (openssl.is_none() && sandbox.has_encrypted_secrets()).then_some(NO_OPENSSL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash::settings::SecretSettings;

    #[test]
    fn warning_needs_a_host_with_encryption_and_no_openssl() {
        let openssl = Some(Path::new("/usr/bin/openssl"));
        for (openssl, hosts, want) in [
            (None, &["a.example"][..], true),
            (None, &["http://a.example", "b.example"], true),
            (None, &["http://a.example"], false),
            (openssl, &["a.example"], false),
        ] {
            let hosts = hosts.iter().map(|&host| host.to_owned()).collect();
            let mut sandbox = SandboxSettings::default();
            assert_eq!(warning_with(None, &sandbox), None, "without a secret");
            sandbox
                .secrets
                .insert("TOKEN".to_owned(), SecretSettings { hosts });
            assert_eq!(warning_with(openssl, &sandbox).is_some(), want);
        }
    }
}
