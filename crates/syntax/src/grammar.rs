//! The second reader: tree-sitter-bash. Nothing else in the crate uses it.
//!
//! It parses the text that `mend` derives from the script, within limits (its error recovery is quadratic in time
//! and memory), and yields the command words it finds, the kinds of nodes, and whether it had to guess. It resolves
//! nothing; its tree is walked with a cursor, never recursively.

use tree_sitter::{Node, Parser};

use super::ast::{Command, Compound, Kind, List, Part, Word};
use super::mend::{Edit, Mended};
use super::pattern::push_globbed;
use super::run::{Field, Machine, Ran};
use super::state::State;
use super::value::{Value, Why};
use crate::{Context, Span};

/// Longest text in bytes that is given to the grammar, excluding heredoc bodies.
pub const MAX_BYTES: usize = 16 * 1024;

/// Limit of nodes that are visited.
const MAX_NODES: usize = 50_000;

/// Limit of characters that open something (pipes, parentheses, braces, heredocs) in a text for the grammar.
/// Recovering from one unfinished pipe costs about 40 KiB and 0.2 ms for each pipe before it.
const MAX_OPENERS: usize = 600;

/// The grammar's reading of a text.
#[derive(Debug, Default)]
pub struct Tree {
    /// It was not consulted, or stopped early.
    pub unread: bool,
    /// It has ERROR or MISSING nodes.
    pub error: bool,
    /// The kinds of named nodes, each with its first occurrence, in text order.
    pub kinds: Vec<(String, Span)>,
    /// Simple commands, as the spans of their words.
    commands: Vec<Vec<Span>>,
    /// The same from our reader, sorted.
    ours: Vec<Vec<Span>>,
}

/// The role of a node in the walk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A kind not seen before.
    Unseen,
    Command,
    /// A statement with redirections behind it.
    Redirected,
    FileRedirect,
    /// Part of a command, but not one of its words.
    NoWord,
    Other,
}

/// An enclosing node of the current one.
struct Around {
    role: Role,
    /// Words: for a command those found so far, for a redirection those after its target.
    words: Vec<Span>,
    /// Number of redirection targets so far.
    targets: usize,
    /// Which command is the body of a redirected statement.
    body: Option<usize>,
}

/// Parses the edited text and compares the result with our own reading.
pub(crate) fn read(text: &str, edits: Vec<Edit>, list: &List) -> Tree {
    let mut mended = Mended::new(text, edits);
    // Without a trailing newline the grammar tries error recovery first, which takes half of the time for a short
    // pipeline. After a backslash a newline would be a continuation.
    if !mended.text.ends_with(['\n', '\\']) {
        mended.text.push('\n');
    }
    let openers = mended
        .text
        .bytes()
        .filter(|b| b"|(){}<`".contains(b))
        .count();
    if mended.text.len() > MAX_BYTES || openers > MAX_OPENERS {
        return Tree::unread();
    }
    let mut parser = Parser::new();
    if parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .is_err()
    {
        return Tree::unread();
    }
    let Some(parsed) = parser.parse(&mended.text, None) else {
        return Tree::unread();
    };
    let mut tree = Tree {
        error: parsed.root_node().has_error(),
        ..Tree::default()
    };
    tree.walk(parsed.root_node(), &mended);
    tree.commands = std::mem::take(&mut tree.commands)
        .into_iter()
        .flat_map(|command| lines(command, text))
        .collect();
    tree.ours = our_commands(list);
    tree
}

impl Tree {
    /// For a text that was not given to the grammar.
    pub fn unread() -> Self {
        Tree {
            unread: true,
            ..Tree::default()
        }
    }

    /// Whether both readers find the same simple commands.
    pub fn agrees(&self) -> bool {
        !self.unread
            && self.commands.len() == self.ours.len()
            && self.commands.iter().all(|command| self.is_ours(command))
    }

    fn is_ours(&self, command: &Vec<Span>) -> bool {
        self.ours.binary_search(command).is_ok()
    }

    /// Commands that only the grammar finds, with their words unresolved.
    pub(super) fn grammar_only_commands(&self, text: &str, context: &Context) -> Vec<Ran> {
        if self.error {
            // Its error recovery invents commands; our reader found no errors.
            return Vec::new();
        }
        let strange = self
            .commands
            .iter()
            .filter(|command| !self.is_ours(command));
        as_they_stand(strange, text, context)
    }

    /// All commands that it finds, likewise.
    pub fn everything(&self, text: &str, context: &Context) -> Vec<Ran> {
        as_they_stand(self.commands.iter(), text, context)
    }

    /// The spans of all commands' words.
    pub fn words(&self) -> impl Iterator<Item = Span> {
        self.commands.iter().flatten().copied()
    }

    /// Classifies a node of a kind not seen before. (ERROR nodes have an id beyond the table, so they get here
    /// every time.)
    fn meet(&mut self, node: Node<'_>, mended: &Mended) -> Role {
        let kind = node.kind();
        if node.is_named() && !self.kinds.iter().any(|(seen, _)| *seen == kind) {
            let span = mended.original(node.start_byte(), node.end_byte());
            self.kinds.push((kind.to_owned(), span));
        }
        match kind {
            "command" => Role::Command,
            "redirected_statement" => Role::Redirected,
            "file_redirect" => Role::FileRedirect,
            "herestring_redirect" | "variable_assignment" => Role::NoWord,
            _ => Role::Other,
        }
    }

    fn walk(&mut self, root: Node<'_>, mended: &Mended) {
        let mut cursor = root.walk();
        let mut nodes = 0;
        let language = root.language();
        let target = language.field_id_for_name("destination");
        // Indexed by kind id: looking up the name of a node's kind costs more than moving to the node.
        let mut roles = vec![Role::Unseen; language.node_kind_count()];
        let mut around: Vec<Around> = Vec::new();
        loop {
            let node = cursor.node();
            nodes += 1;
            if nodes > MAX_NODES {
                self.unread = true;
                return;
            }
            let id = usize::from(node.kind_id());
            let role = match roles.get(id).copied().unwrap_or(Role::Unseen) {
                Role::Unseen => {
                    let role = self.meet(node, mended);
                    if let Some(slot) = roles.get_mut(id) {
                        *slot = role;
                    }
                    role
                }
                known => known,
            };
            if let Some(parent) = around.last_mut() {
                let is_word = match parent.role {
                    Role::Command => {
                        !matches!(role, Role::FileRedirect | Role::NoWord) && node.is_named()
                    }
                    // The grammar takes words after a target for further targets.
                    Role::FileRedirect if cursor.field_id() == target => {
                        parent.targets += 1;
                        parent.targets > 1
                    }
                    _ => false,
                };
                if is_word {
                    let span = mended.original(node.start_byte(), node.end_byte());
                    parent.words.push(span);
                }
            }
            let mut left = Around {
                role,
                words: Vec::new(),
                targets: 0,
                body: None,
            };
            if cursor.goto_first_child() {
                around.push(left);
                continue;
            }
            loop {
                self.leave(left, around.last_mut());
                if cursor.goto_next_sibling() {
                    break;
                }
                let (true, Some(parent)) = (cursor.goto_parent(), around.pop()) else {
                    return;
                };
                left = parent;
            }
        }
    }

    /// Records what was found in a node.
    fn leave(&mut self, node: Around, parent: Option<&mut Around>) {
        match (node.role, parent) {
            (Role::Command, parent) if !node.words.is_empty() => {
                if let Some(parent) = parent.filter(|parent| parent.role == Role::Redirected) {
                    parent.body = Some(self.commands.len());
                }
                self.commands.push(sorted(node.words));
            }
            (Role::FileRedirect, Some(parent)) if !node.words.is_empty() => match parent.role {
                Role::Command => parent.words.extend(node.words),
                // After a command, it belongs to the enclosing node.
                Role::Redirected => {
                    if let Some(command) = parent.body.and_then(|at| self.commands.get_mut(at)) {
                        command.extend(node.words);
                        command.sort_unstable_by_key(|span| span.start);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
}

/// Splits a command at line ends. After some pipelines the grammar takes a newline for a blank, without reporting
/// an error: `a | b | c | d && e` and the next line become one command.
fn lines(command: Vec<Span>, text: &str) -> Vec<Vec<Span>> {
    let ends = |words: &[Span]| {
        let between = match words {
            [one, next] => text.get(one.end..next.start).unwrap_or(""),
            _ => "",
        };
        // A newline inside the quoted target of a redirection does not end a command.
        between.contains('\n') && !between.contains(['\'', '"', '`', '\\', '(', '$'])
    };
    if !command.windows(2).any(ends) {
        return vec![command];
    }
    command
        .chunk_by(|one, next| !ends(&[*one, *next]))
        .map(<[Span]>::to_vec)
        .collect()
}

fn sorted(mut words: Vec<Span>) -> Vec<Span> {
    words.sort_unstable_by_key(|span| span.start);
    words
}

fn as_they_stand<'c>(
    commands: impl Iterator<Item = &'c Vec<Span>>,
    text: &str,
    context: &Context,
) -> Vec<Ran> {
    let st = State::new(&context.cwd, context.home.as_deref());
    commands
        .map(|command| {
            let words = command.iter().map(|span| plain_field(text, *span));
            Machine::bare(words.collect(), &st)
        })
        .collect()
}

fn plain_field(text: &str, span: Span) -> Field {
    let written = text.get(span.start..span.end).unwrap_or("");
    let mut value = Value::default();
    let bare: String = written
        .chars()
        .filter(|c| !matches!(c, '\'' | '"' | '\\'))
        .collect();
    match bare.find(['$', '`']) {
        None if written.contains(['\'', '"', '\\']) => value.push_text(&bare),
        None => push_globbed(&mut value, &bare),
        Some(_) => value.push_unknown(Why::Expansion, false),
    }
    Field { value, span }
}

/// The simple commands of our reading, as the spans of their words. Substitutions are followed with a work list
/// rather than by recursion.
fn our_commands(list: &List) -> Vec<Vec<Span>> {
    let mut out = Vec::new();
    let mut lists = vec![list];
    while let Some(list) = lists.pop() {
        let mut commands: Vec<&Command> = list
            .entries
            .iter()
            .flat_map(|entry| &entry.stages)
            .collect();
        let mut words: Vec<&Word> = Vec::new();
        let mut parts: Vec<&Part> = Vec::new();
        while let Some(command) = commands.pop() {
            match command {
                Command::Simple(simple) => {
                    let spans: Vec<Span> = simple.words.iter().map(|word| word.span).collect();
                    if !spans.is_empty() {
                        out.push(spans);
                    }
                    words.extend(&simple.words);
                    for assign in &simple.assigns {
                        words.push(&assign.value);
                        parts.extend(assign.index.iter().flatten());
                    }
                    for redir in &simple.redirs {
                        words.push(&redir.target);
                    }
                }
                Command::Compound(compound) => {
                    words.extend(compound.redirs.iter().map(|redir| &redir.target));
                    inside(compound, &mut lists, &mut commands, &mut words, &mut parts);
                }
            }
        }
        while let Some(word) = words.pop() {
            parts.extend(&word.parts);
            while let Some(part) = parts.pop() {
                match part {
                    Part::Command { list, .. } | Part::Process { list, .. } => lists.push(list),
                    Part::Param { param, .. } => {
                        parts.extend(&param.operand);
                        parts.extend(param.index.iter().flatten());
                    }
                    Part::Arithmetic(inner) => parts.extend(inner),
                    Part::Array(inner) => parts.extend(inner.iter().flat_map(|word| &word.parts)),
                    Part::Bare(_) | Part::Quoted(_) => {}
                }
            }
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

fn inside<'l>(
    compound: &'l Compound,
    lists: &mut Vec<&'l List>,
    commands: &mut Vec<&'l Command>,
    words: &mut Vec<&'l Word>,
    parts: &mut Vec<&'l Part>,
) {
    match &compound.kind {
        Kind::Group(list) | Kind::Subshell(list) => lists.push(list),
        Kind::If {
            branches,
            otherwise,
        } => {
            lists.extend(
                branches
                    .iter()
                    .flat_map(|(condition, body)| [condition, body]),
            );
            lists.extend(otherwise);
        }
        Kind::While { condition, body } => lists.extend([condition, body]),
        Kind::For {
            words: values,
            body,
            ..
        } => {
            words.extend(values.iter().flatten());
            lists.push(body);
        }
        Kind::CountedFor { header, body } => {
            parts.extend(header);
            lists.push(body);
        }
        Kind::Case { subject, arms } => {
            words.push(subject);
            for arm in arms {
                words.extend(&arm.patterns);
                lists.push(&arm.body);
            }
        }
        Kind::Function { body, .. } | Kind::Coprocess(body) => commands.push(body),
        Kind::Condition(values) => words.extend(values),
        Kind::Arithmetic(inner) => parts.extend(inner),
    }
}
