use super::*;

fn is_secret(name: &str, value: &str) -> bool {
    SecretFilter::default().is_secret(OsStr::new(name), OsStr::new(value))
}

#[test]
fn secrets_by_name() {
    for name in [
        "GITHUB_TOKEN",
        "NPM_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_SESSION_TOKEN",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "apiKey",
        "APIKey",
        "MyApiKey2",
        "DB_PASSWORD",
        "DB_PASS",
        "MYSQL_PWD",
        "PGPASSWORD",
        "SSHPASS",
        "REDISCLI_AUTH",
        "DATABASE_URL",
        "SENTRY_DSN",
        "SLACK_WEBHOOK_URL",
        "GH_PAT",
        "SESSION_COOKIE",
        "MY_JWT",
        "SIGNING_KEYS",
        "SSH_PRIVATE_KEY",
        "VAULT_TOKEN1",
        "clientSecret",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "DOCKER_AUTH_CONFIG",
        "PGPASSFILE",
        "AZURE_CLIENT_SECRET",
        "KEY",
        "API_KEY_2",
        "GPG_PASSPHRASE",
        "token",
        "X_BEARER",
        "CREDS",
        "DBPASSWORD",
        "MYAPIKEY",
        "GITHUBTOKEN",
        "ROOT_PW",
        "LDAP_BIND_PW",
        "TOKENS",
        "BASIC_AUTH",
        "NPM_CONFIG__AUTH",
        "COMPOSER_AUTH",
        "BW_SESSION",
        "DISCORD_WEBHOOK",
        "CONNECTION_STRING",
        "PGPASS",
        "AWSSECRETKEY",
    ] {
        assert!(is_secret(name, "x"), "{name} must go");
    }
}

#[test]
fn names_that_only_look_like_secrets_stay() {
    for name in [
        "KEYBOARD_LAYOUT",
        "TOKENIZERS_PARALLELISM",
        "GOPRIVATE",
        "AUTHOR",
        "SSH_AUTH_SOCK",
        "GPG_TTY",
        "XAUTHORITY",
        "GIT_AUTHOR_NAME",
        "GIT_COMMITTER_EMAIL",
        "SSL_CERT_FILE",
        "SSH_ASKPASS",
        "PWD",
        "OLDPWD",
        "PATH",
        "HOME",
        "PASSENGER_ROOT",
        "COMPASS",
        "MONKEY",
        "MAX_TOKENS",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_SHARED_CREDENTIALS_FILE",
        "DB_PASSWORD_FILE",
        "PUBLIC_KEY",
        "SSH_PUBLIC_KEY",
        "COLORTERM",
        "GIT_CONFIG_KEY_0",
        "GIT_CONFIG_COUNT",
        "SYSTEMD_ASKPASS",
        "PATTERN",
        "KEYMAP",
        "XDG_RUNTIME_DIR",
        "BYPASS",
        "SECRETARY",
        "LESSKEYS",
        "HISTCONTROL",
        "DBUS_SESSION_BUS_ADDRESS",
    ] {
        assert!(!is_secret(name, "x"), "{name} must stay");
    }
}

#[test]
fn secrets_by_value() {
    for value in [
        "-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
        "postgres://user:hunter2@db:5432/x",
        "see https://u:p@host/ for more",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "sk-ant-api03-abcdefghijklmnop",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
        "Bearer abcdefghijklmnopqrst",
        "Server=db;Uid=x;Password=y",
        "jdbc:postgresql://db/x?user=a&password=b",
        "AUTHORIZATION: basic s3cr3t",
        "https://discord.com/api/webhooks/1/x",
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=y==",
    ] {
        assert!(is_secret("INNOCENT", value), "{value} must go");
    }
    for value in [
        "https://host:8080/path@x",
        "https://user@host/",
        "ssh://git@host:22/x",
        "user:password@host",
        "sk-short",
        "npm_modules are in here, all of them",
        "SG",
        "http://[::1]:80/",
        "hf_/home/models/of/mine",
        "a://b",
        "-----BEGIN PUBLIC KEY-----\nabc",
        "-----BEGIN CERTIFICATE-----\nabc",
        "?password=",
        "prompt for password= here",
        "--password=$PASS",
        "://",
        "://:@",
    ] {
        assert!(!is_secret("INNOCENT", value), "{value} must stay");
    }
    assert!(
        !is_secret(
            "GIT_AUTHOR_NAME",
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
        ),
        "keep wins"
    );
}

#[test]
fn numbers_and_switches_stay_and_so_do_proxies() {
    for (name, value, expect) in [
        ("MAX_TOKENS", "4096", false),
        ("OPENAI_MAX_TOKENS", "4096", false),
        ("TOKEN_TTL", "3600", false),
        ("MAX_TOKENS", "s3cr3t", true),
        ("DISABLE_AUTH", "1", false),
        ("USE_AUTH", "true", false),
        ("BASIC_AUTH", "user:x", true),
        ("HTTPS_PROXY", "http://u:p@proxy:3128", false),
        ("https_proxy", "http://u:p@proxy:3128", false),
        ("PIP_INDEX_URL", "https://u:p@index/simple", true),
        ("GIT_CONFIG_VALUE_0", "AUTHORIZATION: basic x", true),
        ("GIT_CONFIG_VALUE_0", "*", false),
    ] {
        assert_eq!(is_secret(name, value), expect, "{name}={value}");
    }
}

#[test]
fn every_part_can_be_switched() {
    let none = SecretFilter {
        keep: vec![],
        drop: vec![],
        by_name: false,
        by_value: false,
    };
    assert!(!none.is_secret(
        OsStr::new("GITHUB_TOKEN"),
        OsStr::new("ghp_abcdefghijklmnopqrstuvwxyz01")
    ));
    let own = SecretFilter {
        drop: vec!["MINE_*".into()],
        ..none.clone()
    };
    assert!(own.is_secret(OsStr::new("MINE_X"), OsStr::new("")));
    let kept = SecretFilter {
        keep: vec!["GITHUB_TOKEN".into()],
        ..SecretFilter::default()
    };
    assert!(!kept.is_secret(OsStr::new("GITHUB_TOKEN"), OsStr::new("x")));
}
