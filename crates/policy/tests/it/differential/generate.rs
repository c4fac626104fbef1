//! Random scripts: a command in one of many spellings, in nested contexts.

/// A generated script.
pub(crate) struct Generated {
    pub(crate) text: String,
    /// True if forbidden commands occur only as data.
    pub(crate) harmless: bool,
}

const FORBIDDEN: [&[&str]; 12] = [
    &["rm", "-rf", "/"],
    &["rm", "-r", "-f", "/"],
    &["rm", "-fr", "--", "/"],
    &["rm", "--recursive", ".git"],
    &["rm", "-rf", "build", "."],
    &["rm", "/", "-R"],
    &["git", "add", "-A"],
    &["git", "add", "."],
    &["git", "add", "--all"],
    &["git", "push", "-f"],
    &["git", "push", "--force", "origin"],
    &["git", "push", "origin", "+main"],
];

const HARMLESS: [&[&str]; 6] = [
    &["rm", "-rf", "build"],
    &["rm", "-f", "x"],
    &["git", "add", "a.txt"],
    &["git", "push", "origin", "main"],
    &["echo", "a"],
    &["git", "status"],
];

/// Contexts that run the command `C`. Each ends with a newline, so that a heredoc in it can end.
const RUNS: [&str; 60] = [
    "true; C",
    "true && C",
    "false || C",
    "true\nC",
    "# x\nC",
    "true & C",
    "( C\n)",
    "{ C\n}",
    "((C\n) )",
    "if true; then C\nfi",
    "if C\nthen :; fi",
    "if false; then :; else C\nfi",
    "if false; then :; elif C\nthen :; fi",
    "while C\ndo break; done",
    "while true; do C\nbreak; done",
    "until C\ndo break; done",
    "for i in 1; do C\ndone",
    "for i in 1; { C\n}",
    "for ((i=0;i<1;i++)); do C\ndone",
    "case x in x) C\n;; esac",
    "case x in (y) ;; (*) C\nesac",
    "case x in x) ;& y) C\n;; esac",
    "f() { C\n}; f",
    "function f { C\n}\nf",
    "f() { C\n}; f x; f x",
    "g() { C\n}; f() { g; g; }; f; f",
    "if false; then x=1; else x=2; fi; for i in $x; do C\ndone",
    "f() (C\n); f",
    "echo $(C\n)",
    "echo \"$(C\n)\"",
    "echo \"a ${x:-$(C\n)} b\"",
    "x=$(C\n)",
    "x=1 y=$(C\n) true",
    "echo $(echo $(C\n))",
    "a=(1 $(C\n))",
    "cat <(C\n)",
    "{ C\n} | cat",
    "echo x | { C\n}",
    "{ C\n} |& cat",
    "! { C\n}",
    "time { C\n}",
    "time -p C",
    "! C",
    "coproc { C\n}\nwait",
    "coproc X { C\n}\nwait",
    "{ C\n} &\nwait",
    "[[ -n $(C\n) ]]",
    "[ -n \"$(C\n)\" ]",
    "(( 1 + $(C\n)0 ))",
    "echo $((1 + $(C\n)0))",
    "cat <<E\n$(C\n)\nE\n",
    "cat <<-E\n\tx $(C\n)\n\tE\n",
    "cat <<A <<B; C\na\nA\nb\nB\n",
    "cat <<'A' && C\n$(x)\nA\n",
    "cat <<A || :; C\nit's \"x\nA\n",
    "echo x >/dev/null; C",
    "select i in a; do C\nbreak; done <<< 1",
    "set -- a b; C",
    "shopt -s extglob\nC",
    "exec 3>/dev/null; C",
];

/// Contexts that run the text `Q`, which is in single quotes.
const RUN_TEXTS: [&str; 34] = [
    "eval Q",
    "bash -c Q",
    "sh -c Q",
    "bash -ec Q x y",
    "bash <<< Q",
    "echo Q | bash",
    "printf '%s\\n' Q | sh",
    "printf %s Q | cat | bash -s",
    "trap Q EXIT",
    "x=Q; eval \"$x\"",
    "x=Q; bash -c \"$x\"",
    "source <(echo Q)",
    ". /dev/stdin <<< Q",
    "bash <(echo Q)",
    "env bash -c Q",
    "timeout 5 bash -c Q",
    "echo Q > s.sh; bash s.sh",
    "f() { eval \"$1\"; }; f Q",
    "f() { eval \"$1\"; }; f true; f Q",
    "f() { eval \"$x\"; }; x=true; f; x=Q; f",
    "g() { bash; }; f() { g; }; f <<< true; f <<< Q",
    "g() { eval \"$y\"; }; f() { y=$x; g; }; x=true; f; x=Q; f",
    "exec <<< Q; bash",
    "bash -s x <<< Q",
    "\"$BASH\" -c Q",
    "echo Q >&1 | bash",
    "x=(true Q); for i in 0 1; do eval \"${x[$i]}\"; done",
    "declare -A x=([a]=true [b]=Q); eval \"${x[b]}\"",
    "if false; then x=true; else x=Q; fi; eval \"$x\"",
    "case x in y) c=true ;; *) c=Q ;; esac; for i in \"$c\"; do eval \"$i\"; done",
    "case x in x) x=Q ;& y) eval \"$x\" ;; esac",
    "case x in x) x=Q ;;& y) ;; *) eval \"$x\" ;; esac",
    "xargs -I{} bash -c {} _ <<< x; bash -c Q",
    "find . -maxdepth 0 -exec bash -c Q \\;",
];

/// Contexts in which the text `Q`, in single quotes, is data. Its variable has a unique name: `x=Q;
/// cat f && x=true; eval "$x"` runs it if `cat` fails, so blocking that would not be a false alarm.
const DATA: [&str; 10] = [
    "echo Q", "data=Q", "printf '%s' Q >/dev/null", "grep -c Q /dev/null", "echo a # x", "true Q",
    "data=Q; echo \"$data\"", "cat <<< Q", "case Q in z) ;; esac", "[[ Q == z ]]",
];

/// Programs that run their arguments.
const WRAPPERS: [&str; 16] = [
    "env", "command", "nohup", "nice -n 5", "timeout 5", "env X=1", "stdbuf -oL", "setsid -w",
    "exec", "xargs -r <<< x", "env -u X --", "timeout -s KILL 5", "nice", "command --",
    "find . -maxdepth 0 -exec", "xargs -n9 </dev/null",
];

/// A generator of scripts; deterministic for a seed.
pub(crate) struct Generator {
    state: u64,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        let mut generator = Generator {
            state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        };
        for _ in 0..4 {
            generator.next();
        }
        generator
    }

    /// Returns the next random number (xorshift64*).
    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub(crate) fn script(&mut self) -> Generated {
        let harmless = self.one_in(4);
        let words = if harmless {
            self.pick(&HARMLESS)
        } else {
            self.pick(&FORBIDDEN)
        };
        let mut text = self.command(words);
        for _ in 0..self.below(4) {
            text = self.within(&text);
        }
        if harmless && self.one_in(2) {
            let forbidden = self.pick(&FORBIDDEN);
            let data = quoted(&self.command(forbidden));
            let context = self.pick(&DATA).replace('Q', &data);
            text = format!("{context}\n{text}");
        } else if harmless && self.one_in(3) {
            let forbidden = self.pick(&FORBIDDEN);
            let data = self.command(forbidden);
            text = format!("cat <<'EOD'\n{data}\nEOD\n{text}");
        }
        Generated { text, harmless }
    }

    fn within(&mut self, text: &str) -> String {
        if self.one_in(3) {
            let context = self.pick(&RUN_TEXTS);
            return context.replace('Q', &quoted(text));
        }
        if self.one_in(12) && !text.contains(['`', '\\']) {
            return format!("echo `{text}\n`");
        }
        if self.one_in(12) && !text.contains("EOS") {
            return format!("bash <<'EOS'\n{text}\nEOS\n");
        }
        if self.one_in(12) && !text.contains(['$', '`', '\\']) && !text.contains("EOT") {
            return format!("cat <<EOT | bash\n{text}\nEOT\n");
        }
        let mut context = self.pick(&RUNS);
        // A heredoc's body begins at the next newline, which must not be inside the command.
        if context.starts_with("cat <<") && text.replace("\\\n", "").contains('\n') {
            context = "{ C\n}";
        }
        // Replaces `C` only as a separate word.
        context
            .replace("C\n", &format!("{text}\n"))
            .replacen(
                " C",
                &format!(" {text}"),
                usize::from(context.ends_with(" C")),
            )
            .replacen(
                "\nC",
                &format!("\n{text}"),
                usize::from(context.ends_with("\nC")),
            )
    }

    fn command(&mut self, words: &[&str]) -> String {
        let mut out: Vec<String> = Vec::new();
        let mut before = String::new();
        match self.below(8) {
            0 => before.push_str("X=1 "),
            1 => before.push_str("A=b B=\"c d\" "),
            2 => out.push(self.pick(&WRAPPERS).to_owned()),
            _ => {}
        }
        let mut assignments = String::new();
        for (index, word) in words.iter().enumerate() {
            if self.one_in(10) {
                out.push(self.redirection());
            }
            if self.one_in(12) {
                let name = format!("v{index}");
                assignments.extend([&name, "=", &quoted(word), "; "]);
                out.push(if self.one_in(2) {
                    format!("\"${name}\"")
                } else {
                    format!("${{{name}}}")
                });
            } else if self.one_in(24) {
                out.push(format!("$(echo {word})"));
            } else {
                out.push(self.spelled(word));
            }
        }
        if out.first().is_some_and(|word| word.starts_with("find ")) {
            out.push("\\;".to_owned());
        }
        if self.one_in(8) {
            out.push(self.redirection());
        }
        let mut text = before;
        for (index, word) in out.iter().enumerate() {
            if index > 0 {
                text.push_str(self.pick(&[" ", " ", " ", " ", "  ", "\t", " \\\n "]));
            }
            text.push_str(word);
        }
        format!("{assignments}{text}")
    }

    fn redirection(&mut self) -> String {
        self.pick(&[
            ">/dev/null", "2>/dev/null", "2>&1", "</dev/null", "&>/dev/null", ">>/dev/null",
            "3>/dev/null", "> /dev/null", "<<<x", "2>|/dev/null", "1>/dev/null", "{fd}>/dev/null",
        ])
        .to_owned()
    }

    /// Returns the word in one of its equivalent spellings in bash.
    fn spelled(&mut self, word: &str) -> String {
        let middle = word.len() / 2;
        match self.below(14) {
            0 => format!("'{word}'"),
            1 => format!("\"{word}\""),
            2 => format!("$'{word}'"),
            3 => format!("{}''{}", &word[..middle], &word[middle..]),
            4 => format!("{}\"{}\"", &word[..middle], &word[middle..]),
            5 => format!("'{}'{}", &word[..middle], &word[middle..]),
            6 => word.chars().flat_map(|c| ['\\', c]).collect(),
            7 => format!("{}\\\n{}", &word[..middle], &word[middle..]),
            8 => {
                let codes: Vec<String> =
                    word.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
                format!("$'{}'", codes.concat())
            }
            _ => word.to_owned(),
        }
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
