//! What is hidden, and what is not.

use super::*;

fn masks() -> Masks {
    let environment = [
        ("GH_TOKEN", "s3cr3t-value"),
        ("EDITOR", "helix-editor"),
        ("API_KEY", "abc"),
    ];
    let environment = environment.map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
    Masks::new(environment, SecretFilter::default())
}

#[test]
fn secrets_are_hidden() {
    for (text, want) in [
        ("curl -H s3cr3t-value x", "curl -H [hidden] x"),
        ("a\"s3cr3t-value\"b", "a\"[hidden]\"b"),
        ("PASSWORD=hunter22 make", "PASSWORD=[hidden] make"),
        (
            "export PASSWORD='hunter 22'; make",
            "export PASSWORD='[hidden]'; make",
        ),
        (
            "mysql --password=hunter22 -e x",
            "mysql --password=[hidden] -e x",
        ),
        (
            "login --password hunter22 --user me",
            "login --password [hidden] --user me",
        ),
        (
            "curl -H 'Authorization: Bearer abcdef' x",
            "curl -H 'Authorization: Bearer [hidden]' x",
        ),
        (
            "git clone https://me:hunter22@example.org/a.git",
            "git clone https://me:[hidden]@example.org/a.git",
        ),
        (
            "echo ghp_0123456789abcdefghijABCDEFGHIJ012345 | x",
            "echo [hidden] | x",
        ),
        ("x=ghp_0123456789abcdefghijABCDEFGHIJ012345", "x=[hidden]"),
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAx7\nMIIEpAIBAAKCAQEAx8==\n-----END RSA PRIVATE KEY-----; b",
            "a\n-----BEGIN RSA PRIVATE KEY-----\n[hidden]\n[hidden]\n-----END RSA PRIVATE KEY-----; b",
        ),
        (
            "KEY=\"-----BEGIN PRIVATE KEY-----\\nMIIEpAIBAAKCAQEAx7\\nMIIEpAIBAAKCAQEAx8==\\n-----END\"",
            "KEY=\"[hidden]\"",
        ),
        (
            "{\"a\": \"-----BEGIN PRIVATE KEY-----\\nMIIEpAIBAAKCAQEAx7\\n-----END\"",
            "{\"a\": \"-----BEGIN PRIVATE KEY-----\\n[hidden]\\n-----END\"",
        ),
        ("PASSWORD='a;b c' make", "PASSWORD='[hidden]' make"),
        (
            "if x; then A=1 PASSWORD='a;b c' make; fi",
            "if x; then A=1 PASSWORD='[hidden]' make; fi",
        ),
        (
            "login --password 'hunter 22' x",
            "login --password '[hidden] 22' x",
        ),
        (
            "sh -c \"PASSWORD='hunter22' make\"",
            "sh -c \"PASSWORD='[hidden]' make\"",
        ),
    ] {
        assert_eq!(masks().hide(text), want);
    }
}

#[test]
fn what_is_none_stays() {
    for text in [
        "cargo test --workspace",
        "helix-editor abc",
        "PASSWORD=$PASSWORD make",
        "login --password \"$PASSWORD\"",
        "TOKEN_FILE=/run/x cat /etc/hosts",
        "git log --author=me 'a: b' é=ü",
        "-----BEGIN CERTIFICATE-----",
        "MAX_TOKENS=4096 run",
        "",
        "'",
        "\"a=",
    ] {
        assert!(matches!(masks().hide(text), Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn a_filter_that_looks_for_nothing_hides_nothing_but_named_values() {
    let filter = SecretFilter {
        by_name: false,
        by_value: false,
        ..SecretFilter::default()
    };
    let masks = Masks::new([], filter);
    assert_eq!(masks.hide("PASSWORD=hunter22"), "PASSWORD=hunter22");
}

#[test]
fn what_programs_take_as_a_credential_is_hidden() {
    for (text, want) in [
        ("curl -u bob:passw0rd x", "curl -u bob:[hidden] x"),
        ("curl -ubob:passw0rd x", "curl -ubob:[hidden] x"),
        ("curl -sSu bob:passw0rd x", "curl -sSu bob:[hidden] x"),
        ("curl -u 'bob:pass word' x", "curl -u 'bob:[hidden] word' x"),
        (
            "/usr/bin/curl --user bob:x",
            "/usr/bin/curl --user bob:[hidden]",
        ),
        ("curl --user=bob:x y", "curl --user=bob:[hidden] y"),
        (
            "sudo curl -d 'a;b' -u me:x",
            "sudo curl -d 'a;b' -u me:[hidden]",
        ),
        ("curl \\\n -u me:x", "curl \\\n -u me:[hidden]"),
        (
            "docker login -u a -p hunter12 r",
            "docker login -u a -p [hidden] r",
        ),
        (
            "docker login -u a -phunter12",
            "docker login -u a -p[hidden]",
        ),
        (
            "mysql -uroot -phunter4 -e x",
            "mysql -uroot -p[hidden] -e x",
        ),
        ("mysqldump -p'hunter 4' db", "mysqldump -p'[hidden] 4' db"),
        ("sshpass -p hunter3 ssh a", "sshpass -p [hidden] ssh a"),
        ("sshpass -phunter3 ssh a", "sshpass -p[hidden] ssh a"),
        ("redis-cli -a hunter3 ping", "redis-cli -a [hidden] ping"),
        (
            "curl -H 'X-Api-Key: hunter11' x",
            "curl -H 'X-Api-Key: [hidden]' x",
        ),
        (
            "curl -H 'X-Api-Key: hunter' x",
            "curl -H 'X-Api-Key: [hidden]' x",
        ),
        (
            "curl -H X-Api-Key:hunter11 x",
            "curl -H X-Api-Key:[hidden] x",
        ),
        (
            "curl -H 'Authorization: token abc' x",
            "curl -H 'Authorization: token [hidden]' x",
        ),
        (
            "curl -H 'Authorization: Basic YTpi' x",
            "curl -H 'Authorization: Basic [hidden]' x",
        ),
        (
            "curl -H 'Authorization: hunter' x",
            "curl -H 'Authorization: [hidden]' x",
        ),
        (
            "curl -H 'Cookie: session=hunter18; theme=dark' x",
            "curl -H 'Cookie: session=[hidden]; theme=[hidden]' x",
        ),
        (
            "curl http://h/?token=hunter17",
            "curl http://h/?token=[hidden]",
        ),
        (
            "curl 'http://h/?a=1&api_key=hunter17&b=2#c'",
            "curl 'http://h/?a=1&api_key=[hidden]&b=2#c'",
        ),
        (
            "{\"password\":\"hunter22\",\"a\":1}",
            "{\"password\":\"[hidden]\",\"a\":1}",
        ),
        (
            "{\"password\": \"hunter\", \"a\":1}",
            "{\"password\": \"[hidden]\", \"a\":1}",
        ),
        (
            "+-----BEGIN PRIVATE KEY-----\n+MIIEpAIBAAKCAQEAx7\n+MIIEpAIBAAKCAQEAx8==\n",
            "+-----BEGIN PRIVATE KEY-----\n+[hidden]\n+[hidden]\n",
        ),
        ("+  password: hunter22\n", "+  password: [hidden]\n"),
        ("-API_KEY=hunter22\n", "-API_KEY=[hidden]\n"),
        ("  - token: \"a-b1\"\n", "  - token: \"[hidden]\"\n"),
    ] {
        assert_eq!(masks().hide(text), want);
    }
}

#[test]
fn what_only_looks_like_an_option_for_one_stays() {
    for text in [
        "mkdir -p path",
        "cp -p a b",
        "docker run -p 80:80 -u 1000:1000 x",
        "docker run --user node:node x",
        "ssh -p 22 host",
        "mysql -p mydb",
        "mysql -u root -P 3306",
        "curl -u bob http://h",
        "curl -u \"$USER:$PASS\" x",
        "curl x; cp -u a:b c",
        "git log -u --format=a:b",
        "docker login -u a --password-stdin",
        "git commit -m 'fix token: expire earlier'",
        "+    token: String,",
        "+    pub password: Option<String>,",
        "key: cargo-v1",
        "http://h/?page=2&per_page=5",
        "cargo test basic one",
        "echo 'Password:' done",
    ] {
        assert!(
            matches!(masks().hide(text), Cow::Borrowed(_)),
            "{text}: {}",
            masks().hide(text)
        );
    }
}

/// Whatever stands before it, a command that ran is in the record.
#[test]
fn no_command_is_ever_hidden() {
    for before in [
        "grep 'password:' /etc/hostname",
        "grep \"password:\" /etc/hostname",
        "grep 'password:'x",
        "echo '-----BEGIN X PRIVATE KEY'",
        "echo '-----BEGIN X PRIVATE KEY-----'",
        "echo '-----BEGIN X PRIVATE KEY-----\nMIIEpAIBAAKCAQEAx7",
        "echo --password",
        "echo Bearer",
        "echo 'Cookie: a=b'",
        "echo 'Cookie: '",
        "echo 'X-Api-Key: '",
        "curl -u",
        "sshpass -p",
        "# don't\ngrep 'password:'x",
        "cat <<E\n'\nE\ngrep 'password:'x",
        "x=$'\\''; grep 'password:'x",
        "echo \\'; grep 'password:'x",
        "echo \"$(echo \"a\" 'b)\" 'password:'x",
        "eval PASSWORD='x",
        "eval 'PASSWORD=x",
        "sh -c TOKEN=\"x",
        "env -S TOKEN='x",
        "ssh h --password='x",
        "ssh h curl -u 'a:b",
        "declare -i TOKEN; TOKEN='a[$(x",
        "PASSWORD=\"x",
        "PASSWORD=",
        "PASSWORD=\"a\"",
        "bash -c \"PASSWORD='\"",
        "bash -c \"grep 'password:'x\"",
        "echo '{\"password\":\"'",
    ] {
        for between in ["; ", "\n", " && ", " | ", " $(", " `", "\"; ", "'; "] {
            for after in [
                "",
                "'",
                "\"",
                " 'x'",
                " \"x\"",
                "\n-----END X PRIVATE KEY-----; evil2 x",
            ] {
                let text = format!("{before}{between}evil -rf / > there{after}");
                // A quote that is open there for bash as well makes it a text, which nothing runs.
                let is_text = matches!(
                    (before, between),
                    ("PASSWORD=\"x", "; " | " && " | " | " | "'; ") | ("PASSWORD=", "\"; " | "'; ")
                );
                let hidden = masks().hide(&text).into_owned();
                let shown = hidden.contains("evil -rf / > there");
                assert!(shown || is_text, "{text}\n{hidden}");
                assert_eq!(hidden.contains("evil2"), text.contains("evil2"), "{hidden}");
            }
        }
    }
}

#[test]
fn a_coloured_secret_is_hidden_and_what_coloured_it_stays() {
    let text = "a s3cr\u{1b}[01;31m\u{1b}[K3t-va\u{1b}[m\u{1b}[Klue b \u{1b}[32mPASSWORD=\u{1b}[0mhunter22\u{1b}[m";
    assert_eq!(
        masks().hide(text),
        "a [hidden]\u{1b}[01;31m\u{1b}[K\u{1b}[m\u{1b}[K b \u{1b}[32mPASSWORD=\u{1b}[0m[hidden]\u{1b}[m"
    );
    let none = "\u{1b}[31mred\u{1b}[m \u{1b}]0;x\u{7} \u{1b}[";
    assert_eq!(masks().hide(none), none);
}
