//! Tables of the names and the forms of secrets.

use agent_bash_core::words;

/// Names that are not removed although they contain a listed word: they hold a path, a terminal or
/// a user's name. The proxies may contain a password, but no download works without them.
pub(super) const KEPT_NAMES: &[&str] = words![
    "SSH_AUTH_SOCK SSH_ASKPASS SSH_ASKPASS_REQUIRE GIT_ASKPASS SUDO_ASKPASS GPG_TTY GPG_AGENT_INFO",
    "GPG_KEY GPG_KEYID XAUTHORITY GIT_AUTHOR_* GIT_COMMITTER_* SSL_CERT_* GIT_CONFIG_KEY_*",
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY http_proxy https_proxy all_proxy ftp_proxy PWD",
    "OLDPWD",
];

/// Names of secrets without a listed word; a `*` matches any beginning or end.
pub(super) const SECRET_NAMES: &[&str] = words![
    "PGPASSWORD MYSQL_PWD SSHPASS REDISCLI_AUTH DATABASE_URL DATABASE_URI REDIS_URL MONGODB_URI",
    "MONGODB_URL MONGO_URL MONGO_URI AMQP_URL RABBITMQ_URL POSTGRES_URL POSTGRESQL_URL MYSQL_URL",
    "AZURE_STORAGE_CONNECTION_STRING DOCKER_AUTH_CONFIG KUBECONFIG_DATA VAULT_UNSEAL *_AUTHTOKEN",
    "OP_SESSION_* BW_SESSION CONNECTION_STRING CONNECTIONSTRING DSN WEBHOOK_URL *_WEBHOOK",
    "*_CONNECTION_STRING *_DSN *_WEBHOOK_URL",
];

/// Names that are removed unless the value is a path: a path to a secret is not a secret.
pub(super) const DROP_UNLESS_PATH: &[&str] = &["PGPASSFILE", "NETRC"];

/// A name whose last word is one of these holds a path as often as a secret: the variable is kept
/// if its value is a path.
pub(super) const SOMETIMES_PATH_WORDS: &[&str] = &["credential", "credentials", "creds", "pwd"];

/// A variable whose name contains one of these as a whole word holds a secret.
pub(super) const SECRET_WORDS: &[&str] = words![
    "token tokens secret secrets password passwords passwd pwd pass pw passphrase passcode pat",
    "apikey apikeys apitoken accesstoken authtoken secretkey privatekey credential credentials",
    "creds cred cookie cookies jwt bearer mnemonic otp",
];

/// A variable whose name contains a word with one of these endings holds a secret.
pub(super) const SECRET_ENDINGS: &[&str] = words![
    "password passwd passphrase pass secret token apikey secretkey privatekey accesskey",
    "credentials pw pwd",
];

/// Words with an ending of [`SECRET_ENDINGS`] that do not mean a secret.
pub(super) const HARMLESS_WORDS: &[&str] = words![
    "askpass bypass compass encompass multipass overpass trespass underpass initpwd oldpwd origpwd",
    "startpwd",
];

/// A variable whose name has one of these as its last word holds a secret.
pub(super) const LAST_WORDS: &[&str] = &["key", "keys", "auth", "authorization"];

/// A variable whose name has one of these as its last word holds a location, not a secret.
pub(super) const LOCATION_WORDS: &[&str] = &["file", "path", "dir", "directory", "sock", "socket"];

/// A variable whose name has one of these as its last word holds a property of a secret, such as
/// its type.
pub(super) const PROPERTY_WORDS: &[&str] = words![
    "expiration expires expiry permissions alg algorithm aud audience backend class cmd command",
    "complexity count days disabled domain duration enabled encoding endpoint env field format",
    "hasher hashers header helper host hostname hours httponly interval iss issuer iterations",
    "label length level lifetime manager minutes mode name names namespace param pattern policy",
    "port prefix prompt provider realm regex region release required retries rotation rounds",
    "samesite scheme scope scopes seconds secure stdin store strategy strength type types uri url",
    "validator validators var variable version",
];

/// The words that, before the last word `key`, make it the name of an entry rather than a secret.
pub(super) const KEY_KINDS: &[&str] = words![
    "cache column compose distribution foreign group hash index issue lookup map meta object",
    "partition primary project public range registry routing row shard sort unique",
];

/// A variable with one of these words in its name, and an amount or a duration as its value, holds
/// no secret.
pub(super) const QUANTITY_WORDS: &[&str] = words![
    "time max min maximum minimum num number count limit limits total budget per length len size",
    "ttl expiry expires expiration age timeout window rate quota",
];

/// Words that are amounts.
pub(super) const AMOUNT_WORDS: &[&str] =
    words!["auto default inf infinite infinity max min none null unlimited never"];

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

/// The middle of a `HashiCorp` token, with the minimum numbers of characters before and after it.
pub(super) const HASHICORP_INFIX: (&str, usize, usize) = (".atlasv1.", 14, 60);

/// A token of a Telegram bot: the minimum number of digits, the text after them, and the number of
/// characters that follow.
pub(super) const TELEGRAM_BOT: (usize, &str, usize) = (6, ":AA", 30);

/// Parts of addresses after which the rest is a secret.
pub(super) const SECRET_ADDRESSES: &[&str] = words![
    "://hooks.slack.com/services/ ://hooks.slack.com/workflows/ ://hooks.slack.com/triggers/",
    "://discord.com/api/webhooks/ ://discordapp.com/api/webhooks/",
    "://ptb.discord.com/api/webhooks/ ://canary.discord.com/api/webhooks/",
    ".webhook.office.com/webhookb2/ ://hooks.zapier.com/hooks/catch/",
];

/// A part of every address in [`SECRET_ADDRESSES`].
pub(super) const SECRET_ADDRESS_MARK: &[u8] = b"hook";

/// A header, in lower case, that makes every value with it a secret.
pub(super) const SECRET_HEADER: &[u8] = b"authorization: ";

/// Fields of connection strings and URLs that hold a secret, in lower case.
pub(super) const SECRET_FIELDS: &[&[u8]] = &[
    b"password=", b"passwd=", b"pwd=", b"accountkey=", b"sharedaccesskey=",
    b"sharedaccesssignature=", b"secret=", b"access_token=", b"api_key=", b"apikey=",
];

/// The parameter of a signed address (Azure's SAS), which grants access to its holder, and its
/// minimum length.
pub(super) const SIGNATURE_PARAMETER: (&str, usize) = ("sig", 20);
