//! What secrets are called, and what they look like. Tables only.

/// Kept: their names contain a listed word, but they hold a path, a terminal or a user's name. Or they are needed
/// even if they contain a password: no download gets through a proxy without it.
pub(super) const KEEP: &[&str] = &[
    "SSH_AUTH_SOCK",
    "SSH_ASKPASS",
    "SSH_ASKPASS_REQUIRE",
    "GIT_ASKPASS",
    "SUDO_ASKPASS",
    "GPG_TTY",
    "GPG_AGENT_INFO",
    "XAUTHORITY",
    "GIT_AUTHOR_*",
    "GIT_COMMITTER_*",
    "SSL_CERT_*",
    "GIT_CONFIG_KEY_*",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "FTP_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "ftp_proxy",
    "PWD",
    "OLDPWD",
];

/// Removed by exact name, as no word in them says what they are.
pub(super) const DROP: &[&str] = &[
    "PGPASSWORD",
    "PGPASSFILE",
    "MYSQL_PWD",
    "SSHPASS",
    "REDISCLI_AUTH",
    "DATABASE_URL",
    "DATABASE_URI",
    "REDIS_URL",
    "MONGODB_URI",
    "MONGODB_URL",
    "MONGO_URL",
    "MONGO_URI",
    "AMQP_URL",
    "RABBITMQ_URL",
    "POSTGRES_URL",
    "POSTGRESQL_URL",
    "MYSQL_URL",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "AZURE_STORAGE_CONNECTION_STRING",
    "DOCKER_AUTH_CONFIG",
    "NETRC",
    "KUBECONFIG_DATA",
    "VAULT_UNSEAL",
    "*_AUTHTOKEN",
    "BW_SESSION",
    "CONNECTION_STRING",
    "CONNECTIONSTRING",
    "DSN",
    "*_WEBHOOK",
    "*_CONNECTION_STRING",
    "*_DSN",
    "*_WEBHOOK_URL",
];

/// A name that contains one of these as a whole word is that of a secret.
pub(super) const WORDS: &[&str] = &[
    "token",
    "tokens",
    "secret",
    "secrets",
    "password",
    "passwords",
    "passwd",
    "pwd",
    "pass",
    "pw",
    "passphrase",
    "passcode",
    "pat",
    "apikey",
    "apikeys",
    "apitoken",
    "accesstoken",
    "authtoken",
    "secretkey",
    "privatekey",
    "credential",
    "credentials",
    "creds",
    "cred",
    "cookie",
    "cookies",
    "jwt",
    "bearer",
    "otp",
];

/// Words that end like this are compounds of a listed word.
pub(super) const ENDINGS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pass",
    "secret",
    "token",
    "apikey",
    "secretkey",
    "privatekey",
    "accesskey",
    "credentials",
];

/// Words with such an ending that are not.
pub(super) const NO_SECRETS: &[&str] = &[
    "askpass",
    "bypass",
    "compass",
    "encompass",
    "multipass",
    "overpass",
    "trespass",
    "underpass",
];

/// A name whose last word is one of these is that of a secret.
pub(super) const LAST_WORDS: &[&str] = &["key", "keys", "auth"];

/// A name whose last word is one of these says where something is, not what it is.
pub(super) const PLACES: &[&str] = &["file", "path", "dir", "directory", "sock", "socket"];

/// A name with one of these words and a numeric value is an amount or a duration.
pub(super) const QUANTITIES: &[&str] = &[
    "max", "min", "num", "count", "limit", "total", "budget", "per", "length", "size", "ttl",
    "expiry", "expires", "timeout", "window",
];

/// A name that contains two such adjacent words is that of a secret.
pub(super) const PAIRS: &[(&str, &str)] = &[
    ("api", "key"),
    ("access", "key"),
    ("secret", "key"),
    ("private", "key"),
    ("signing", "key"),
    ("encryption", "key"),
    ("master", "key"),
    ("ssh", "key"),
    ("account", "key"),
    ("client", "secret"),
    ("service", "account"),
];

/// Values that mean yes or no.
pub(super) const SWITCHES: &[&[u8]] = &[
    b"", b"true", b"false", b"yes", b"no", b"on", b"off", b"none",
];

/// Prefixes of well-known tokens, as their issuers document them for secret scanners.
pub(super) const TOKEN_PREFIXES: &[&str] = &[
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "gldt-",
    "glrt-",
    "glsa_",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxr-",
    "xoxs-",
    "xapp-",
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "rk_test_",
    "whsec_",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "npm_",
    "pypi-",
    "dop_v1_",
    "doo_v1_",
    "hf_",
    "SG.",
    "shpat_",
    "shpss_",
    "lin_api_",
    "tskey-",
    "hvs.",
    "hvb.",
    "dapi",
    "figd_",
    "sntrys_",
    "PMAK-",
    "pul-",
    "AGE-SECRET-KEY-",
    "Bearer ",
    "Basic ",
    "eyJhbGciOi",
];

/// Minimum length of a token; shorter values with such a prefix are something else.
pub(super) const TOKEN_LENGTH: usize = 20;

/// Parts, in lower case, that make a value a secret wherever they occur: a header, and addresses that are
/// themselves secret.
pub(super) const SECRET_PARTS: &[&[u8]] = &[
    b"authorization: ",
    b"://hooks.slack.com/services/",
    b"discord.com/api/webhooks/",
    b"discordapp.com/api/webhooks/",
];

/// Fields of connection strings and URLs that hold a secret, in lower case.
pub(super) const FIELDS: &[&[u8]] = &[
    b"password=",
    b"passwd=",
    b"pwd=",
    b"accountkey=",
    b"sharedaccesskey=",
    b"sharedaccesssignature=",
    b"secret=",
    b"access_token=",
    b"api_key=",
    b"apikey=",
];
