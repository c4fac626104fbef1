//! The formats of tokens, by their issuers.

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
    token("e2b", "e2b_", TokenLetters::Hex, 40),
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
