//! The command that connects to a remote host: the user's own client with its configuration and
//! credentials. The command asks for no terminal. Its arguments contain no secret, because every
//! user of the machine can read them.

use crate::target::{SCRIPT_PLACEHOLDER, TargetTransport};
use std::ffi::OsString;

/// Returns the command line that runs `script` on the remote host by a POSIX shell, with this
/// process's stdin and stdout.
pub fn argv(transport: &TargetTransport, script: &str) -> Vec<OsString> {
    let words: Vec<String> = match transport {
        TargetTransport::Ssh { to, port } => {
            let fixed = [
                "ssh", "-T", "-a", "-x", "-e", "none", "-o", "BatchMode=yes", "-o",
                "ClearAllForwardings=yes", "-o", "ServerAliveInterval=15",
            ];
            let port = port.map(|port| ["-p".to_owned(), port.to_string()]);
            let mut words: Vec<String> = fixed.map(str::to_owned).into();
            words.extend(port.into_iter().flatten());
            // The user's login shell on the remote host is unknown; every shell supports single
            // quotes.
            words.extend([
                "--".to_owned(),
                to.clone(),
                format!("exec /bin/sh -c '{script}'"),
            ]);
            words
        }
        TargetTransport::Docker { container } => exec("docker", container, script),
        TargetTransport::Podman { container } => exec("podman", container, script),
        TargetTransport::Kube {
            context,
            namespace,
            pod,
            container,
        } => {
            let mut words: Vec<&str> = vec!["kubectl", "exec", "-i", "-q"];
            if let Some(context) = context {
                words.extend(["--context", context]);
            }
            words.extend(["-n", namespace, pod]);
            if let Some(container) = container {
                words.extend(["-c", container]);
            }
            words.extend(["--", "/bin/sh", "-c", script]);
            words.into_iter().map(str::to_owned).collect()
        }
        TargetTransport::Command(words) => {
            let substitute = |word: &String| match &**word {
                SCRIPT_PLACEHOLDER => script.to_owned(),
                _ => word.clone(),
            };
            words.iter().map(substitute).collect()
        }
    };
    words.into_iter().map(OsString::from).collect()
}

fn exec(engine: &str, container: &str, script: &str) -> Vec<String> {
    [engine, "exec", "-i", container, "/bin/sh", "-c", script]
        .map(str::to_owned)
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;

    #[test]
    fn argv_has_the_command_line_of_each_transport() {
        let ssh = "ssh -T -a -x -e none -o BatchMode=yes -o ClearAllForwardings=yes -o ServerAliveInterval=15";
        for (target, want) in [
            (
                "ssh:dev@box",
                format!("{ssh} -- dev@box exec /bin/sh -c 'S'"),
            ),
            (
                "ssh:box:22",
                format!("{ssh} -p 22 -- box exec /bin/sh -c 'S'"),
            ),
            ("docker:box", "docker exec -i box /bin/sh -c S".to_owned()),
            ("podman:box", "podman exec -i box /bin/sh -c S".to_owned()),
            (
                "kube:ns/pod",
                "kubectl exec -i -q -n ns pod -- /bin/sh -c S".to_owned(),
            ),
            (
                "kube:ctx/ns/pod/c",
                "kubectl exec -i -q --context ctx -n ns pod -c c -- /bin/sh -c S".to_owned(),
            ),
        ] {
            let words = argv(&Target::parse(target).unwrap().transport, "S");
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            assert_eq!(words.join(" "), want);
        }
        let words = ["nsenter", "sh", "-c", "{script}"].map(str::to_owned);
        let words = argv(&TargetTransport::Command(words.into()), "echo {script}");
        assert_eq!(words, ["nsenter", "sh", "-c", "echo {script}"]);
    }
}
