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

/// Makes the formats. A row has the issuer, the letters, the minimum and the maximum length, and
/// prefixes.
macro_rules! formats {
    ($($issuer:literal $letters:ident $min:tt $max:tt: $($prefix:literal)+;)*) => {
        &[$($(TokenFormat {
            issuer: $issuer,
            prefix: $prefix,
            letters: TokenLetters::$letters,
            min_length: $min,
            max_length: $max,
        },)+)*]
    };
}

pub(super) const TOKEN_FORMATS: &[TokenFormat] = formats! {
    // Forges.
    "github" Alphanumeric 16 ANY_LENGTH: "ghp_" "gho_" "ghu_" "ghr_";
    "github" Any 16 ANY_LENGTH: "ghs_";
    "github" Word 16 ANY_LENGTH: "github_pat_";
    "gitlab" Any 16 ANY_LENGTH: "glpat-" "glrt-";
    "gitlab" Word 16 ANY_LENGTH: "gldt-" "glsoat-" "glptt-" "glcbt-" "glimt-";
    "gitlab" Word 32 ANY_LENGTH: "gloas-" "glagent-";
    "atlassian" Any 40 ANY_LENGTH: "ATATT3" "ATCTT3";
    "bitbucket" Alphanumeric 32 32: "ATBB";
    // Clouds.
    "aws" Upper 16 16: "AKIA" "ASIA";
    "google" Word 30 ANY_LENGTH: "AIza";
    "google" Any 16 ANY_LENGTH: "ya29.";
    "google" Word 24 ANY_LENGTH: "GOCSPX-";
    "render" Alphanumeric 24 ANY_LENGTH: "rnd_";
    "heroku" Any 36 ANY_LENGTH: "HRKU-";
    "neon" Alphanumeric 40 ANY_LENGTH: "napi_";
    "dynatrace" Any 60 ANY_LENGTH: "dt0c01.";
    "digitalocean" Hex 32 ANY_LENGTH: "dop_v1_" "doo_v1_" "dor_v1_";
    "databricks" Hex 32 ANY_LENGTH: "dapi";
    "fly" List 16 ANY_LENGTH: "FlyV1 ";
    "fly" Any 40 ANY_LENGTH: "fm1_" "fm2_";
    "fly" Any 24 ANY_LENGTH: "fo1_";
    "vercel" Alphanumeric 24 ANY_LENGTH: "vcp_" "vca_" "vci_" "vcr_" "vck_";
    "supabase" Hex 40 ANY_LENGTH: "sbp_";
    "supabase" Word 20 ANY_LENGTH: "sb_secret_";
    "planetscale" Any 24 ANY_LENGTH: "pscale_tkn_" "pscale_pw_" "pscale_oauth_";
    "tailscale" Word 14 ANY_LENGTH: "tskey-";
    "new relic" Upper 24 ANY_LENGTH: "NRAK-";
    "new relic" Word 24 ANY_LENGTH: "NRII-";
    // Models.
    "api" Word 17 ANY_LENGTH: "sk-";
    "groq" Alphanumeric 32 ANY_LENGTH: "gsk_";
    "xai" Alphanumeric 32 ANY_LENGTH: "xai-";
    "perplexity" Alphanumeric 32 ANY_LENGTH: "pplx-";
    "replicate" Alphanumeric 32 ANY_LENGTH: "r8_";
    "hugging face" Alphanumeric 30 ANY_LENGTH: "hf_";
    "nvidia" Word 40 ANY_LENGTH: "nvapi-";
    "cerebras" Alphanumeric 32 ANY_LENGTH: "csk-";
    "together" Word 32 ANY_LENGTH: "tgp_v1_";
    "pinecone" Word 40 ANY_LENGTH: "pcsk_";
    "tavily" Word 24 ANY_LENGTH: "tvly-";
    "jina" Word 40 ANY_LENGTH: "jina_";
    "langsmith" Word 36 ANY_LENGTH: "lsv2_";
    "e2b" Hex 40 ANY_LENGTH: "e2b_";
    // Payments, mail, messengers.
    "stripe" Alphanumeric 12 ANY_LENGTH: "sk_live_" "sk_test_" "rk_live_" "rk_test_";
    "webhook" Any 16 ANY_LENGTH: "whsec_";
    "shopify" Hex 32 ANY_LENGTH: "shpat_" "shpss_" "shpca_" "shppa_";
    "square" Word 40 ANY_LENGTH: "sq0csp-";
    "square" Word 20 ANY_LENGTH: "sq0atp-";
    "razorpay" Alphanumeric 14 14: "rzp_live_" "rzp_test_";
    "sendgrid" Any 20 ANY_LENGTH: "SG.";
    "mailgun" Hex 32 32: "key-";
    "twilio" Hex 32 32: "SK";
    "slack" Word 15 ANY_LENGTH: "xoxb-" "xoxp-" "xoxa-" "xoxr-" "xoxs-" "xoxe-" "xoxe.xox" "xapp-";
    // Packages, builds, secrets, tools.
    "npm" Alphanumeric 30 ANY_LENGTH: "npm_";
    "pypi" Word 30 ANY_LENGTH: "pypi-AgE";
    "rubygems" Hex 40 ANY_LENGTH: "rubygems_";
    "sonar" Hex 40 40: "sqp_" "squ_" "sqa_";
    "posthog" Alphanumeric 40 ANY_LENGTH: "phx_";
    "crates.io" Alphanumeric 32 32: "cio";
    "docker" Word 20 ANY_LENGTH: "dckr_pat_" "dckr_oat_";
    "buildkite" Alphanumeric 32 ANY_LENGTH: "bkua_";
    "circleci" Word 30 ANY_LENGTH: "CCIPAT_" "CCIPRJ_";
    "vault" Any 16 ANY_LENGTH: "hvs." "hvb.";
    "1password" Any 40 ANY_LENGTH: "ops_eyJ";
    "doppler" Alphanumeric 30 ANY_LENGTH: "dp.pt." "dp.ct." "dp.sa." "dp.scim." "dp.audit.";
    "doppler" Any 30 ANY_LENGTH: "dp.st.";
    "pulumi" Hex 32 ANY_LENGTH: "pul-";
    "age" Upper 16 ANY_LENGTH: "AGE-SECRET-KEY-";
    "grafana" Word 16 ANY_LENGTH: "glsa_";
    "figma" Word 16 ANY_LENGTH: "figd_";
    "sentry" Any 16 ANY_LENGTH: "sntrys_";
    "sentry" Hex 32 ANY_LENGTH: "sntryu_";
    "postman" Word 24 ANY_LENGTH: "PMAK-";
    "linear" Alphanumeric 16 ANY_LENGTH: "lin_api_";
    "notion" Alphanumeric 32 ANY_LENGTH: "ntn_";
    "notion" Alphanumeric 43 43: "secret_";
    // Credentials in headers.
    "bearer" Any 13 ANY_LENGTH: "Bearer ";
    "basic" Any 14 ANY_LENGTH: "Basic ";
    "web" Any 10 ANY_LENGTH: "eyJhbGciOi" "eyJ0eXAiOi";
};
