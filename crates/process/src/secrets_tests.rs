use super::*;

fn is_secret(name: &str, value: &str) -> bool {
    SecretFilter::default().is_secret(OsStr::new(name), OsStr::new(value))
}

#[test]
fn every_secret_address_contains_the_mark() {
    for address in tables::SECRET_ADDRESSES {
        let mark = values::find(address.as_bytes(), tables::SECRET_ADDRESS_MARK);
        assert!(mark.is_some(), "{address}");
    }
}

#[test]
fn is_secret_recognises_names() {
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
        "OP_SESSION_MY",
        "DISCORD_WEBHOOK",
        "CONNECTION_STRING",
        "PGPASS",
        "AWSSECRETKEY",
        "ROOTPW",
        "LDAP_ROOTPW",
        "DBPWD",
        "VAULT_SECRET_ID",
        "NETRC",
        "HTTP_AUTHORIZATION",
        "MNEMONIC",
        "SEED_PHRASE",
        "WALLET_SEED",
        "RECOVERY_CODES",
        "WEBHOOK_URL",
    ] {
        assert!(is_secret(name, "x"), "{name} must go");
    }
}

#[test]
fn is_secret_is_false_for_similar_names() {
    for name in [
        "KEYBOARD_LAYOUT", "TOKENIZERS_PARALLELISM", "GOPRIVATE", "AUTHOR", "SSH_AUTH_SOCK",
        "GPG_TTY", "XAUTHORITY", "GIT_AUTHOR_NAME", "GIT_COMMITTER_EMAIL", "SSL_CERT_FILE",
        "SSH_ASKPASS", "PWD", "OLDPWD", "PATH", "HOME", "PASSENGER_ROOT", "COMPASS", "MONKEY",
        "MAX_TOKENS", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_SHARED_CREDENTIALS_FILE",
        "DB_PASSWORD_FILE", "PUBLIC_KEY", "SSH_PUBLIC_KEY", "COLORTERM", "GIT_CONFIG_KEY_0",
        "GIT_CONFIG_COUNT", "SYSTEMD_ASKPASS", "PATTERN", "KEYMAP", "XDG_RUNTIME_DIR", "BYPASS",
        "SECRETARY", "LESSKEYS", "HISTCONTROL", "DBUS_SESSION_BUS_ADDRESS",
    ] {
        assert!(!is_secret(name, "x"), "{name} must stay");
    }
}

#[test]
fn is_secret_is_false_for_properties_of_secrets() {
    for (name, value) in [
        ("MAX_TOKENS", "100k"),
        ("MAX_TOKENS", "1_000_000"),
        ("TOKEN_LIMIT", "unlimited"),
        ("TOKEN_LIMIT", "32000 tokens"),
        ("PASSWORD_MIN_LENGTH", "12"),
        ("PASSWORD_MAX_AGE", "90d"),
        ("TOKEN_RATE_LIMIT", "100/min"),
        ("JWT_EXPIRES_IN_SECONDS", "3600"),
        ("JWT_EXPIRATION", "15m"),
        ("COOKIE_DOMAIN", ".example.org"),
        ("SESSION_COOKIE_SECURE", "true"),
        ("SESSION_COOKIE_NAME", "session"),
        ("COOKIE_SAMESITE", "lax"),
        ("JWT_ALGORITHM", "RS256"),
        ("JWT_ISSUER", "https://login.example.org/"),
        ("OAUTH_TOKEN_URL", "https://login.example.org/token"),
        ("API_KEY_HEADER", "X-Api-Key"),
        ("PASSWORD_HASHER", "argon2"),
        ("SECRETS_BACKEND", "vault"),
        ("TOKEN_TYPE", "bearer"),
        ("OTP_VERSION", "26.2"),
        ("SONAR_PROJECT_KEY", "my-project"),
        ("SORT_KEY", "name"),
        ("PRIMARY_KEY", "id"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/u/key.json"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "./key.json"),
        ("PGPASSFILE", "/home/u/.pgpass"),
        ("NETRC", "~/.netrc"),
        ("BUILD_PWD", "/build/x"),
        ("TOKEN_BUDGET", "1e6"),
        ("PASSWORD_STORE_CLIP_TIME", "45"),
        ("MYSQL_ALLOW_EMPTY_PASSWORD", "yes"),
        ("TWO_PASS", "true"),
        ("AWS_CREDENTIAL_EXPIRATION", "2026-11-27T12:00:00Z"),
        ("GITHUB_TOKEN_PERMISSIONS", "read"),
        ("GPG_KEY", "7169605F62C751356D054A26A821E680E5FA6305"),
    ] {
        assert!(!is_secret(name, value), "{name}={value} must stay");
    }
    for (name, value) in [
        (
            "GOOGLE_APPLICATION_CREDENTIALS",
            "{\"type\": \"service_account\"}",
        ),
        ("MAX_TOKENS", "hunter22"),
        ("TOKEN_NAME", "aB3dE6gH9jK2mN5pQ8sT"),
        ("PASSWORD", "12"),
        ("COOKIE", "a=b"),
        ("SIGNING_KEY", "x"),
        ("API_KEY", "42"),
        ("DB_PWD", "hunter2"),
    ] {
        assert!(is_secret(name, value), "{name}={value} must go");
    }
}

/// The tokens are invented, in the format that each issuer documents.
#[test]
fn is_secret_recognises_tokens_of_many_issuers() {
    let (b, h) = (
        "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7aB3dE6gH9jK2mN5pQ8sT1vW4yZ7aB3dE6g",
        "0123456789abcdef0123456789abcdef01234567",
    );
    let (b20, b32, b36) = (&b[..20], &b[..32], &b[..36]);
    for value in [
        format!("gsk_{}", &b[..52]),
        format!("xai-{b}"),
        format!("r8_{}", &b[..37]),
        format!("pplx-{}", &b[..48]),
        format!("123456789:AA{}", &b[..33]),
        format!("https://api.telegram.org/bot123456789:AA{}/getMe", &b[..33]),
        format!("dckr_pat_{}", &b[..27]),
        format!("FlyV1 fm2_{b},fm2_{b}"),
        format!("fo1_{b}"),
        format!("vcp_{}", &b[..56]),
        format!("SK{}", &h[..32]),
        format!("key-{}", &h[..32]),
        format!("{}.atlasv1.{b}a-_", &b[..14]),
        "NRAK-ABCDEFGHIJ0123456789ABCDEFG".to_owned(),
        format!("ntn_12345678901{}", &b[..35]),
        format!("pscale_tkn_{b32}-_x"),
        format!("sbp_{h}"),
        format!("sb_secret_{b20}_abc"),
        format!("ops_eyJ{b}{b}"),
        format!("dp.pt.{}", &b[..43]),
        format!("dp.st.dev.{}", &b[..43]),
        format!("bkua_{h}"),
        format!("CCIPAT_{}_{h}", &b[..22]),
        format!("ATATT3{b}{b}=0A1B2C3D"),
        format!("cio{b32}"),
        format!("https://x.blob.core.windows.net/c?sv=2024-01-01&sig={b32}%3D&se=2026"),
        format!(
            "https://hooks.slack.com/services/T0000000/B0000000/{}",
            &b[..24]
        ),
        format!("https://discord.com/api/webhooks/123456789012345678/{b}"),
        format!("npm_{b36}"),
        format!("GOCSPX-{}", &b[..28]),
        format!("rnd_{}", &b[..28]),
        format!("csk-{}", &b[..48]),
        format!("tgp_v1_{}", &b[..43]),
        format!("glsoat-{b20}"),
        format!("rubygems_{h}{}", &h[..8]),
        format!("pcsk_{b20}_{b36}"),
        format!("xoxe.xoxp-1-{b36}"),
        format!("squ_{h}"),
        format!("rzp_live_{}", &b[..14]),
    ] {
        assert!(is_secret("INNOCENT", &value), "{value} must go");
    }
    for value in [
        "npm_config_update_notifier_of_long_name",
        "sk-learn-contrib-classification-models",
        "key-value-store-implementation-notes",
        "gsk_something_with_a_long_name_of_words",
        "SKIPPED_BY_CONFIGURATION_OF_THE_TEST",
        "pypi-server-with-a-rather-long-name-2",
        "hf_transfer_enabled_for_all_downloads_1",
        "SG.some.module.with.a.long.name",
        "12:AA of the day",
        "2026-11-27T12:00:00:AAxx",
        "https://example.org/?sig=short",
        "https://hooks.slack.com/services/",
        "a.atlasv1.b",
        "cio_something_of_thirty_two_letters_",
        "dapi-documentation-of-databricks-2",
        "pcsk_a_name_of_several_words_that_is_long_enough",
        "rnd_values_for_the_test_of_the_generator",
        "jina_embeddings_of_the_second_version_of_the_model",
    ] {
        assert!(!is_secret("INNOCENT", value), "{value} must stay");
    }
}

#[test]
fn is_secret_recognises_values() {
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
fn is_secret_is_false_for_amounts_switches_and_proxies() {
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
fn each_part_of_the_filter_can_be_switched_off() {
    let none = SecretFilter {
        keep: vec![],
        drop: vec![],
        always: vec![],
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
    let mut kept = SecretFilter {
        keep: vec!["GITHUB_TOKEN".into()],
        ..SecretFilter::default()
    };
    let is_secret =
        |filter: &SecretFilter| filter.is_secret(OsStr::new("GITHUB_TOKEN"), OsStr::new("x"));
    assert!(!is_secret(&kept));
    kept.always.push("GITHUB_TOKEN".to_owned());
    assert!(is_secret(&kept));
}
