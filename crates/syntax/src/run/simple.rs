//! Simple commands: expands and records them, and follows the commands that they start.

use std::path::Path;
use std::rc::Rc;

use super::super::ast::{Assign, Redir, Simple, Word, WordPart};
use super::super::command_host::CommandHost;
use super::super::state::ShellState;
use super::super::value::{UnknownCause, Value, ValuePiece};
use super::expand::plain;
use crate::Span;
use crate::harmful::HARMFUL_COMMANDS;
use crate::pattern;

use super::call::Call;
use super::redirect::{RedirectedStdin, ResolvedRedirections};
use super::{Field, Redirection, ResolvedCommand, Walker, builtin};

/// Maximum number of nested calls of one function that are followed.
const MAX_RECURSION: usize = 3;

/// The constant cost, in bytes, of keeping the state before a command.
const STATE_COST_BYTES: usize = 64;

/// The additional cost, in bytes, for each variable of a kept state: variables are copied on write.
const VARIABLE_COST_BYTES: usize = 1;

/// The cost, in bytes, of each word of a command that another command starts.
const WORD_COST_BYTES: usize = 16;

/// The cost, in bytes, of recognising an earlier call.
const MEMORY_COST_BYTES: usize = 128;

/// Maximum number of commands with the same span with which a new command is compared.
const MAX_COMPARED: usize = 16;

impl Walker<'_> {
    /// Walks a simple command, once per possible value of its variables.
    pub(super) fn simple(&mut self, simple: &Simple, shell: &mut ShellState) -> Value {
        let outer = (self.choice, self.rounds, self.origin);
        // A command without parameters has only one possible expansion.
        let assigns = |assign: &Assign| assign.append || has_parameter(&assign.value);
        let redirects = |redir: &Redir| redir.body.is_some() || has_parameter(&redir.target);
        let may_vary = simple.words.iter().any(has_parameter)
            || simple.assigns.iter().any(assigns)
            || simple.redirs.iter().any(redirects);
        let before = may_vary.then(|| {
            self.charge(STATE_COST_BYTES + VARIABLE_COST_BYTES * shell.vars.len());
            shell.clone()
        });
        (self.choice, self.rounds) = (0, 1);
        self.origin = Some(simple.span);
        let out = self.walk_once(simple, shell);
        while let (true, Some(before)) = (self.choice + 1 < self.rounds, &before) {
            self.choice += 1;
            let mut other = before.clone();
            self.walk_once(simple, &mut other);
            *shell = shell.clone().join(other);
        }
        (self.choice, self.rounds, self.origin) = outer;
        out
    }

    /// Walks a simple command with one choice of values.
    fn walk_once(&mut self, simple: &Simple, shell: &mut ShellState) -> Value {
        let mut words = Vec::with_capacity(simple.words.len());
        for word in &simple.words {
            let span = word.span;
            match plain(word) {
                Some(value) => words.push(Field { value, span }),
                None => words.extend(
                    self.fields(word, shell)
                        .into_iter()
                        .map(|value| Field { value, span }),
                ),
            }
        }
        self.charge(words.iter().map(|field| field.value.cost()).sum());
        let redirected = self.redirections(&simple.redirs, shell);
        if words.is_empty() {
            self.record_redirections(&redirected, true, shell);
            for assign in &simple.assigns {
                self.assign(assign, shell);
            }
            return Value::default();
        }
        let mut env = Vec::new();
        for assign in &simple.assigns {
            let value = self.expand_unsplit(&assign.value.parts, shell);
            env.push((assign.name.clone(), value));
        }
        let declares = words[0].value.literal().is_some_and(builtin::declares);
        if declares {
            for word in &simple.words[1..] {
                self.declare_array(word, shell);
            }
        }
        let outer = (shell.stdin.clone(), self.reads_pipe);
        if let Some(RedirectedStdin(stdin)) = &redirected.stdin {
            shell.stdin = stdin.clone().map(Rc::new);
            self.reads_pipe = false;
        }
        if let Some(name) = globbed_program(&words[0].value) {
            words[0].value = name;
        }
        let call = Call {
            words: words.into(),
            env,
        };
        let out = match self.alias(&call, &redirected, shell) {
            Some(out) => out,
            None => self.call(&call, &redirected, shell),
        };
        // `exec < file` applies to all following commands.
        let is_permanent = call.words.len() == 1 && call.literal(0) == Some("exec");
        if redirected.stdin.is_some() && !is_permanent {
            (shell.stdin, self.reads_pipe) = outer;
        }
        Self::deliver(out, &redirected, shell)
    }

    /// Records the command and follows the commands that it starts; returns its output.
    fn call(
        &mut self,
        call: &Call,
        redirected: &ResolvedRedirections,
        shell: &mut ShellState,
    ) -> Value {
        self.predefine_function(call, shell);
        self.record_call(call, redirected, shell);
        self.follow(call, shell)
    }

    /// Walks a command that another command starts; returns its output.
    pub(super) fn start(&mut self, call: &Call, started_by: &str, shell: &mut ShellState) -> Value {
        if call.words.is_empty() {
            return Value::default();
        }
        self.charge(call.words.len() * WORD_COST_BYTES);
        self.started_by.push(started_by.to_owned());
        let out = self.nested(Value::default(), |walker| {
            walker.call(call, &ResolvedRedirections::default(), shell)
        });
        self.started_by.pop();
        out
    }

    fn record_call(&mut self, call: &Call, redirected: &ResolvedRedirections, shell: &ShellState) {
        let is_function = call
            .literal(0)
            .is_some_and(|word| shell.functions.contains_key(word));
        self.record_call_as(is_function, call, redirected, shell);
    }

    /// Records the call of an alias. Like a function, an alias is not a program.
    pub(super) fn record_alias(
        &mut self,
        call: &Call,
        redirected: &ResolvedRedirections,
        shell: &ShellState,
    ) {
        self.record_call_as(true, call, redirected, shell);
    }

    fn record_call_as(
        &mut self,
        is_function: bool,
        call: &Call,
        redirected: &ResolvedRedirections,
        shell: &ShellState,
    ) {
        let span = covering_span(call.words.iter().map(|field| field.span));
        let command = ResolvedCommand {
            words: Rc::clone(&call.words),
            env: call.env.clone(),
            is_function,
            ..self.command_without_words(redirected, span, shell)
        };
        self.record(command);
    }

    /// Records redirections without a command (`> file`), and redirections of a compound command.
    pub(super) fn record_redirections(
        &mut self,
        redirected: &ResolvedRedirections,
        prints_nothing: bool,
        shell: &ShellState,
    ) {
        if !redirected.list.iter().any(Redirection::writes) {
            return;
        }
        let span = covering_span(redirected.list.iter().map(|redirection| redirection.span));
        let command = ResolvedCommand {
            prints_nothing,
            ..self.command_without_words(redirected, span, shell)
        };
        self.record(command);
    }

    /// Records a command, unless an equal command was recorded before: loops and functions produce
    /// equal commands.
    fn record(&mut self, command: ResolvedCommand) {
        let before = self.recorded.entry(command.span).or_default();
        let mut recent = before.iter().rev().take(MAX_COMPARED);
        let is_same = |index: &usize| {
            let other = self.commands.get(*index);
            other.is_some_and(|other| command.is_same(other))
        };
        if recent.any(is_same) {
            return;
        }
        before.push(self.commands.len());
        self.commands.push(command);
    }

    /// Returns a command without words, with the state at this point of the walk.
    fn command_without_words(
        &mut self,
        redirected: &ResolvedRedirections,
        span: Span,
        shell: &ShellState,
    ) -> ResolvedCommand {
        ResolvedCommand {
            words: Rc::default(),
            env: Vec::new(),
            redirections: redirected.list.clone(),
            stdin: shell.stdin.clone(),
            reads_pipe: self.reads_pipe,
            output_is_used: self.output_is_used,
            prints_nothing: false,
            is_background: self.is_background,
            cwd: shell.cwd.clone(),
            cwd_if_cd_failed: shell.cwd_if_cd_failed.clone(),
            host: shell.host.clone(),
            home: self.home(shell),
            started_by: self.started_by.clone(),
            span,
            may_never_run: self.may_never_run,
            is_function: false,
            files: Rc::clone(&shell.files),
        }
    }

    /// Returns the user's home directory, shared between all commands. On this machine, a script
    /// that sets `HOME` does not change which directory is the user's home.
    fn home(&mut self, shell: &ShellState) -> Option<Rc<str>> {
        let home = match shell.host {
            CommandHost::Local => self.context.home.as_deref().and_then(Path::to_str)?,
            _ => shell.home()?,
        };
        if self.home.as_deref() != Some(home) {
            self.home = Some(Rc::from(home));
        }
        self.home.clone()
    }

    /// Follows functions, aliases, builtins, launchers and shells.
    fn follow(&mut self, call: &Call, shell: &mut ShellState) -> Value {
        let Some(word) = call.literal(0) else {
            return Value::unknown(UnknownCause::Output);
        };
        let word = word.to_owned();
        if let Some(body) = shell.functions.get(&word).cloned() {
            self.called.insert(word.clone());
            // Recursion is followed a few times, because the arguments may change.
            let nested_calls = self
                .active_functions
                .iter()
                .filter(|other| **other == body.identity())
                .count();
            if nested_calls >= MAX_RECURSION {
                self.recursions += 1;
                return Value::unknown(UnknownCause::Output);
            }
            return self.function(&word, &body, call, shell);
        }
        if let Some(path) = shell.hashed.get(&word).cloned() {
            let mut words = call.words.to_vec();
            words[0].value = Value::text(path);
            return self.start(&call.with_words(words), "hash", shell);
        }
        if word.contains('/')
            && let Some(text) = Self::file(&call.words[0].value, shell)
        {
            return self.script_with(&text, call.values(1), &word, shell);
        }
        let name = word.rsplit('/').next().unwrap_or(&word).to_owned();
        self.program(&name, call, shell)
    }

    /// Walks the body of a function, or repeats the effects of an earlier call.
    fn function(
        &mut self,
        name: &str,
        body: &super::super::ast::Command,
        call: &Call,
        shell: &mut ShellState,
    ) -> Value {
        let outer = shell.positional.replace(Rc::new(call.values(1)));
        let choice = (self.choice, self.rounds);
        self.charge(MEMORY_COST_BYTES);
        (self.choice, self.rounds) = (0, 1);
        let out = self.call_with_cache(body, shell, |walker, shell| {
            walker.active_functions.push(body.identity());
            walker.started_by.push(name.to_owned());
            let out = walker.within_function(name, |walker| {
                walker.nested(Value::default(), |walker| walker.command(body, shell))
            });
            walker.started_by.pop();
            walker.active_functions.pop();
            out
        });
        (self.choice, self.rounds) = choice;
        shell.positional = outer;
        shell.ended = false;
        out
    }

    /// Walks a text as a script with these positional parameters.
    pub(super) fn script_with(
        &mut self,
        text: &Value,
        arguments: Vec<Value>,
        started_by: &str,
        shell: &ShellState,
    ) -> Value {
        let mut inner = shell.clone();
        inner.positional = Some(Rc::new(arguments));
        self.started_by.push(started_by.to_owned());
        let out = self.script(text, &mut inner);
        self.started_by.pop();
        out
    }
}

/// Returns the harmful program that a pattern such as `/bin/r[m]` may match.
fn globbed_program(value: &Value) -> Option<Value> {
    let has_glob = |piece: &ValuePiece| matches!(piece, ValuePiece::Glob(_));
    if value.has_unknown() || !value.pieces().iter().any(has_glob) {
        return None;
    }
    let pattern = pattern::of_value(value);
    let (directory, name) = pattern.rsplit_once('/')?;
    // `./*` runs the first program of the directory, whose name is unknown.
    let is_wide = name.starts_with('*') || name.is_empty();
    let mut programs = HARMFUL_COMMANDS.iter().filter(|_| !is_wide);
    let program = programs.find(|program| pattern::matches(name, program))?;
    Some(Value::text(format!("{directory}/{program}")))
}

/// Returns the span that covers all `spans`.
fn covering_span(spans: impl Iterator<Item = Span> + Clone) -> Span {
    Span {
        start: spans
            .clone()
            .map(|span| span.start)
            .min()
            .unwrap_or_default(),
        end: spans.map(|span| span.end).max().unwrap_or_default(),
    }
}

/// True if a word has an expansion, so that it may have several possible values.
fn has_parameter(word: &Word) -> bool {
    !word
        .parts
        .iter()
        .all(|part| matches!(part, WordPart::Bare(_) | WordPart::Quoted(_)))
}
