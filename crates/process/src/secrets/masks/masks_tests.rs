//! Tests of the selection of masked texts.

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

/// Checks that exactly the parts between `«` and `»` are hidden.
fn assert_hides(marked: &str) {
    let parts = marked.split(['«', '»']).enumerate();
    let expected: String = parts
        .map(|(index, part)| if index % 2 == 0 { part } else { "[hidden]" })
        .collect();
    let text = marked.replace(['«', '»'], "");
    assert_eq!(masks().hide(&text), expected);
}

#[test]
fn hide_masks_secrets() {
    for marked in [
        "curl -H «s3cr3t-value» x",
        "a\"«s3cr3t-value»\"b",
        "PASSWORD=«hunter22» make",
        "export PASSWORD='«hunter 22»'; make",
        "mysql --password=«hunter22» -e x",
        "login --password «hunter22» --user me",
        "curl -H 'Authorization: Bearer «abcdef»' x",
        "git clone https://me:«hunter22»@example.org/a.git",
        "echo «ghp_0123456789abcdefghijABCDEFGHIJ012345» | x",
        "x=«ghp_0123456789abcdefghijABCDEFGHIJ012345»",
        "a\n-----BEGIN RSA PRIVATE KEY-----\n«MIIEpAIBAAKCAQEAx7»\n«MIIEpAIBAAKCAQEAx8==»\n-----END RSA PRIVATE KEY-----; b",
        "KEY=\"«-----BEGIN PRIVATE KEY-----\\nMIIEpAIBAAKCAQEAx7\\nMIIEpAIBAAKCAQEAx8==\\n-----END»\"",
        "{\"a\": \"-----BEGIN PRIVATE KEY-----\\n«MIIEpAIBAAKCAQEAx7»\\n-----END\"",
        "PASSWORD='«a;b c»' make",
        "if x; then A=1 PASSWORD='«a;b c»' make; fi",
        "login --password '«hunter» 22' x",
        "sh -c \"PASSWORD='«hunter22»' make\"",
    ] {
        assert_hides(marked);
    }
}

#[test]
fn hide_preserves_texts_without_secrets() {
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
fn hide_preserves_text_if_filter_is_off() {
    let filter = SecretFilter {
        by_name: false,
        by_value: false,
        ..SecretFilter::default()
    };
    let masks = Masks::new([], filter);
    assert_eq!(masks.hide("PASSWORD=hunter22"), "PASSWORD=hunter22");
}

#[test]
fn hide_masks_credentials_of_programs() {
    for marked in [
        "curl -u bob:«passw0rd» x",
        "curl -ubob:«passw0rd» x",
        "curl -sSu bob:«passw0rd» x",
        "curl -u 'bob:«pass» word' x",
        "/usr/bin/curl --user bob:«x»",
        "curl --user=bob:«x» y",
        "sudo curl -d 'a;b' -u me:«x»",
        "curl \\\n -u me:«x»",
        "docker login -u a -p «hunter12» r",
        "docker login -u a -p«hunter12»",
        "mysql -uroot -p«hunter4» -e x",
        "mysqldump -p'«hunter» 4' db",
        "sshpass -p «hunter3» ssh a",
        "sshpass -p«hunter3» ssh a",
        "redis-cli -a «hunter3» ping",
        "curl -H 'X-Api-Key: «hunter11»' x",
        "curl -H 'X-Api-Key: «hunter»' x",
        "curl -H X-Api-Key:«hunter11» x",
        "curl -H 'Authorization: token «abc»' x",
        "curl -H 'Authorization: Basic «YTpi»' x",
        "curl -H 'Authorization: «hunter»' x",
        "curl -H 'Cookie: session=«hunter18»; theme=«dark»' x",
        "curl http://h/?token=«hunter17»",
        "curl 'http://h/?a=1&api_key=«hunter17»&b=2#c'",
        "{\"password\":\"«hunter22»\",\"a\":1}",
        "{\"password\": \"«hunter»\", \"a\":1}",
        "+-----BEGIN PRIVATE KEY-----\n+«MIIEpAIBAAKCAQEAx7»\n+«MIIEpAIBAAKCAQEAx8==»\n",
        "+  password: «hunter22»\n",
        "-API_KEY=«hunter22»\n",
        "  - token: \"«a-b1»\"\n",
    ] {
        assert_hides(marked);
    }
}

#[test]
fn hide_masks_credentials_in_more_command_lines() {
    for marked in [
        "curl -b 'session=«hunter18»; theme=«dark»' x",
        "curl -b session=«hunter18» x",
        "curl --cookie 'a=«hunter18»' x",
        "echo «hunter22» | docker login -u me --password-stdin r",
        "echo '«hunter22»' | docker login --password-stdin",
        "printf %s «hunter22» | gh auth login --with-token",
        "echo root:«hunter22» | chpasswd",
        "echo 'root:«hunter22»' | sudo chpasswd",
        "npm config set //registry.npmjs.org/:_authToken=«hunter22»",
        "npm config set //registry.npmjs.org/:_authToken «hunter22»",
        "echo '//r.example.org/:_authToken=«hunter22»' >> ~/.npmrc",
        "echo 'machine h.example.org login me password «hunter22»' >> ~/.netrc",
        "printf 'machine h\\nlogin me\\npassword «hunter22»' > n",
        "cat >n <<E\nmachine h\nlogin me\npassword «hunter22»\nE\n",
        "echo default login me password «hunter22»",
        "openssl enc -aes256 -k «hunter22» -in x",
        "openssl rsa -in x -passin pass:«hunter22»",
        "kubectl create secret generic x --from-literal=a=«hunter22»",
        "kubectl create secret generic x --from-literal a=«hunter22»",
        "gh secret set NAME -b «hunter22»",
        "gh secret set NAME --body «hunter22»",
        "aws configure set aws_secret_access_key «hunter22»",
        "mongosh -u me -p «hunter22» db",
        "htpasswd -b file me «hunter22»",
        "htpasswd -cb file me «hunter22»",
        "htpasswd -nb me «hunter22»",
        "zip -P «hunter22» a.zip b",
        "7z a -p«hunter22» a.7z b",
        "curl https://hooks.slack.com/services/«T000/B000/abc123» -d x",
        "curl 'https://discord.com/api/webhooks/«123/abc»'",
        "azcopy cp 'https://x.blob.core.windows.net/c?sv=1&sig=«abcdefghij0123456789%3D»&se=2' .",
        "curl https://api.telegram.org/bot«123456789:AAaB3dE6gH9jK2mN5pQ8sT1vW4yZ7aB3dE6»/getMe",
    ] {
        assert_hides(marked);
    }
}

#[test]
fn hide_preserves_options_that_only_look_like_credentials() {
    for text in [
        "curl -b cookies.txt http://h",
        "curl -b $COOKIES http://h",
        "echo reboot | sh docker login --password-stdin",
        "echo reboot | bash -s docker login --password-stdin",
        "echo reboot | docker run -i x",
        "echo reboot | sudo -S sh",
        "llm --max-tokens 4096 --token-type jwt x",
        "serve --cookie-domain example.org",
        "echo rm -rf x | docker login --password-stdin",
        "echo \"$TOKEN\" | docker login --password-stdin",
        "make | docker login --password-stdin",
        "echo x && docker login --password-stdin",
        "npm config set registry https://r.example.org/",
        "git config user.name me",
        "git config credential.helper store",
        "aws configure set region eu-west-1",
        "kubectl get secret x -o yaml",
        "kubectl create configmap x --from-literal=a=b",
        "openssl rsa -in x -passin env:PASS",
        "the machine has a login and a password prompt",
        "gh pr create -b body",
        "zip -r a.zip b",
        "tar -P x",
        "htpasswd -c file me",
        "mkdir -p 7z",
        "let filter = SecretFilter::default();",
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

/// The record shows every command that ran, whatever text precedes it.
#[test]
fn hide_never_masks_a_command() {
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
        "echo 'machine h login me password'",
        "htpasswd -nb me",
        "aws configure set aws_secret_access_key",
        "kubectl create secret --from-literal",
        "curl -b",
        "echo x | docker login --password-stdin",
        "echo x",
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
                // In these cases, bash also sees an open quote, so the text is not a command.
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
fn hide_masks_coloured_secret_and_preserves_its_colours() {
    let text = "a s3cr\u{1b}[01;31m\u{1b}[K3t-va\u{1b}[m\u{1b}[Klue b \u{1b}[32mPASSWORD=\u{1b}[0mhunter22\u{1b}[m";
    assert_eq!(
        masks().hide(text),
        "a [hidden]\u{1b}[01;31m\u{1b}[K\u{1b}[m\u{1b}[K b \u{1b}[32mPASSWORD=\u{1b}[0m[hidden]\u{1b}[m"
    );
    let none = "\u{1b}[31mred\u{1b}[m \u{1b}]0;x\u{7} \u{1b}[";
    assert_eq!(masks().hide(none), none);
}
