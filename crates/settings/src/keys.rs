//! The table of settings keys. Each row has the key's documentation, the functions that parse and
//! print its value, and the effect of a project's file on the key.

mod changes;
mod journal;
mod sandbox;
mod targets;

use super::key::{
    ProjectEffect, SettingKey, ValueForm, absolute_path, count, duration, duration_value,
    from_word, list, number_value, on_or_off, on_value, text, to_value, yes_or_no,
};
use crate::MaskLevel;
use agent_bash_core::{ProfileName, SurvivorPolicy};
use agent_bash_policy::{Group, InterceptMode, InterceptRule, RuleSelection, SafeLevel, UserRule};
use agent_bash_process::environment::Inherit;
use std::collections::{BTreeMap, BTreeSet};
use toml::Value;

pub(super) const KEYS: &[SettingKey] = &[
    SettingKey {
        name: "profile",
        doc: "The behaviour of calls and the layout of results: standard, modes, paged, workspace.",
        form: ValueForm::Text,
        set: |s, v| from_word::<ProfileName>(v).map(|name| s.profile = name),
        get: |s| to_value(s.profile),
        project: ProjectEffect::Never,
    },
    SettingKey {
        name: "survivors",
        doc: "What happens to processes that outlive their call: adopt (they continue), kill, wait (the call waits for their end).",
        form: ValueForm::Text,
        set: |s, v| from_word::<SurvivorPolicy>(v).map(|policy| s.survivors = policy),
        get: |s| to_value(s.survivors),
        project: ProjectEffect::Never,
    },
    SettingKey {
        name: "virtual_terminal",
        doc: "Run each command on a terminal of its own if a user can see that terminal: on, off.",
        form: ValueForm::Text,
        set: |s, v| on_or_off(v).map(|on| s.virtual_terminal = on),
        get: |s| on_value(s.virtual_terminal),
        project: ProjectEffect::Tightens(|before, now| {
            before.virtual_terminal || !now.virtual_terminal
        }),
    },
    SettingKey {
        name: "timeout.default",
        doc: "Time limit of a call that sets no limit itself, such as \"90s\". Default: the profile's limit; commands typed in `tui` have no limit.",
        form: ValueForm::Text,
        set: |s, v| duration(v).map(|limit| s.timeout = Some(limit)),
        get: |s| s.timeout.map(duration_value),
        project: ProjectEffect::Never,
    },
    SettingKey {
        name: "timeout.max",
        doc: "Longest time limit that a call may ask for. Default: the profile's limit.",
        form: ValueForm::Text,
        set: |s, v| duration(v).map(|limit| s.timeout_max = Some(limit)),
        get: |s| s.timeout_max.map(duration_value),
        project: ProjectEffect::Tightens(|before, now| {
            now.profile().timeouts.max <= before.profile().timeouts.max
        }),
    },
    SettingKey {
        name: "output.max_line_chars",
        doc: "Maximum number of characters of a shown line; longer lines are truncated. Default: no limit.",
        form: ValueForm::Number,
        set: |s, v| count(v).map(|chars| s.max_line_chars = usize::try_from(chars).ok()),
        get: |s| number_value(s.max_line_chars.map(|chars| chars as u64)),
        project: ProjectEffect::Never,
    },
    SettingKey {
        name: "output.mask_secrets",
        doc: "Which secrets in output are replaced by ‹NAME›: off (none), known (values of secret variables), forms (also texts in the form of a token or key).",
        form: ValueForm::Text,
        set: |s, v| from_word::<MaskLevel>(v).map(|level| s.mask_secrets = level),
        get: |s| to_value(s.mask_secrets),
        project: ProjectEffect::Tightens(|before, now| now.mask_secrets >= before.mask_secrets),
    },
    SettingKey {
        name: "prompts.ask_user",
        doc: "Whether the user answers the password prompts of ssh, sudo -A and git, if the client of mcp or rpc can ask: on, off.",
        form: ValueForm::Text,
        set: |s, v| on_or_off(v).map(|on| s.ask_user = on),
        get: |s| on_value(s.ask_user),
        project: ProjectEffect::Tightens(|before, now| before.ask_user || !now.ask_user),
    },
    SettingKey {
        name: "shell.path",
        doc: "The absolute path of the shell. Default: $SHELL if that is bash, else bash, else sh. The profiles modes and paged always run bash.",
        form: ValueForm::Text,
        set: |s, v| absolute_path(v).map(|path| s.shell = Some(path)),
        get: |s| to_value(s.shell.as_ref()?),
        project: ProjectEffect::Never,
    },
    SettingKey {
        name: "shell.prefix",
        doc: "Words put before every command: \"nice\" runs `nice COMMAND`.",
        form: ValueForm::Text,
        set: |s, v| text(v).map(|prefix| s.prefix = Some(prefix.to_owned())),
        get: |s| to_value(s.prefix.as_ref()?),
        project: ProjectEffect::Never,
    },
    SettingKey {
        name: "safety.groups",
        doc: "Groups of safety rules that apply. By default: core, inline_code, system. The other groups: data_loss, remote_code, services, cloud, packages, machine.",
        form: ValueForm::List,
        set: |s, v| {
            let groups: Result<BTreeSet<Group>, _> = list(v)?.iter().map(|n| n.parse()).collect();
            groups
                .map(|groups| s.safety_groups = groups)
                .map_err(|error| error.to_string())
        },
        get: |s| to_value(&s.safety_groups),
        project: ProjectEffect::Adds(|before, now| now.safety_groups.extend(&before.safety_groups)),
    },
    SettingKey {
        name: "safety.on",
        doc: "Single safety rules that apply although their group is not in `groups`.",
        form: ValueForm::List,
        set: |s, v| rules(v).map(|rules| s.safety_on = rules),
        get: |s| to_value(&s.safety_on),
        project: ProjectEffect::Adds(|before, now| {
            now.safety_on.extend(before.safety_on.iter().cloned());
        }),
    },
    SettingKey {
        name: "safety.off",
        doc: "Single safety rules that do not apply although their group is in `groups`.",
        form: ValueForm::List,
        set: |s, v| rules(v).map(|rules| s.safety_off = rules),
        get: |s| to_value(&s.safety_off),
        project: ProjectEffect::Tightens(|before, now| {
            now.safety_off.is_subset(&before.safety_off)
        }),
    },
    SettingKey {
        name: "safety.rules",
        doc: "Rules of your own: a list of {match = {program, arguments, without}, say, instead}. A project's rules are added.",
        form: ValueForm::FileOnly,
        set: |s, v| {
            let rules: Result<Vec<UserRule>, _> = v.clone().try_into();
            let rules = rules.map_err(|error| error.message().to_owned())?;
            s.safety_rules = rules;
            Ok(())
        },
        get: |s| to_value(&s.safety_rules),
        project: ProjectEffect::Adds(|before, now| {
            let mut all = before.safety_rules.clone();
            all.append(&mut now.safety_rules);
            now.safety_rules = all;
        }),
    },
    SettingKey {
        name: "safe_mode.level",
        doc: "Allow only the commands of `allowed`: off, listed, read_only (only in a read-only sandbox; a system without one refuses calls).",
        form: ValueForm::Text,
        set: |s, v| {
            let level = match text(v)? {
                "off" => None,
                // The command line also accepts this spelling.
                "read-only" => Some(SafeLevel::ReadOnly),
                _ => Some(from_word::<SafeLevel>(v).map_err(|error| format!("{error}, or `off`"))?),
            };
            s.safe_mode = level;
            Ok(())
        },
        get: |s| to_value(s.safe_mode.map_or("off", SafeLevel::name)),
        project: ProjectEffect::Tightens(|before, now| {
            strictness(now.safe_mode) >= strictness(before.safe_mode)
        }),
    },
    SettingKey {
        name: "safe_mode.allowed",
        doc: "The command prefixes, in whole words, that safe mode allows.",
        form: ValueForm::List,
        set: |s, v| list(v).map(|allowed| s.safe_mode_allowed = allowed),
        get: |s| to_value(&s.safe_mode_allowed),
        project: ProjectEffect::Tightens(|before, now| {
            let was_allowed = |prefix| before.safe_mode_allowed.contains(prefix);
            now.safe_mode_allowed.iter().all(was_allowed)
        }),
    },
    SettingKey {
        name: "interceptor.mode",
        doc: "What happens to commands for which the model has a better tool: off (they run), advise (they run, with a hint), block.",
        form: ValueForm::Text,
        set: |s, v| from_word::<InterceptMode>(v).map(|mode| s.interceptor = mode),
        get: |s| to_value(s.interceptor),
        project: ProjectEffect::Tightens(|before, now| {
            intercept_strictness(now.interceptor) >= intercept_strictness(before.interceptor)
        }),
    },
    SettingKey {
        name: "interceptor.tools",
        doc: "The names of the model's other tools, as in the rules. Only tools of this list are proposed.",
        form: ValueForm::List,
        set: |s, v| list(v).map(|tools| s.interceptor_tools = Some(tools)),
        get: |s| to_value(s.interceptor_tools.as_ref()?),
        // With more tools, the interceptor refuses more commands.
        project: ProjectEffect::Adds(|before, now| {
            let tools = now.interceptor_tools.get_or_insert_default();
            let missing = before.interceptor_tools.iter().flatten();
            let missing: Vec<_> = missing
                .filter(|tool| !tools.contains(tool))
                .cloned()
                .collect();
            tools.extend(missing);
        }),
    },
    SettingKey {
        name: "interceptor.rules",
        doc: "A list of {pattern, unless, tool, message, match = \"command\" or \"script\"} that replaces the built-in rules.",
        form: ValueForm::FileOnly,
        set: |s, v| {
            let rules: Result<Vec<InterceptRule>, _> = v.clone().try_into();
            let rules = rules.map_err(|error| error.message().to_owned())?;
            s.interceptor_rules = rules;
            Ok(())
        },
        get: |s| to_value(&s.interceptor_rules),
        project: ProjectEffect::Never,
    },
    SettingKey {
        name: "environment.inherit",
        doc: "Which variables a command inherits from the environment of agent-bash: all, core, none.",
        form: ValueForm::Text,
        set: |s, v| {
            s.inherit = match text(v)? {
                "all" => Inherit::All,
                "core" => Inherit::Core,
                "none" => Inherit::Nothing,
                _ => return Err("`all`, `core` or `none`".to_owned()),
            };
            Ok(())
        },
        get: |s| {
            to_value(match s.inherit {
                Inherit::All => "all",
                Inherit::Core => "core",
                Inherit::Nothing => "none",
            })
        },
        project: ProjectEffect::Never,
    },
    SettingKey {
        name: "environment.keep",
        doc: "Variables to keep although they look like secrets; a trailing or leading `*` is a wildcard.",
        form: ValueForm::List,
        set: |s, v| list(v).map(|names| s.keep = names),
        get: |s| to_value(&s.keep),
        project: ProjectEffect::Never,
    },
    SettingKey {
        name: "environment.drop",
        doc: "Further variables to remove; a trailing or leading `*` is a wildcard.",
        form: ValueForm::List,
        set: |s, v| list(v).map(|names| s.drop = names),
        get: |s| to_value(&s.drop),
        project: ProjectEffect::Never,
    },
    SettingKey {
        name: "environment.set",
        doc: "Variables that every command gets: { NAME = \"value\" }.",
        form: ValueForm::FileOnly,
        set: |s, v| {
            let set: Result<BTreeMap<String, String>, _> = v.clone().try_into();
            let set = set.map_err(|_| "a table of texts".to_owned())?;
            s.set = set;
            Ok(())
        },
        get: |s| to_value(&s.set),
        project: ProjectEffect::Never,
    },
    SettingKey {
        name: "environment.agent",
        doc: "The value of the variable AGENT, such as \"1\": tells a program that an agent runs it. Default: not set.",
        form: ValueForm::Text,
        set: |s, v| text(v).map(|value| s.agent = Some(value.to_owned())),
        get: |s| to_value(s.agent.as_ref()?),
        project: ProjectEffect::Never,
    },
    SettingKey {
        name: "limits.cpu_s",
        doc: "Maximum CPU time of each process of a call, in seconds; a process that uses more gets SIGXCPU.",
        form: ValueForm::Number,
        set: |s, v| count(v).map(|n| s.limits.cpu_s = Some(n)),
        get: |s| number_value(s.limits.cpu_s),
        project: ProjectEffect::Tightens(|before, now| {
            at_most(now.limits.cpu_s, before.limits.cpu_s)
        }),
    },
    SettingKey {
        name: "limits.memory_mb",
        doc: "Maximum memory of all processes of a call, in MB; without a cgroup, maximum address space of each process.",
        form: ValueForm::Number,
        set: |s, v| count(v).map(|n| s.limits.memory_mb = Some(n)),
        get: |s| number_value(s.limits.memory_mb),
        project: ProjectEffect::Tightens(|before, now| {
            at_most(now.limits.memory_mb, before.limits.memory_mb)
        }),
    },
    SettingKey {
        name: "limits.processes",
        doc: "Maximum number of processes and threads of a call; without a cgroup, of this user in total, and not enforced for root.",
        form: ValueForm::Number,
        set: |s, v| count(v).map(|n| s.limits.processes = Some(n)),
        get: |s| number_value(s.limits.processes),
        project: ProjectEffect::Tightens(|before, now| {
            at_most(now.limits.processes, before.limits.processes)
        }),
    },
    SettingKey {
        name: "limits.cpu_percent",
        doc: "Maximum CPU use of all processes of a call, in percent of one processor; needs a cgroup (docs/cli.md).",
        form: ValueForm::Number,
        set: |s, v| count(v).map(|n| s.limits.cpu_percent = Some(n)),
        get: |s| number_value(s.limits.cpu_percent),
        project: ProjectEffect::Tightens(|before, now| {
            at_most(now.limits.cpu_percent, before.limits.cpu_percent)
        }),
    },
    SettingKey {
        name: "limits.file_mb",
        doc: "Maximum size of each file that a call writes, in MB; a process that writes more gets SIGXFSZ.",
        form: ValueForm::Number,
        set: |s, v| count(v).map(|n| s.limits.file_mb = Some(n)),
        get: |s| number_value(s.limits.file_mb),
        project: ProjectEffect::Tightens(|before, now| {
            at_most(now.limits.file_mb, before.limits.file_mb)
        }),
    },
    sandbox::LEVEL,
    sandbox::NETWORK,
    sandbox::SECRETS,
    sandbox::LACKING,
    sandbox::WRITABLE,
    sandbox::READABLE,
    sandbox::HIDDEN,
    sandbox::PROTECTED,
    sandbox::DEVICES,
    sandbox::TMP,
    sandbox::CACHES,
    sandbox::ESCALATION,
    changes::LEVEL,
    changes::ROOT,
    changes::COMMIT,
    changes::TELL,
    changes::KEEP,
    changes::MAX_SET_MB,
    changes::MAX_TOTAL_MB,
    changes::MAX_PREIMAGE_MB,
    changes::OFFER_TRIAL,
    changes::TRIAL_PASSES_RULES,
    journal::LEVEL,
    journal::KEEP,
    journal::MAX_MB,
    journal::MAX_TOTAL_MB,
    SettingKey {
        name: "tui.history",
        doc: "Whether the interface (`agent-bash tui`) stores typed lines for its next run: on, off.",
        form: ValueForm::Text,
        set: |s, v| on_or_off(v).map(|on| s.tui_history = on),
        get: |s| on_value(s.tui_history),
        project: ProjectEffect::Tightens(|before, now| before.tui_history || !now.tui_history),
    },
    targets::TARGETS,
    SettingKey {
        name: "mcp.handle_after",
        doc: "Time after which the MCP server returns a handle on a call that is still running; 0: it always waits for the result.",
        form: ValueForm::Text,
        set: |s, v| duration(v).map(|limit| s.mcp_handle_after = limit),
        get: |s| Some(duration_value(s.mcp_handle_after)),
        project: ProjectEffect::Never,
    },
    SettingKey {
        name: "mcp.structured",
        doc: "Whether answers of the MCP server include the result as structured data: on (for programs), off.",
        form: ValueForm::Text,
        set: |s, v| on_or_off(v).map(|on| s.mcp_structured = on),
        get: |s| on_value(s.mcp_structured),
        project: ProjectEffect::Never,
    },
    SettingKey {
        name: "audit.file",
        doc: "The file to which every call is added as a line of JSON: digest and length of the command, verdict, status, duration.",
        form: ValueForm::Text,
        set: |s, v| absolute_path(v).map(|path| s.audit_file = Some(path)),
        get: |s| to_value(s.audit_file.as_ref()?),
        project: ProjectEffect::Never,
    },
    SettingKey {
        name: "audit.commands",
        doc: "Whether the lines in audit.file include the commands themselves: true, false.",
        form: ValueForm::Text,
        set: |s, v| yes_or_no(v).map(|yes| s.audit_commands = yes),
        get: |s| to_value(s.audit_commands),
        project: ProjectEffect::Never,
    },
];

/// Parses rule names, each of which must exist.
fn rules(value: &Value) -> Result<BTreeSet<String>, String> {
    let names = list(value)?;
    let mut known = RuleSelection::none();
    for name in &names {
        known
            .switch(name, true)
            .map_err(|error| error.to_string())?;
    }
    Ok(names.into_iter().collect())
}

/// True if the limit `now` is at most the limit `before`. `None` means no limit.
fn at_most(now: Option<u64>, before: Option<u64>) -> bool {
    match (now, before) {
        (_, None) => true,
        (Some(now), Some(before)) => now <= before,
        (None, Some(_)) => false,
    }
}

/// Returns a number that is greater for a stricter level of safe mode.
fn strictness(level: Option<SafeLevel>) -> u8 {
    match level {
        None => 0,
        Some(SafeLevel::Listed) => 1,
        Some(SafeLevel::ReadOnly) => 2,
    }
}

/// Returns a number that is greater for a stricter mode of the interceptor.
fn intercept_strictness(mode: InterceptMode) -> u8 {
    match mode {
        InterceptMode::Off => 0,
        InterceptMode::Advise => 1,
        InterceptMode::Block => 2,
    }
}
