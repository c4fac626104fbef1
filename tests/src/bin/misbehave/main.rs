//! `misbehave <how> [argument]`: misbehaves on demand, in ways that tests need.
//!
//! Each subcommand is a short function in [`output`], [`signals`] or [`processes`]. Tests write
//! misbehaviour that fits on a line as shell code instead.

mod output;
mod processes;
mod signals;

use std::process::ExitCode;

/// The result of a subcommand; an error is printed and becomes exit code 1.
type Outcome = Result<(), Box<dyn std::error::Error>>;

/// One way to misbehave.
struct Misbehaviour {
    name: &'static str,
    argument: &'static str,
    summary: &'static str,
    run: fn(&str) -> Outcome,
}

const MISBEHAVIOURS: &[Misbehaviour] = &[
    Misbehaviour {
        name: "flood",
        argument: "BYTES",
        summary: "prints that many bytes without a newline",
        run: output::flood,
    },
    Misbehaviour {
        name: "lines",
        argument: "COUNT",
        summary: "prints the numbers from 1, a line each",
        run: output::lines,
    },
    Misbehaviour {
        name: "endless",
        argument: "",
        summary: "prints until the reader is gone",
        run: output::endless,
    },
    Misbehaviour {
        name: "nul",
        argument: "BYTES",
        summary: "prints that many NUL bytes",
        run: output::nul,
    },
    Misbehaviour {
        name: "invalid-utf8",
        argument: "",
        summary: "prints text with bytes in it that are no UTF-8",
        run: output::invalid_utf8,
    },
    Misbehaviour {
        name: "split-utf8",
        argument: "COUNT",
        summary: "prints that many three-byte characters, one byte a write",
        run: output::split_utf8,
    },
    Misbehaviour {
        name: "stderr",
        argument: "TEXT",
        summary: "prints to stderr only",
        run: output::stderr,
    },
    Misbehaviour {
        name: "lose-stdout",
        argument: "",
        summary: "points its stdout elsewhere and lives on until it is ended",
        run: output::lose_stdout,
    },
    Misbehaviour {
        name: "ignore-term",
        argument: "",
        summary: "prints `ready` and lives on whatever SIGTERM, SIGINT and SIGHUP say",
        run: signals::ignore_term,
    },
    Misbehaviour {
        name: "last-words",
        argument: "TEXT",
        summary: "prints `ready`; on SIGTERM prints TEXT and exits with 0",
        run: signals::last_words,
    },
    Misbehaviour {
        name: "stop-self",
        argument: "",
        summary: "stops itself with SIGSTOP",
        run: signals::stop_self,
    },
    Misbehaviour {
        name: "kill-group",
        argument: "",
        summary: "kills its whole process group with SIGKILL",
        run: signals::kill_group,
    },
    Misbehaviour {
        name: "kill-parent",
        argument: "",
        summary: "kills its parent with SIGKILL",
        run: signals::kill_parent,
    },
    Misbehaviour {
        name: "linger",
        argument: "FILE",
        summary: "lives on until FILE exists (an empty name: until it is ended)",
        run: processes::linger,
    },
    Misbehaviour {
        name: "listen",
        argument: "FILE",
        summary: "listens on a port of 127.0.0.1, writes its number to FILE, lives on",
        run: processes::listen,
    },
    Misbehaviour {
        name: "bind",
        argument: "PORT",
        summary: "listens on that port of 127.0.0.1 and exits, or reports the error",
        run: processes::bind,
    },
    Misbehaviour {
        name: "children",
        argument: "COUNT",
        summary: "starts that many lingering children and exits without them",
        run: processes::children,
    },
    Misbehaviour {
        name: "daemon",
        argument: "hold|close",
        summary: "double-forks a daemon that holds the output, or has closed it, and exits",
        run: processes::daemon,
    },
    Misbehaviour {
        name: "daemon-middle",
        argument: "hold|close",
        summary: "(the middle process of `daemon`)",
        run: processes::daemon_middle,
    },
    Misbehaviour {
        name: "exhaust-descriptors",
        argument: "",
        summary: "opens files until it may open no more, and prints how many that were",
        run: processes::exhaust_descriptors,
    },
    Misbehaviour {
        name: "descriptors",
        argument: "",
        summary: "prints its open descriptors, a number a line",
        run: processes::print_descriptors,
    },
    Misbehaviour {
        name: "environment",
        argument: "",
        summary: "prints its environment, sorted, `NAME=value` a line",
        run: processes::print_environment,
    },
    Misbehaviour {
        name: "identity",
        argument: "",
        summary: "prints the ids of process group and session, and which signals it ignores and blocks",
        run: processes::print_identity,
    },
    Misbehaviour {
        name: "lose-cwd",
        argument: "",
        summary: "removes the directory it stands in, and prints what getcwd says then",
        run: processes::lose_cwd,
    },
];

#[expect(clippy::print_stderr, reason = "the program's own errors")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let name = arguments.first().map_or("", String::as_str);
    let argument = arguments.get(1).map_or("", String::as_str);
    let Some(way) = MISBEHAVIOURS.iter().find(|way| way.name == name) else {
        eprintln!("misbehave: no such way: `{name}`\n");
        for way in MISBEHAVIOURS {
            eprintln!(
                "  {:<30} {}",
                format!("{} {}", way.name, way.argument),
                way.summary
            );
        }
        return ExitCode::from(2);
    };
    match (way.run)(argument) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("misbehave {name}: {error}");
            ExitCode::FAILURE
        }
    }
}
