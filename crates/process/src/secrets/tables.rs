//! Tables of the names and the forms of secrets.

/// Names that are not removed although they contain a listed word: they hold a path, a terminal or
/// a user's name. The proxies may contain a password, but no download works without them.
pub(super) const KEPT_NAMES: &[&str] = &[
    "SSH_AUTH_SOCK",
    "SSH_ASKPASS",
    "SSH_ASKPASS_REQUIRE",
    "GIT_ASKPASS",
    "SUDO_ASKPASS",
    "GPG_TTY",
    "GPG_AGENT_INFO",
    "GPG_KEY",
    "GPG_KEYID",
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

/// Names of secrets without a listed word; a `*` matches any beginning.
pub(super) const SECRET_NAMES: &[&str] = &[
    "PGPASSWORD",
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
    "AZURE_STORAGE_CONNECTION_STRING",
    "DOCKER_AUTH_CONFIG",
    "KUBECONFIG_DATA",
    "VAULT_UNSEAL",
    "*_AUTHTOKEN",
    "BW_SESSION",
    "CONNECTION_STRING",
    "CONNECTIONSTRING",
    "DSN",
    "WEBHOOK_URL",
    "*_WEBHOOK",
    "*_CONNECTION_STRING",
    "*_DSN",
    "*_WEBHOOK_URL",
];

/// Names that are removed unless the value is a path: a path to a secret is not a secret.
pub(super) const DROP_UNLESS_PATH: &[&str] = &["PGPASSFILE", "NETRC"];

/// A name whose last word is one of these holds a path as often as a secret: the variable is kept
/// if its value is a path.
pub(super) const SOMETIMES_PATH_WORDS: &[&str] = &["credential", "credentials", "creds", "pwd"];

/// A variable whose name contains one of these as a whole word holds a secret.
pub(super) const SECRET_WORDS: &[&str] = &[
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
    "mnemonic",
    "otp",
];

/// A variable whose name contains a word with one of these endings holds a secret.
pub(super) const SECRET_ENDINGS: &[&str] = &[
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
    "pw",
    "pwd",
];

/// Words with an ending of [`SECRET_ENDINGS`] that do not mean a secret.
pub(super) const HARMLESS_WORDS: &[&str] = &[
    "askpass",
    "bypass",
    "compass",
    "encompass",
    "multipass",
    "overpass",
    "trespass",
    "underpass",
    "initpwd",
    "oldpwd",
    "origpwd",
    "startpwd",
];

/// A variable whose name has one of these as its last word holds a secret.
pub(super) const LAST_WORDS: &[&str] = &["key", "keys", "auth", "authorization"];

/// A variable whose name has one of these as its last word holds a location, not a secret.
pub(super) const LOCATION_WORDS: &[&str] = &["file", "path", "dir", "directory", "sock", "socket"];

/// A variable whose name has one of these as its last word holds a property of a secret, such as
/// its type.
pub(super) const PROPERTY_WORDS: &[&str] = &[
    "expiration",
    "expires",
    "expiry",
    "permissions",
    "alg",
    "algorithm",
    "aud",
    "audience",
    "backend",
    "class",
    "cmd",
    "command",
    "complexity",
    "count",
    "days",
    "disabled",
    "domain",
    "duration",
    "enabled",
    "encoding",
    "endpoint",
    "env",
    "field",
    "format",
    "hasher",
    "hashers",
    "header",
    "helper",
    "host",
    "hostname",
    "hours",
    "httponly",
    "interval",
    "iss",
    "issuer",
    "iterations",
    "label",
    "length",
    "level",
    "lifetime",
    "manager",
    "minutes",
    "mode",
    "name",
    "names",
    "namespace",
    "param",
    "pattern",
    "policy",
    "port",
    "prefix",
    "prompt",
    "provider",
    "realm",
    "regex",
    "region",
    "release",
    "required",
    "retries",
    "rotation",
    "rounds",
    "samesite",
    "scheme",
    "scope",
    "scopes",
    "seconds",
    "secure",
    "stdin",
    "store",
    "strategy",
    "strength",
    "type",
    "types",
    "uri",
    "url",
    "validator",
    "validators",
    "var",
    "variable",
    "version",
];

/// The words that, before the last word `key`, make it the name of an entry rather than a secret.
pub(super) const KEY_KINDS: &[&str] = &[
    "cache",
    "column",
    "compose",
    "distribution",
    "foreign",
    "group",
    "hash",
    "index",
    "issue",
    "lookup",
    "map",
    "meta",
    "object",
    "partition",
    "primary",
    "project",
    "public",
    "range",
    "registry",
    "routing",
    "row",
    "shard",
    "sort",
    "unique",
];

/// A variable with one of these words in its name, and an amount or a duration as its value, holds
/// no secret.
pub(super) const QUANTITY_WORDS: &[&str] = &[
    "time",
    "max",
    "min",
    "maximum",
    "minimum",
    "num",
    "number",
    "count",
    "limit",
    "limits",
    "total",
    "budget",
    "per",
    "length",
    "len",
    "size",
    "ttl",
    "expiry",
    "expires",
    "expiration",
    "age",
    "timeout",
    "window",
    "rate",
    "quota",
];

/// Words that are amounts.
pub(super) const AMOUNT_WORDS: &[&str] = &[
    "auto",
    "default",
    "inf",
    "infinite",
    "infinity",
    "max",
    "min",
    "none",
    "null",
    "unlimited",
    "never",
];

/// Maximum length of an amount's unit: `ms`, `tokens`.
pub(super) const MAX_UNIT_LENGTH: usize = 7;

/// A variable whose name contains such a pair of adjacent words holds a secret.
pub(super) const SECRET_PAIRS: &[(&str, &str)] = &[
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
    ("seed", "phrase"),
    ("wallet", "seed"),
    ("unlock", "code"),
    ("recovery", "code"),
    ("recovery", "codes"),
    ("backup", "codes"),
];

/// Values that mean yes or no.
pub(super) const YES_NO_VALUES: &[&[u8]] = &[
    b"", b"true", b"false", b"yes", b"no", b"on", b"off", b"none",
];

/// The characters that follow a token's prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenLetters {
    /// Letters and digits.
    Alphanumeric,
    /// Letters, digits, `_` and `-`.
    Word,
    /// Upper-case letters and digits.
    Upper,
    /// Hexadecimal digits.
    Hex,
    /// Letters, digits and `_-.=+/~:`; not a path.
    Any,
    /// The characters of `Any`, and commas.
    List,
}

/// The format of a kind of token, as its issuer documents it for secret scanners.
#[derive(Debug)]
pub(super) struct TokenFormat {
    /// The issuer, or the use, of the token.
    pub(super) issuer: &'static str,
    pub(super) prefix: &'static str,
    pub(super) letters: TokenLetters,
    /// Minimum number of characters after the prefix.
    pub(super) min_length: usize,
    /// Maximum number of characters after the prefix.
    pub(super) max_length: usize,
}

const ANY_LENGTH: usize = usize::MAX;

const fn token(
    issuer: &'static str,
    prefix: &'static str,
    letters: TokenLetters,
    min_length: usize,
) -> TokenFormat {
    TokenFormat {
        issuer,
        prefix,
        letters,
        min_length,
        max_length: ANY_LENGTH,
    }
}

/// Returns the format of tokens that all have the same length.
const fn fixed(
    issuer: &'static str,
    prefix: &'static str,
    letters: TokenLetters,
    length: usize,
) -> TokenFormat {
    TokenFormat {
        issuer,
        prefix,
        letters,
        min_length: length,
        max_length: length,
    }
}

pub(super) const TOKEN_FORMATS: &[TokenFormat] = &[
    // Forges.
    token("github", "ghp_", TokenLetters::Alphanumeric, 16),
    token("github", "gho_", TokenLetters::Alphanumeric, 16),
    token("github", "ghu_", TokenLetters::Alphanumeric, 16),
    token("github", "ghs_", TokenLetters::Any, 16),
    token("github", "ghr_", TokenLetters::Alphanumeric, 16),
    token("github", "github_pat_", TokenLetters::Word, 16),
    token("gitlab", "glpat-", TokenLetters::Any, 16),
    token("gitlab", "gldt-", TokenLetters::Word, 16),
    token("gitlab", "glrt-", TokenLetters::Any, 16),
    token("gitlab", "glsoat-", TokenLetters::Word, 16),
    token("gitlab", "gloas-", TokenLetters::Word, 32),
    token("gitlab", "glptt-", TokenLetters::Word, 16),
    token("gitlab", "glcbt-", TokenLetters::Word, 16),
    token("gitlab", "glagent-", TokenLetters::Word, 32),
    token("gitlab", "glimt-", TokenLetters::Word, 16),
    token("atlassian", "ATATT3", TokenLetters::Any, 40),
    token("atlassian", "ATCTT3", TokenLetters::Any, 40),
    fixed("bitbucket", "ATBB", TokenLetters::Alphanumeric, 32),
    // Clouds.
    fixed("aws", "AKIA", TokenLetters::Upper, 16),
    fixed("aws", "ASIA", TokenLetters::Upper, 16),
    token("google", "AIza", TokenLetters::Word, 30),
    token("google", "ya29.", TokenLetters::Any, 16),
    token("google", "GOCSPX-", TokenLetters::Word, 24),
    token("render", "rnd_", TokenLetters::Alphanumeric, 24),
    token("heroku", "HRKU-", TokenLetters::Any, 36),
    token("neon", "napi_", TokenLetters::Alphanumeric, 40),
    token("dynatrace", "dt0c01.", TokenLetters::Any, 60),
    token("digitalocean", "dop_v1_", TokenLetters::Hex, 32),
    token("digitalocean", "doo_v1_", TokenLetters::Hex, 32),
    token("digitalocean", "dor_v1_", TokenLetters::Hex, 32),
    token("databricks", "dapi", TokenLetters::Hex, 32),
    token("fly", "FlyV1 ", TokenLetters::List, 16),
    token("fly", "fm1_", TokenLetters::Any, 40),
    token("fly", "fm2_", TokenLetters::Any, 40),
    token("fly", "fo1_", TokenLetters::Any, 24),
    token("vercel", "vcp_", TokenLetters::Alphanumeric, 24),
    token("vercel", "vca_", TokenLetters::Alphanumeric, 24),
    token("vercel", "vci_", TokenLetters::Alphanumeric, 24),
    token("vercel", "vcr_", TokenLetters::Alphanumeric, 24),
    token("vercel", "vck_", TokenLetters::Alphanumeric, 24),
    token("supabase", "sbp_", TokenLetters::Hex, 40),
    token("supabase", "sb_secret_", TokenLetters::Word, 20),
    token("planetscale", "pscale_tkn_", TokenLetters::Any, 24),
    token("planetscale", "pscale_pw_", TokenLetters::Any, 24),
    token("planetscale", "pscale_oauth_", TokenLetters::Any, 24),
    token("tailscale", "tskey-", TokenLetters::Word, 14),
    token("new relic", "NRAK-", TokenLetters::Upper, 24),
    token("new relic", "NRII-", TokenLetters::Word, 24),
    // Models.
    token("api", "sk-", TokenLetters::Word, 17),
    token("groq", "gsk_", TokenLetters::Alphanumeric, 32),
    token("xai", "xai-", TokenLetters::Alphanumeric, 32),
    token("perplexity", "pplx-", TokenLetters::Alphanumeric, 32),
    token("replicate", "r8_", TokenLetters::Alphanumeric, 32),
    token("hugging face", "hf_", TokenLetters::Alphanumeric, 30),
    token("nvidia", "nvapi-", TokenLetters::Word, 40),
    token("cerebras", "csk-", TokenLetters::Alphanumeric, 32),
    token("together", "tgp_v1_", TokenLetters::Word, 32),
    token("pinecone", "pcsk_", TokenLetters::Word, 40),
    token("tavily", "tvly-", TokenLetters::Word, 24),
    token("jina", "jina_", TokenLetters::Word, 40),
    token("langsmith", "lsv2_", TokenLetters::Word, 36),
    // Payments, mail, messengers.
    token("stripe", "sk_live_", TokenLetters::Alphanumeric, 12),
    token("stripe", "sk_test_", TokenLetters::Alphanumeric, 12),
    token("stripe", "rk_live_", TokenLetters::Alphanumeric, 12),
    token("stripe", "rk_test_", TokenLetters::Alphanumeric, 12),
    token("webhook", "whsec_", TokenLetters::Any, 16),
    token("shopify", "shpat_", TokenLetters::Hex, 32),
    token("shopify", "shpss_", TokenLetters::Hex, 32),
    token("shopify", "shpca_", TokenLetters::Hex, 32),
    token("shopify", "shppa_", TokenLetters::Hex, 32),
    token("square", "sq0csp-", TokenLetters::Word, 40),
    token("square", "sq0atp-", TokenLetters::Word, 20),
    fixed("razorpay", "rzp_live_", TokenLetters::Alphanumeric, 14),
    fixed("razorpay", "rzp_test_", TokenLetters::Alphanumeric, 14),
    token("sendgrid", "SG.", TokenLetters::Any, 20),
    fixed("mailgun", "key-", TokenLetters::Hex, 32),
    fixed("twilio", "SK", TokenLetters::Hex, 32),
    token("slack", "xoxb-", TokenLetters::Word, 15),
    token("slack", "xoxp-", TokenLetters::Word, 15),
    token("slack", "xoxa-", TokenLetters::Word, 15),
    token("slack", "xoxr-", TokenLetters::Word, 15),
    token("slack", "xoxs-", TokenLetters::Word, 15),
    token("slack", "xoxe-", TokenLetters::Word, 15),
    token("slack", "xoxe.xox", TokenLetters::Word, 15),
    token("slack", "xapp-", TokenLetters::Word, 15),
    // Packages, builds, secrets, tools.
    token("npm", "npm_", TokenLetters::Alphanumeric, 30),
    token("pypi", "pypi-AgE", TokenLetters::Word, 30),
    token("rubygems", "rubygems_", TokenLetters::Hex, 40),
    fixed("sonar", "sqp_", TokenLetters::Hex, 40),
    fixed("sonar", "squ_", TokenLetters::Hex, 40),
    fixed("sonar", "sqa_", TokenLetters::Hex, 40),
    token("posthog", "phx_", TokenLetters::Alphanumeric, 40),
    fixed("crates.io", "cio", TokenLetters::Alphanumeric, 32),
    token("docker", "dckr_pat_", TokenLetters::Word, 20),
    token("docker", "dckr_oat_", TokenLetters::Word, 20),
    token("buildkite", "bkua_", TokenLetters::Alphanumeric, 32),
    token("circleci", "CCIPAT_", TokenLetters::Word, 30),
    token("circleci", "CCIPRJ_", TokenLetters::Word, 30),
    token("vault", "hvs.", TokenLetters::Any, 16),
    token("vault", "hvb.", TokenLetters::Any, 16),
    token("1password", "ops_eyJ", TokenLetters::Any, 40),
    token("doppler", "dp.pt.", TokenLetters::Alphanumeric, 30),
    token("doppler", "dp.ct.", TokenLetters::Alphanumeric, 30),
    token("doppler", "dp.sa.", TokenLetters::Alphanumeric, 30),
    token("doppler", "dp.st.", TokenLetters::Any, 30),
    token("doppler", "dp.scim.", TokenLetters::Alphanumeric, 30),
    token("doppler", "dp.audit.", TokenLetters::Alphanumeric, 30),
    token("pulumi", "pul-", TokenLetters::Hex, 32),
    token("age", "AGE-SECRET-KEY-", TokenLetters::Upper, 16),
    token("grafana", "glsa_", TokenLetters::Word, 16),
    token("figma", "figd_", TokenLetters::Word, 16),
    token("sentry", "sntrys_", TokenLetters::Any, 16),
    token("sentry", "sntryu_", TokenLetters::Hex, 32),
    token("postman", "PMAK-", TokenLetters::Word, 24),
    token("linear", "lin_api_", TokenLetters::Alphanumeric, 16),
    token("notion", "ntn_", TokenLetters::Alphanumeric, 32),
    fixed("notion", "secret_", TokenLetters::Alphanumeric, 43),
    // Credentials in headers.
    token("bearer", "Bearer ", TokenLetters::Any, 13),
    token("basic", "Basic ", TokenLetters::Any, 14),
    token("web", "eyJhbGciOi", TokenLetters::Any, 10),
    token("web", "eyJ0eXAiOi", TokenLetters::Any, 10),
];

/// The middle of a `HashiCorp` token, with the minimum numbers of characters before and after it.
pub(super) const HASHICORP_INFIX: (&str, usize, usize) = (".atlasv1.", 14, 60);

/// A token of a Telegram bot: the minimum number of digits, the text after them, and the number of
/// characters that follow.
pub(super) const TELEGRAM_BOT: (usize, &str, usize) = (6, ":AA", 30);

/// Parts of addresses after which the rest is a secret.
pub(super) const SECRET_ADDRESSES: &[&str] = &[
    "://hooks.slack.com/services/",
    "://hooks.slack.com/workflows/",
    "://hooks.slack.com/triggers/",
    "://discord.com/api/webhooks/",
    "://discordapp.com/api/webhooks/",
    "://ptb.discord.com/api/webhooks/",
    "://canary.discord.com/api/webhooks/",
    ".webhook.office.com/webhookb2/",
    "://hooks.zapier.com/hooks/catch/",
];

/// A header, in lower case, that makes every value with it a secret.
pub(super) const SECRET_HEADER: &[u8] = b"authorization: ";

/// Fields of connection strings and URLs that hold a secret, in lower case.
pub(super) const SECRET_FIELDS: &[&[u8]] = &[
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

/// The parameter of a signed address (Azure's SAS), which grants access to its holder, and its
/// minimum length.
pub(super) const SIGNATURE_PARAMETER: (&str, usize) = ("sig", 20);
