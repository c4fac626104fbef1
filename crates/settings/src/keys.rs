//! The table of settings keys. Each row has the key's documentation, the functions that parse and
//! print its value, and the effect of a project's file on the key.

mod parsers;

use super::key::{
    ProjectEffect, SettingKey, ValueForm, absolute_path, count, duration, duration_value, list,
    on_or_off, on_value, owned_text, retention, text, to_value, typed, yes_or_no,
};
use agent_bash_core::changes::ChangesLevel;
use agent_bash_core::sandbox::{Escalation, LackingPolicy, Network, TmpDirectory};
use agent_bash_policy::SafeLevel;
use parsers::{chars, groups, network, paths, rules, secrets, targets, user_rules, variables};

/// The value that stands for the workspace of a call.
const WORKSPACE_WORD: &str = "workspace";

/// Makes the row of a key: name, form with parser and printer, field, effect of a project's file,
/// documentation.
macro_rules! key {
    ($name:literal $form:ident($parse:expr, $print:expr) $($field:ident).+,
     $effect:ident $(($function:expr))?, $doc:expr) => {
        SettingKey {
            name: $name,
            doc: $doc,
            form: ValueForm::$form,
            set: |settings, value| {
                settings.$($field).+ = $parse(value)?;
                Ok(())
            },
            get: |settings| $print(&settings.$($field).+),
            project: effect!($effect $(($function))?, $($field).+),
        }
    };
}

/// Makes the effect of a project's file. `Rises` and `Falls`: the value may only do so. `AtMost`:
/// the same as `Falls` for a limit that may be absent.
macro_rules! effect {
    (Never, $($field:ident).+) => {
        ProjectEffect::Never
    };
    (Rises, $($field:ident).+) => {
        ProjectEffect::Tightens(|before, now| now.$($field).+ >= before.$($field).+)
    };
    (Falls, $($field:ident).+) => {
        ProjectEffect::Tightens(|before, now| now.$($field).+ <= before.$($field).+)
    };
    (AtMost, $($field:ident).+) => {
        ProjectEffect::Tightens(|before, now| at_most(now.$($field).+, before.$($field).+))
    };
    ($effect:ident($function:expr), $($field:ident).+) => {
        ProjectEffect::$effect($function)
    };
}

pub(super) const KEYS: &[SettingKey] = &[
    key! { "profile" Text(typed, to_value) profile, Never,
    "The behaviour of calls and the layout of results: standard, modes, paged, workspace." },
    key! { "survivors" Text(typed, to_value) survivors, Never,
    "What happens to processes that outlive their call: adopt (they continue), kill, wait (the call waits for their end)." },
    key! { "virtual_terminal" Text(on_or_off, on_value) virtual_terminal, Falls,
    "Run each command on a terminal of its own if a user can see that terminal: on, off." },
    key! { "timeout.default" Text(duration, duration_value) timeout, Never,
    "Time limit of a call that sets no limit itself, such as \"90s\". Default: the profile's limit; commands typed in `tui` have no limit." },
    key! { "timeout.max" Text(duration, duration_value) timeout_max, Tightens(|before, now| {
        now.profile().timeouts.max <= before.profile().timeouts.max
    }),
    "Longest time limit that a call may ask for. Default: the profile's limit." },
    key! { "output.max_line_chars" Number(chars, to_value) max_line_chars, Never,
    "Maximum number of characters of a shown line; longer lines are truncated. Default: no limit." },
    key! { "output.mask_secrets" Text(typed, to_value) mask_secrets, Rises,
    "Which secrets in output are replaced by ‹NAME›: off (none), known (values of secret variables), forms (also texts in the form of a token or key)." },
    key! { "prompts.ask_user" Text(on_or_off, on_value) ask_user, Falls,
    "Whether the user answers the password prompts of ssh, sudo -A and git, if the client of mcp or rpc can ask: on, off." },
    key! { "shell.path" Text(absolute_path, to_value) shell, Never,
    "The absolute path of the shell. Default: $SHELL if that is bash, else bash, else sh. The profiles modes and paged always run bash." },
    key! { "shell.prefix" Text(owned_text, to_value) prefix, Never,
    "Words put before every command: \"nice\" runs `nice COMMAND`." },
    key! { "safety.groups" List(groups, to_value) safety_groups, Adds(|before, now| now.safety_groups.extend(&before.safety_groups)),
    "Groups of safety rules that apply. By default: core, inline_code, system. The other groups: data_loss, remote_code, services, cloud, packages, machine." },
    key! { "safety.on" List(rules, to_value) safety_on, Adds(|before, now| now.safety_on.extend(before.safety_on.iter().cloned())),
    "Single safety rules that apply although their group is not in `groups`." },
    key! { "safety.off" List(rules, to_value) safety_off, Tightens(|before, now| now.safety_off.is_subset(&before.safety_off)),
    "Single safety rules that do not apply although their group is in `groups`." },
    key! { "safety.rules" FileOnly(user_rules, to_value) safety_rules, Adds(|before, now| {
        now.safety_rules = [&before.safety_rules[..], &now.safety_rules].concat();
    }),
    "Rules of your own: a list of {match = {program, arguments, without}, say, instead}. A project's rules are added." },
    SettingKey {
        name: "safe_mode.level",
        doc: "Allow only the commands of `allowed`: off, listed, read_only (only in a read-only sandbox; a system without one refuses calls).",
        form: ValueForm::Text,
        set: |s, v| {
            s.safe_mode = match text(v)? {
                "off" => None,
                // The command line also accepts this spelling.
                "read-only" => Some(SafeLevel::ReadOnly),
                _ => Some(typed(v).map_err(|error| format!("{error}, or `off`"))?),
            };
            Ok(())
        },
        get: |s| to_value(s.safe_mode.map_or("off", SafeLevel::name)),
        project: ProjectEffect::Tightens(|before, now| {
            // The variants are declared from lenient to strict.
            let [before, now] = [before, now].map(|s| s.safe_mode.map(|level| level as u8));
            now >= before
        }),
    },
    key! { "safe_mode.allowed" List(list, to_value) safe_mode_allowed, Tightens(|before, now| {
        now.safe_mode_allowed.iter().all(|prefix| before.safe_mode_allowed.contains(prefix))
    }),
    "The command prefixes, in whole words, that safe mode allows." },
    key! { "interceptor.mode" Text(typed, to_value) interceptor, Tightens(|before, now| {
        // The variants are declared from strict to lenient.
        before.interceptor as u8 >= now.interceptor as u8
    }),
    "What happens to commands for which the model has a better tool: off (they run), advise (they run, with a hint), block." },
    key! { "interceptor.tools" List(list, to_value) interceptor_tools, Adds(|before, now| {
        // With more tools, the interceptor refuses more commands.
        let tools = now.interceptor_tools.get_or_insert_default();
        add(before.interceptor_tools.as_deref().unwrap_or_default(), tools);
    }),
    "The names of the model's other tools, as in the rules. Only tools of this list are proposed." },
    key! { "interceptor.rules" FileOnly(typed, to_value) interceptor_rules, Never,
    "A list of {pattern, unless, tool, message, match = \"command\" or \"script\"} that replaces the built-in rules." },
    key! { "environment.inherit" Text(typed, to_value) inherit, Never,
    "Which variables a command inherits from the environment of agent-bash: all, core, none." },
    key! { "environment.keep" List(list, to_value) keep, Never,
    "Variables to keep although they look like secrets; a trailing or leading `*` is a wildcard." },
    key! { "environment.drop" List(list, to_value) drop, Never,
    "Further variables to remove; a trailing or leading `*` is a wildcard." },
    key! { "environment.set" FileOnly(variables, to_value) set, Never,
    "Variables that every command gets: { NAME = \"value\" }." },
    key! { "environment.agent" Text(owned_text, to_value) agent, Never,
    "The value of the variable AGENT, such as \"1\": tells a program that an agent runs it. Default: not set." },
    key! { "limits.cpu_s" Number(count, to_value) limits.cpu_s, AtMost,
    "Maximum CPU time of each process of a call, in seconds; a process that uses more gets SIGXCPU." },
    key! { "limits.memory_mb" Number(count, to_value) limits.memory_mb, AtMost,
    "Maximum memory of all processes of a call, in MB; without a cgroup, maximum address space of each process." },
    key! { "limits.processes" Number(count, to_value) limits.processes, AtMost,
    "Maximum number of processes and threads of a call; without a cgroup, of this user in total, and not enforced for root." },
    key! { "limits.cpu_percent" Number(count, to_value) limits.cpu_percent, AtMost,
    "Maximum CPU use of all processes of a call, in percent of one processor; needs a cgroup (docs/cli.md)." },
    key! { "limits.file_mb" Number(count, to_value) limits.file_mb, AtMost,
    "Maximum size of each file that a call writes, in MB; a process that writes more gets SIGXFSZ." },
    key! { "sandbox.level" Text(typed, to_value) sandbox.level, Falls,
    "The files that commands may write, enforced by the kernel: off (all files), read_only, workspace_write (docs/sandbox.md)." },
    SettingKey {
        name: "sandbox.network",
        doc: "The network of commands in the sandbox: off, loopback, on, or a list of hosts and presets (docs/sandbox.md).",
        form: ValueForm::Text,
        set: |s, v| {
            (s.sandbox.network, s.sandbox.hosts) = network(v)?;
            Ok(())
        },
        get: |s| match s.sandbox.network {
            Network::Hosts => to_value(&s.sandbox.hosts),
            network => to_value(network),
        },
        project: ProjectEffect::Tightens(|before, now| {
            before.sandbox.allows_network_of(&now.sandbox)
        }),
    },
    key! { "sandbox.secrets" FileOnly(secrets, to_value) sandbox.secrets, Never,
    "Variables whose values commands do not get, but placeholders; the proxy of a list of hosts puts their values into requests: NAME = { hosts = [\"api.example.com\"] } (docs/sandbox.md)." },
    key! { "sandbox.lacking" Text(typed, to_value) sandbox.lacking, Tightens(|before, now| {
        before.sandbox.lacking == LackingPolicy::Accept
            || now.sandbox.lacking == LackingPolicy::Refuse
    }),
    "Calls on a system that cannot enforce a non-essential part of the sandbox: accept (they run, and the result names that part), refuse." },
    key! { "sandbox.writable" List(paths, to_value) sandbox.writable, Never,
    "Further directories that commands may write under workspace_write; absolute, or beginning with ~/." },
    key! { "sandbox.readable" List(paths, to_value) sandbox.readable, Never,
    "Paths that stay readable although they hold secrets, such as ~/.npmrc." },
    key! { "sandbox.hidden" List(paths, to_value) sandbox.hidden, Adds(|before, now| add(&before.sandbox.hidden, &mut now.sandbox.hidden)),
    "Further paths that commands cannot read." },
    key! { "sandbox.protected" List(paths, to_value) sandbox.protected, Adds(|before, now| add(&before.sandbox.protected, &mut now.sandbox.protected)),
    "Further paths in the workspace that commands cannot write." },
    key! { "sandbox.devices" List(paths, to_value) sandbox.devices, Never,
    "Devices that commands may use in addition to the harmless devices, such as /dev/kvm." },
    key! { "sandbox.tmp" Text(typed, to_value) sandbox.tmp, Tightens(|before, now| {
        before.sandbox.tmp == TmpDirectory::Shared || now.sandbox.tmp == TmpDirectory::Private
    }),
    "The directory for temporary files under workspace_write: own (each call has its own directory), shared (commands may also write in /tmp)." },
    key! { "sandbox.caches" Text(typed, to_value) sandbox.caches, Falls,
    "The caches of tools that commands may write under workspace_write: private (caches for the calls of this workspace), shared (the user's caches), off." },
    key! { "sandbox.escalation" Text(typed, to_value) sandbox.escalation, Tightens(|before, now| {
        before.sandbox.escalation == Escalation::Ask || now.sandbox.escalation == Escalation::Never
    }),
    "A call that asks for more than the sandbox allows: never (it is refused), ask (the host asks the user)." },
    key! { "changes.level" Text(typed, to_value) changes.level, Tightens(|before, now| {
        // The default of an unset level may be `undo`, the strictest level.
        now.changes.level >= Some(before.changes.level.unwrap_or(ChangesLevel::Undo))
    }),
    "What is recorded of file changes (docs/changes.md): off, list (which files), undo (also the former contents, to restore them). Default: undo, but off for `run`." },
    SettingKey {
        name: "changes.root",
        doc: "The directory below which file changes are recorded: workspace (the nearest directory with a .git, else the session's directory), or an absolute path.",
        form: ValueForm::Text,
        set: |s, v| {
            s.changes.root = match text(v)? {
                WORKSPACE_WORD => None,
                _ => Some(
                    absolute_path(v).map_err(|_| "`workspace`, or an absolute path".to_owned())?,
                ),
            };
            Ok(())
        },
        get: |s| match &s.changes.root {
            Some(root) => to_value(root),
            None => to_value(WORKSPACE_WORD),
        },
        project: ProjectEffect::Never,
    },
    key! { "changes.commit" Text(typed, to_value) changes.commit, Rises,
    "The permission to commit a trial: model (the model may), ask (the host asks the user first), user (only the user may)." },
    key! { "changes.tell" Text(typed, to_value) changes.announced, Never,
    "Which file changes of ordinary calls are reported to the model: all, deletions, none." },
    key! { "changes.keep" Text(retention, duration_value) changes.keep, Never,
    "How long change sets are kept, such as \"24h\". Held trials are kept until the user decides." },
    key! { "changes.max_set_mb" Number(count, to_value) changes.max_set_mb, Never,
    "Maximum size of the file contents that are stored for one call, in MiB." },
    key! { "changes.max_total_mb" Number(count, to_value) changes.max_total_mb, Never,
    "Maximum size of the file contents that are stored for all calls, in MiB." },
    key! { "changes.max_preimage_mb" Number(count, to_value) changes.max_preimage_mb, Never,
    "Maximum size of a file that is copied for an undo, in MiB. A larger file is stored only if that takes no space." },
    key! { "changes.offer_trial" Text(yes_or_no, to_value) changes.offer_trial, Never,
    "Whether a refusal by a safety rule proposes a trial of the command, if that trial would run: true, false." },
    key! { "changes.trial_passes_rules" Text(yes_or_no, to_value) changes.trial_passes_rules, Falls,
    "Whether a trial runs a command that a safety rule refuses, if it is refused only for files below `root`: true, false. No effect if `commit` is model." },
    key! { "journal.level" Text(typed, to_value) journal.level, Never,
    "What is recorded of a session for `log` and `report`: off, metadata (commands and how they ended), full (also their output). Default: metadata, but off for `run`." },
    key! { "journal.keep" Text(retention, duration_value) journal.keep, Never,
    "How long the record of a session is kept, such as \"7d\"." },
    key! { "journal.max_mb" Number(count, to_value) journal.max_mb, Never,
    "Maximum size of the record that one process writes of its session, in MiB." },
    key! { "journal.max_total_mb" Number(count, to_value) journal.max_total_mb, Never,
    "Maximum size of the records of all sessions, in MiB; the oldest records are deleted first." },
    key! { "tui.history" Text(on_or_off, on_value) tui_history, Falls,
    "Whether the interface (`agent-bash tui`) stores typed lines for its next run: on, off." },
    key! { "targets" FileOnly(targets, to_value) targets, Never,
    "Machines on which `--on NAME` runs calls: NAME = { transport = \"ssh\" (docker, podman, kube, command), to, command, cwd, \
      env, directory, lease, install }." },
    key! { "mcp.handle_after" Text(duration, duration_value) mcp_handle_after, Never,
    "Time after which the MCP server returns a handle on a call that is still running; 0: it always waits for the result." },
    key! { "mcp.structured" Text(on_or_off, on_value) mcp_structured, Never,
    "Whether answers of the MCP server include the result as structured data: on (for programs), off." },
    key! { "audit.file" Text(absolute_path, to_value) audit_file, Never,
    "The file to which every call is added as a line of JSON: digest and length of the command, verdict, status, duration." },
    key! { "audit.commands" Text(yes_or_no, to_value) audit_commands, Never,
    "Whether the lines in audit.file include the commands themselves: true, false." },
];

/// True if the limit `now` is at most the limit `before`. `None` means no limit.
fn at_most(now: Option<u64>, before: Option<u64>) -> bool {
    match (now, before) {
        (_, None) => true,
        (Some(now), Some(before)) => now <= before,
        (None, Some(_)) => false,
    }
}

/// Adds the elements of `added` that `list` lacks.
fn add<T: Clone + PartialEq>(added: &[T], list: &mut Vec<T>) {
    let missing = added.iter().filter(|element| !list.contains(element));
    let missing: Vec<T> = missing.cloned().collect();
    list.extend(missing);
}
