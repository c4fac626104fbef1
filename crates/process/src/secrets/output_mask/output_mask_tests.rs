//! Tests of masked output. Tokens are put together from parts, so that no scanner takes this file
//! for one with secrets.

use super::*;
use agent_bash_core::{OutputPiece, masked_part, masked_text};
use std::fmt::Write as _;

/// Random letters and digits, in the order in which tokens use them.
const ALNUM: &str = "r4Jx9QmT2wLz7KdV5bHs1NfYc8GpA3eUi6RoXqW0tBvMkSjDnEgCaPhFyZlOuI4r9J";
const HEX: &str = "3f9a1c07e5d2b8460fa9c3e17d5b2846a0c9e3f71b5d2846";
const UPPER: &str = "Q7ZK2MX9TR4WB6NV3HD8JF5LPCQ7ZK2MX9TR4WB6NV3H";

fn mask(variables: &[(&str, &str)], forms: bool) -> SecretMask {
    let variables = variables.iter();
    let variables = variables.map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
    SecretMask::new(variables, &SecretFilter::default(), forms)
}

fn whole(mask: &SecretMask, text: &str) -> String {
    masked_text(Some(mask), text).into_owned()
}

/// Masks a text that arrives in chunks of `size` bytes.
fn chunked(mask: &SecretMask, text: &str, size: usize) -> String {
    let (mut shown, mut printed) = (Vec::new(), 0);
    let mut out = |piece: OutputPiece<'_>| {
        shown.extend_from_slice(piece.shown());
        printed += piece.printed_bytes();
    };
    let mut stream = mask.stream();
    for chunk in text.as_bytes().chunks(size) {
        stream.push(chunk, &mut out);
    }
    stream.finish(&mut out);
    assert_eq!(printed, text.len(), "the pieces account for every byte");
    assert_eq!(stream.held_bytes(), 0);
    String::from_utf8(shown).unwrap()
}

/// One secret of each form, and the name of its mask.
fn forms() -> Vec<(String, &'static str)> {
    let mut all = Vec::new();
    let mut add = |prefix: &str, rest: &str, length: usize, name| {
        all.push((format!("{prefix}{}", &rest[..length]), name));
    };
    for (prefix, length, name) in [
        ("ghp_", 36, "github token"),
        ("gho_", 36, "github token"),
        ("ghu_", 36, "github token"),
        ("ghs_", 36, "github token"),
        ("ghr_", 36, "github token"),
        ("github_pat_11AB_", 59, "github token"),
        ("glpat-", 20, "gitlab token"),
        ("gldt-", 20, "gitlab token"),
        ("glrt-", 20, "gitlab token"),
        ("ATATT3xFf", 60, "atlassian token"),
        ("ATBB", 32, "bitbucket token"),
        ("AIzaSy", 33, "google token"),
        ("ya29.", 60, "google token"),
        ("FlyV1 fm2_", 60, "fly token"),
        ("fo1_", 43, "fly token"),
        ("vcp_", 40, "vercel token"),
        ("sb_secret_", 31, "supabase token"),
        ("pscale_tkn_", 43, "planetscale token"),
        ("pscale_pw_", 43, "planetscale token"),
        ("tskey-auth-", 30, "tailscale token"),
        ("sk-proj-", 48, "api token"),
        ("sk-ant-api03-", 60, "api token"),
        ("gsk_", 52, "groq token"),
        ("xai-", 60, "xai token"),
        ("pplx-", 48, "perplexity token"),
        ("r8_", 37, "replicate token"),
        ("hf_", 34, "hugging face token"),
        ("nvapi-", 60, "nvidia token"),
        ("sk_live_", 24, "stripe token"),
        ("sk_test_", 24, "stripe token"),
        ("rk_live_", 24, "stripe token"),
        ("whsec_", 32, "webhook token"),
        ("SG.", 60, "sendgrid token"),
        ("xoxb-17653672481-19874698323-", 24, "slack token"),
        ("xoxp-17653672481-19874698323-", 24, "slack token"),
        ("xapp-1-A0123456789-", 24, "slack token"),
        ("npm_", 36, "npm token"),
        ("pypi-AgEIcHlwaS5vcmc", 60, "pypi token"),
        ("cio", 32, "crates.io token"),
        ("dckr_pat_", 27, "docker token"),
        ("bkua_", 40, "buildkite token"),
        ("CCIPAT_", 40, "circleci token"),
        ("hvs.", 60, "vault token"),
        ("hvb.", 60, "vault token"),
        ("ops_eyJ", 60, "1password token"),
        ("dp.pt.", 43, "doppler token"),
        ("dp.st.prd.", 43, "doppler token"),
        ("glsa_", 41, "grafana token"),
        ("figd_", 40, "figma token"),
        ("sntrys_", 60, "sentry token"),
        ("PMAK-", 59, "postman token"),
        ("lin_api_", 40, "linear token"),
        ("ntn_", 46, "notion token"),
        ("secret_", 43, "notion token"),
        ("eyJhbGciOiJIUzI1NiJ9.", 60, "web token"),
        ("eyJ0eXAiOiJKV1QifQ.", 60, "web token"),
        ("8314159265:AA", 33, "telegram token"),
        ("Zq3Yw8Rt6Lk1Mn.atlasv1.", 64, "terraform token"),
    ] {
        add(prefix, ALNUM, length, name);
    }
    for (prefix, length, name) in [
        ("dop_v1_", 48, "digitalocean token"),
        ("dapi", 32, "databricks token"),
        ("sbp_", 40, "supabase token"),
        ("e2b_", 40, "e2b token"),
        ("shpat_", 32, "shopify token"),
        ("key-", 32, "mailgun token"),
        ("SK", 32, "twilio token"),
        ("pul-", 40, "pulumi token"),
    ] {
        add(prefix, HEX, length, name);
    }
    for (prefix, length, name) in [
        ("AKIA", 16, "aws token"),
        ("ASIA", 16, "aws token"),
        ("NRAK-", 27, "new relic token"),
        ("AGE-SECRET-KEY-1", 40, "age token"),
    ] {
        add(prefix, UPPER, length, name);
    }
    all
}

/// Partly masked secrets: the text, and what is shown.
fn partly_masked() -> Vec<(String, String)> {
    let (random, key) = (&ALNUM[..40], &ALNUM[..64]);
    let of = |before: &str, secret: &str, after: &str, name: &str| {
        (
            format!("{before}{secret}{after}"),
            format!("{before}‹{name}›{after}"),
        )
    };
    vec![
        of("Bearer ", random, "", "bearer token"),
        of(
            "Authorization: Basic ", "dXNlcjpodW50ZXIy", "\"", "authorization",
        ),
        of("authorization: token ", random, "'", "authorization"),
        of("https://bob:", "hunter2", "@example.org/x.git", "password"),
        of(
            "https://x:",
            &format!("ghp_{}", &ALNUM[..36]),
            "@github.com/",
            "github token",
        ),
        of("postgres://u:", "p%40ss", "@db:5432/app", "password"),
        of(
            "Server=db;Uid=a;Password=", "hunt3r!", ";Port=1", "password",
        ),
        of(
            "AccountName=a;AccountKey=",
            &format!("{key}=="),
            ";",
            "azure key",
        ),
        of("aws_secret_access_key = ", random, "\n", "aws secret key"),
        of("\"SecretAccessKey\": \"", random, "\"", "aws secret key"),
        of(
            "https://hooks.slack.com/services/",
            &format!("T0A/B0B/{}", &ALNUM[..24]),
            "",
            "webhook",
        ),
        of(
            "https://a.blob.core.windows.net/c?sv=2024&sig=",
            "a%2Bb4XyZ9kLm0pQ8rStUv%3D",
            "&se=1",
            "signature",
        ),
    ]
}

#[test]
fn each_form_is_masked_whole_and_in_chunks() {
    let mask = mask(&[], true);
    assert!(forms().len() >= 64, "{}", forms().len());
    for (secret, name) in forms() {
        // The FlyV1 prefix is a scheme, as in a header.
        let kept = if secret.starts_with("FlyV1 ") {
            "FlyV1 "
        } else {
            ""
        };
        let shown = format!("{kept}‹{name}›");
        for (before, after) in [
            ("", ""),
            ("", "\n"),
            ("TOKEN=", "\n"),
            ("x \"", "\", y"),
            ("{\"a\": \"b\\n", "\"}"),
            ("url?token=", "&x=1"),
            ("'", "'"),
            ("see (", ")."),
            ("\u{1b}[32m", "\u{1b}[m\n"),
        ] {
            let text = format!("{before}{secret}{after}");
            let expected = format!("{before}{shown}{after}");
            assert_eq!(whole(&mask, &text), expected);
            for size in [1, 3, 16] {
                assert_eq!(chunked(&mask, &text, size), expected, "{size}");
            }
        }
    }
}

#[test]
fn secret_part_of_a_text_is_masked() {
    let mask = mask(&[], true);
    for (text, shown) in partly_masked() {
        assert_eq!(whole(&mask, &text), shown);
        for size in [1, 5, 17] {
            assert_eq!(chunked(&mask, &text, size), shown, "{size}");
        }
    }
}

#[test]
fn forms_are_not_masked_with_known_values_only() {
    let mask = mask(&[("API_TOKEN", "hunter16")], false);
    for (secret, _) in forms() {
        assert_eq!(whole(&mask, &secret), secret);
    }
}

#[test]
fn similar_texts_stay_as_they_are() {
    let mask = mask(&[], true);
    for text in [
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "ghp_your_token_goes_here_and_so_on_and_on",
        "GITHUB_TOKEN=ghp_...",
        "task-4Jx9QmT2wLz7KdV5bHs1",
        "sk-learn-compatible-estimators",
        "disk-sk-1",
        "hf_hub_download hf_transformers_library",
        "cache-key-d41d8cd98f00b204e9800998ecf8427e",
        "Basic Authentication is used. Basic authorization/2.0:",
        "Bearer authentication",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer {token}",
        "authorization: the process of granting",
        "https://localhost:8080/@scope/name",
        "https://user:$PASSWORD@host ssh://git@host:22/x",
        "https://user:***@host https://user:<redacted>@host",
        "sig=abc &sig=short",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n",
        "-----BEGIN PUBLIC KEY-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n",
        "AKIAXXXXXXXXXXXXXXXX ASIAPACIFICREGIONALS",
        "npm_config_registry npm_package_json_version_number_of_this",
        "secret_key_base SECRET_ACCESS_KEY",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "key-value SG.1 r8_1 AKIA SK",
        "12:34:AAaa 2026-11-28T12:00:00Z",
        "50%\r60%\r70%",
    ] {
        assert_eq!(whole(&mask, text), text);
        assert_eq!(chunked(&mask, text, 3), text);
    }
}

#[test]
fn known_values_are_masked_whole_and_in_chunks() {
    let mask = mask(
        &[
            ("GITHUB_TOKEN", "s3cr3t/val+ue=="),
            ("API_KEY", "hunter2-hunter2"),
            ("PGPASSWORD", "postgres"),
            ("DB_PASSWORD", "tab\tquote\"x"),
            ("OTHER_KEY", "hunter2-hunter2-long"),
            ("EDITOR", "hunter3-hunter3"),
            ("SHORT_TOKEN", "abc"),
            ("KEY_PATH_TOKEN", "/home/user/token"),
        ],
        false,
    );
    for (text, shown) in [
        ("a s3cr3t/val+ue== b", "a ‹GITHUB_TOKEN› b"),
        ("xs3cr3t/val+ue==x", "x‹GITHUB_TOKEN›x"),
        ("?t=s3cr3t%2Fval%2Bue%3D%3D&", "?t=‹GITHUB_TOKEN›&"),
        ("hunter2-hunter2", "‹API_KEY›"),
        ("hunter2-hunter2-long!", "‹OTHER_KEY›!"),
        ("hunter2-hunter2-lo", "‹API_KEY›-lo"),
        ("hunter2-hunter", "hunter2-hunter"),
        ("hunter2-hunter2hunter2-hunter2", "‹API_KEY›‹API_KEY›"),
        ("{\"p\":\"tab\\tquote\\\"x\"}", "{\"p\":\"‹DB_PASSWORD›\"}"),
        ("tab\tquote\"x", "‹DB_PASSWORD›"),
        (
            "postgres postgresql my_postgres (postgres)",
            "‹PGPASSWORD› postgresql my_postgres (‹PGPASSWORD›)",
        ),
        (
            "hunter3-hunter3 abc /home/user/token",
            "hunter3-hunter3 abc /home/user/token",
        ),
        (
            "hun\u{1b}[1mter2-hunt\u{1b}[mer2.",
            "‹API_KEY›\u{1b}[1m\u{1b}[m.",
        ),
    ] {
        assert_eq!(whole(&mask, text), shown);
        for size in 1..12 {
            assert_eq!(chunked(&mask, text, size), shown, "{size}");
        }
    }
}

#[test]
fn lines_of_a_known_value_are_masked_one_by_one() {
    let key = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{}\n{}\n-----END RSA PRIVATE KEY-----\n",
        &ALNUM[..64],
        &ALNUM[1..65]
    );
    let document = format!(
        "{{\n  \"type\": \"service_account\",\n  \"key\": \"{}\"\n}}",
        &ALNUM[..40]
    );
    let mask = mask(
        &[("DEPLOY_KEY", &key), ("ACCOUNT_SECRET", &document)],
        false,
    );
    // A page that begins in the middle has the second line only.
    assert_eq!(
        whole(&mask, &format!("{}\nx", &ALNUM[1..65])),
        "‹DEPLOY_KEY›\nx"
    );
    let shown = whole(&mask, &key);
    assert!(
        shown.starts_with("-----BEGIN") && !shown.contains(&ALNUM[1..20]),
        "{shown}"
    );
    let other = "{\n  \"type\": \"service_account\",\n}";
    assert_eq!(whole(&mask, other), other);
    assert_eq!(
        whole(&mask, &document.replace('\n', "\\n").replace('"', "\\\"")),
        "‹ACCOUNT_SECRET›"
    );
}

fn private_key(lines: usize) -> String {
    let mut key = String::from("-----BEGIN OPENSSH PRIVATE KEY-----\n");
    for line in 0..lines {
        let at = line % 5;
        writeln!(key, "{}", &ALNUM[at..at + 60]).unwrap();
    }
    key.push_str("-----END OPENSSH PRIVATE KEY-----\n");
    key
}

#[test]
fn private_key_is_masked_in_any_chunks_and_formats() {
    let mask = mask(&[], true);
    let key = private_key(40);
    let expected = format!(
        "before\n-----BEGIN OPENSSH PRIVATE KEY-----\n{}-----END OPENSSH PRIVATE KEY-----\n{}\n",
        "‹private key›\n".repeat(40),
        &ALNUM[..60],
    );
    let text = format!("before\n{key}{}\n", &ALNUM[..60]);
    for size in [1, 7, 64, 100, 1000, 100_000] {
        assert_eq!(chunked(&mask, &text, size), expected, "{size}");
    }
    let prefixed = |prefix: &str| {
        let lines = key.lines().flat_map(|line| [prefix, line, "\n"]);
        lines.collect::<String>()
    };
    let diff = prefixed("+");
    assert!(whole(&mask, &diff).contains("\n+‹private key›\n"));
    let json = key.replace('\n', "\\n");
    assert!(whole(&mask, &json).contains("KEY-----\\n‹private key›\\n‹private key›\\n"));
    let numbered = prefixed("  12\t");
    assert!(whole(&mask, &numbered).contains("\n  12\t‹private key›\n"));
}

#[test]
fn key_without_an_end_stops_at_other_output() {
    let mask = mask(&[], true);
    let other = "src/main.rs: fn main\n".repeat(8);
    let text = format!("-----BEGIN RSA PRIVATE KEY-----\n{other}{}\n", &ALNUM[..60]);
    assert_eq!(whole(&mask, &text), text);
}

#[test]
fn long_secret_is_masked_in_bounded_memory() {
    let mask = mask(&[], true);
    let mut stream = mask.stream();
    let mut shown = Vec::new();
    let mut out = |piece: OutputPiece<'_>| shown.extend_from_slice(piece.shown());
    stream.push(b"x eyJhbGciOiJIUzI1NiJ9.", &mut out);
    for _ in 0..10_000 {
        stream.push(ALNUM.as_bytes(), &mut out);
        assert!(stream.held_bytes() <= 17 * 1024);
    }
    stream.push(b" y\n", &mut out);
    stream.finish(&mut out);
    assert_eq!(String::from_utf8(shown).unwrap(), "x ‹web token› y\n");
}

#[test]
fn output_that_cannot_begin_a_secret_is_not_held() {
    let mask = mask(&[("API_KEY", "hunter2-hunter2")], true);
    for (text, held) in [
        ("Password: ", 0),
        ("[y/N] ", 0),
        ("...............", 1),
        ("a line\n", 0),
        ("100%", 0),
        ("an API key hunter2-hun", 11),
        ("x ghp_4Jx9QmT2wLz", 15),
        ("\u{1b}[1", 3),
    ] {
        let mut stream = mask.stream();
        stream.push(text.as_bytes(), &mut |_| {});
        assert_eq!(stream.held_bytes(), held, "{text}");
    }
}

#[test]
fn part_of_an_output_is_masked_as_in_the_whole() {
    let secret = "hunter2-hunter2";
    let mask = mask(&[("API_KEY", secret)], true);
    let text = format!("one {secret} two\n{}three", private_key(3));
    let value = 4..4 + secret.len();
    for from in (0..text.len()).step_by(3) {
        for to in [from + 1, from + 9, from + 70, text.len()] {
            let to = to.min(text.len());
            let (before, rest) = text.as_bytes().split_at(from);
            let (part, after) = rest.split_at(to - from);
            let masked = masked_part(&mask, before, part, after, true);
            let shown = String::from_utf8_lossy(&masked.bytes).into_owned();
            assert_eq!(masked.held, 0);
            let printed: usize = masked.pieces().map(OutputPiece::printed_bytes).sum();
            assert_eq!(printed, part.len(), "{from}..{to}");
            let joined: Vec<u8> = masked
                .pieces()
                .flat_map(|piece| piece.shown().to_vec())
                .collect();
            assert_eq!(joined, masked.bytes);
            if value.contains(&from) {
                assert!(shown.starts_with("‹API_KEY›"), "{from}..{to}: {shown}");
            }
            for length in [20, 2] {
                let piece = &ALNUM[3..3 + length];
                assert!(!shown.contains(piece), "{from}..{to}: {shown}");
            }
        }
    }
}

#[test]
fn undecided_end_of_a_part_is_held() {
    let mask = mask(&[("API_KEY", "hunter2-hunter2")], false);
    let masked = masked_part(&mask, b"", b"x hunter2-", b"", false);
    assert_eq!((masked.bytes.as_slice(), masked.held), (&b"x "[..], 8));
    let masked = masked_part(&mask, b"", b"x hunter2-", b"hunter2", false);
    assert_eq!(
        (masked.bytes.as_slice(), masked.held),
        ("x ‹API_KEY›".as_bytes(), 0)
    );
}

/// Returns what a command prints in the repository.
#[expect(
    clippy::disallowed_methods,
    reason = "the output of real programs is examined"
)]
fn printed_by(program: &str, arguments: &[&str]) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let output = std::process::Command::new(program)
        .args(arguments)
        .current_dir(root)
        .output();
    String::from_utf8_lossy(&output.unwrap().stdout).into_owned()
}

/// Returns lines of random data as programs print it: digests, identifiers, Base64.
fn random_lines(count: u64) -> String {
    const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut text = String::new();
    for line in 0..count {
        let (a, b, c, d) = (next(), next(), next(), next());
        match line % 4 {
            0 => writeln!(text, "{a:016x}{b:016x}{c:016x}{d:016x}  src/file_{line}.rs"),
            1 => writeln!(
                text,
                "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
                a as u32,
                b as u16,
                c & 0xfff,
                d & 0xfff,
                (a ^ d) & 0xffff_ffff_ffff
            ),
            2 => {
                let letters = (0..76).map(|_| char::from(BASE64[(next() % 64) as usize]));
                writeln!(text, "{}", letters.collect::<String>())
            }
            _ => writeln!(
                text,
                "integrity sha512-{}== key-{a:016x} v1.{line}.0 https://registry.example/{b:x}.tgz",
                (0..86)
                    .map(|_| char::from(BASE64[(next() % 64) as usize]))
                    .collect::<String>()
            ),
        }
        .unwrap();
    }
    text
}

#[test]
fn ten_thousand_lines_of_real_output_have_no_secret() {
    let mask = mask(&[("API_KEY", "hunter2-hunter2")], true);
    let texts = [
        include_str!("captured/tree_and_listing.txt").to_owned(),
        printed_by("git", &["log", "--stat", "--format=fuller"]),
        printed_by("git", &["ls-files", "--stage"]),
        printed_by("ls", &["-lR", "--full-time", "crates", "docs"]),
        printed_by("cat", &["Cargo.lock"]),
        random_lines(8000),
    ];
    let lines: usize = texts.iter().map(|text| text.lines().count()).sum();
    assert!(lines >= 10_000, "{lines}");
    for text in texts {
        let shown = whole(&mask, &text);
        let wrong: Vec<_> = text
            .lines()
            .zip(shown.lines())
            .filter(|(a, b)| a != b)
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
