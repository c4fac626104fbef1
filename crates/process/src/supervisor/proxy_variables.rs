//! The environment variables that lead the programs of a sandbox to its proxy, and those with
//! placeholders for secrets.

use agent_bash_core::sandbox::{HostSecret, Network, Plan};
use agent_bash_sandbox::PROXY_PORT;
use std::ffi::OsString;

/// The variables with the address of the proxy. Some programs read the lower case only, others the
/// upper case. `ALL_PROXY` is no SOCKS address, because many HTTP clients fail on one. They replace
/// all variables with the address, and perhaps the password, of a proxy of the host.
const PROXY_VARIABLES: [&str; 8] = [
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "http_proxy", "https_proxy",
    "all_proxy", "ftp_proxy",
];

/// The variables with the targets that programs reach without the proxy.
const EXCEPTION_VARIABLES: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// The sandbox's own servers.
const EXCEPTIONS: &str = "localhost,127.0.0.1,::1";

/// Makes Node's `fetch` use the variables above.
const NODE_VARIABLE: (&str, &str) = ("NODE_USE_ENV_PROXY", "1");

/// Returns the variables that lead programs of a sandbox to its proxy, and the placeholders of its
/// secrets; none without a proxy.
pub(super) fn proxy_variables(plan: &Plan) -> Vec<(OsString, OsString)> {
    if plan.network != Network::Hosts {
        return Vec::new();
    }
    let address = format!("http://127.0.0.1:{PROXY_PORT}");
    let proxy = PROXY_VARIABLES.map(|name| (name, address.as_str()));
    let exceptions = EXCEPTION_VARIABLES.map(|name| (name, EXCEPTIONS));
    let all = proxy.into_iter().chain(exceptions).chain([NODE_VARIABLE]);
    let all = all.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let placeholder = |secret: &HostSecret| {
        let HostSecret {
            variable,
            placeholder,
            ..
        } = secret;
        (OsString::from(variable), OsString::from(placeholder))
    };
    all.chain(plan.secrets.iter().map(placeholder))
        .chain(git_variables(&plan.secrets))
        .collect()
}

/// Returns settings of git for the hosts of secrets: git asks the proxy for `http://` in place of
/// `https://`, and has the placeholder as its password. The name of the user is the one for tokens
/// of GitHub; other servers ignore the name.
fn git_variables(secrets: &[HostSecret]) -> Vec<(OsString, OsString)> {
    let mut settings = Vec::new();
    for secret in secrets {
        for entry in secret.hosts.iter().filter(|host| !host.contains('*')) {
            let host = entry.strip_prefix("http://");
            let url = format!("http://{}", host.unwrap_or(entry));
            if host.is_none() {
                let replaced = format!("https://{entry}/");
                settings.push((format!("url.{url}/.insteadOf"), replaced));
            }
            let helper = format!(
                "!f() {{ test \"$1\" != get || printf 'username=x-access-token\\npassword=%s\\n' \"${}\"; }}; f",
                secret.variable
            );
            settings.push((format!("credential.{url}.helper"), helper));
        }
    }
    if settings.is_empty() {
        return Vec::new();
    }
    let count = ("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string());
    let numbered = settings
        .into_iter()
        .enumerate()
        .flat_map(|(number, (key, value))| {
            [
                (format!("GIT_CONFIG_KEY_{number}"), key),
                (format!("GIT_CONFIG_VALUE_{number}"), value),
            ]
        });
    let all = [count].into_iter().chain(numbered);
    all.map(|(name, value)| (name.into(), value.into()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::sandbox::{Tier, WriteLevel};

    #[test]
    fn secrets_set_placeholders_and_the_settings_of_git() {
        let [variable, value, placeholder] = ["A_TOKEN", "real", "fake"].map(str::to_owned);
        let hosts = ["git.example", "*.example", "http://plain.example:8080"];
        let hosts = hosts.map(str::to_owned).to_vec();
        let mut plan = Plan::new(WriteLevel::ReadOnly, Tier::Full);
        plan.network = Network::Hosts;
        let without = proxy_variables(&plan);
        for name in ["HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "ftp_proxy"] {
            assert!(without.iter().any(|(variable, _)| variable == name));
        }
        plan.secrets = vec![HostSecret::new(variable, value, placeholder, hosts)];
        let added = proxy_variables(&plan).split_off(without.len());
        let helper = "!f() { test \"$1\" != get || printf 'username=x-access-token\\npassword=%s\\n' \"$A_TOKEN\"; }; f";
        let want = [
            ("A_TOKEN", "fake"),
            ("GIT_CONFIG_COUNT", "3"),
            ("GIT_CONFIG_KEY_0", "url.http://git.example/.insteadOf"),
            ("GIT_CONFIG_VALUE_0", "https://git.example/"),
            ("GIT_CONFIG_KEY_1", "credential.http://git.example.helper"),
            ("GIT_CONFIG_VALUE_1", helper),
            (
                "GIT_CONFIG_KEY_2",
                "credential.http://plain.example:8080.helper",
            ),
            ("GIT_CONFIG_VALUE_2", helper),
        ];
        let want = want.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        assert_eq!(added, want);
        plan.network = Network::On;
        assert_eq!(proxy_variables(&plan), []);
    }
}
