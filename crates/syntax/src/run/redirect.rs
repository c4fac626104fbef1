//! Redirections: their targets, the input that a command reads through them, and the contents of
//! files that the script writes.

use std::rc::Rc;

use super::super::ast::{Redir, RedirOp, WordPart};
use super::super::state::ShellState;
use super::super::value::{UnknownCause, Value};
use super::path::absolute;
use super::{Redirection, Walker};

/// Stdin as set by a redirection: its text, if known.
pub(super) struct RedirectedStdin(pub(super) Option<Value>);

/// The resolved redirections of a command.
#[derive(Default)]
pub(super) struct ResolvedRedirections {
    pub(super) list: Vec<Redirection>,
    /// The new stdin, if a redirection sets it.
    pub(super) stdin: Option<RedirectedStdin>,
    /// The target of stdout, if a redirection sets it.
    pub(super) stdout: Option<Value>,
}

impl Walker<'_> {
    /// Resolves redirections.
    pub(super) fn redirections(
        &mut self,
        redirs: &[Redir],
        shell: &mut ShellState,
    ) -> ResolvedRedirections {
        let mut out = ResolvedRedirections::default();
        for redir in redirs {
            let (operator, reads) = match redir.op {
                RedirOp::Read => ("<", true),
                RedirOp::Write => (">", false),
                RedirOp::Append => (">>", false),
                RedirOp::ReadWrite => ("<>", true),
                RedirOp::DupRead => ("<&", true),
                RedirOp::DupWrite => (">&", false),
                RedirOp::WriteBoth => ("&>", false),
                RedirOp::AppendBoth => ("&>>", false),
                RedirOp::Heredoc => ("<<", true),
                RedirOp::HereString => ("<<<", true),
            };
            let target = match (redir.op, &redir.body) {
                (RedirOp::Heredoc, _) => Value::default(),
                _ => self.expand_unsplit(&redir.target.parts, shell),
            };
            // `>& /dev/tcp/host/port 0>&1` reads from the address to which the output goes.
            let reads_output = redir.op == RedirOp::DupWrite && redir.fd == Some(0);
            if reads && redir.fd.unwrap_or(0) == 0 || reads_output {
                let text = match redir.op {
                    RedirOp::Heredoc => {
                        let parts = redir.body.as_ref().and_then(|body| body.get());
                        parts.map(|parts| self.body(parts, shell))
                    }
                    RedirOp::HereString => {
                        let mut text = target.clone();
                        text.push_text("\n");
                        Some(text)
                    }
                    RedirOp::DupRead | RedirOp::DupWrite if target.literal() == Some("1") => {
                        let file = out.stdout.as_ref();
                        file.and_then(|file| Self::file(file, shell))
                    }
                    RedirOp::DupRead | RedirOp::DupWrite => target
                        .literal()
                        .and_then(|fd| shell.files.get(&format!("/dev/fd/{fd}")).cloned()),
                    _ => Self::file(&target, shell),
                };
                out.stdin = Some(RedirectedStdin(text));
            } else if let (
                Some(fd),
                RedirOp::Heredoc | RedirOp::HereString | RedirOp::Read | RedirOp::ReadWrite,
            ) = (redir.fd, redir.op)
            {
                // `3<<< text`: later commands can read the text as `/dev/fd/3`.
                let text = match (redir.op, &redir.body) {
                    (RedirOp::Heredoc, Some(body)) => {
                        body.get().map(|parts| self.body(parts, shell))
                    }
                    (RedirOp::HereString, _) => Some(target.clone()),
                    _ => Self::file(&target, shell),
                };
                if let Some(text) = text {
                    Rc::make_mut(&mut shell.files).insert(format!("/dev/fd/{fd}"), text);
                }
            } else if !reads && matches!(redir.fd, None | Some(1)) && !is_stdout(&target, redir.op)
            {
                out.stdout = Some(target.clone());
            }
            out.list.push(Redirection {
                operator,
                fd: redir.fd,
                target,
                span: redir.target.span,
            });
        }
        out
    }

    /// Expands a heredoc body, which is neither split nor globbed.
    fn body(&mut self, parts: &[WordPart], shell: &mut ShellState) -> Value {
        let mut value = Value::default();
        for part in parts {
            let next = self.expand_unsplit_part(part, shell);
            value.extend(&next);
        }
        value
    }

    /// Returns the contents of a file, if this script has written the file.
    pub(super) fn file(path: &Value, shell: &ShellState) -> Option<Value> {
        let name = path.literal()?;
        if matches!(name, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "-") {
            return shell.stdin.as_deref().cloned();
        }
        if name == "/dev/null" {
            return Some(Value::default());
        }
        if name.starts_with("/dev/tcp/") || name.starts_with("/dev/udp/") {
            return Some(Value::unknown(UnknownCause::Fetched));
        }
        let name = name.replacen("/proc/self/fd/", "/dev/fd/", 1);
        shell.files.get(&absolute(&name, shell)).cloned()
    }

    /// Delivers a command's output to the file or device that a redirection names. Returns the
    /// output that remains on stdout.
    pub(super) fn deliver(
        out: Value,
        redirected: &ResolvedRedirections,
        shell: &mut ShellState,
    ) -> Value {
        let Some(target) = &redirected.stdout else {
            return out;
        };
        // The output to a device or another descriptor is not stored.
        let is_descriptor = |name: &str| name.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        if let Some(name) = target.literal()
            && !name.starts_with("/dev/")
            && !is_descriptor(name)
        {
            let path = absolute(name, shell);
            let files = Rc::make_mut(&mut shell.files);
            let appends = redirected
                .list
                .iter()
                .any(|redirection| matches!(redirection.operator, ">>" | "&>>"));
            match files.get_mut(&path) {
                Some(before) if appends => before.extend(&out),
                _ => {
                    files.insert(path, out);
                }
            }
        }
        Value::default()
    }
}

/// True for `>&1` and `> /dev/stdout`, which leave stdout as it is.
fn is_stdout(target: &Value, operator: RedirOp) -> bool {
    match target.literal() {
        Some("1") => operator == RedirOp::DupWrite,
        Some("/dev/stdout" | "/dev/fd/1") => true,
        _ => false,
    }
}
