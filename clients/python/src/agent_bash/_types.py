"""What is sent and received, as types. Generated from docs/schema by `cargo xtask clients`.

The values are plain dictionaries: fields and kinds that a newer program adds are passed on.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Tuple, TypedDict, Union


# An access to a file.
Access = Literal["read", "write"]


class AdapterCallData(TypedDict):
    """Data of `adapter_call`."""

    # The text for the model, in the format of the adapted tool.
    content: str

    # True if the tool reports an error.
    is_error: bool

    # The regular result, of the last command if there were several; `null` while the call continues, and if it ran no command.
    result: Optional[ToolResult]

    # Structured output in the adapted tool's format; `null` if the tool has none.
    structured: Any


class ArtifactData(TypedDict):
    """A stored full output."""

    # The reference, as in the result of its call.
    artifact: ArtifactRef

    # The command, or its beginning.
    command: str

    # The call's working directory.
    cwd: str

    # The call's duration in milliseconds.
    duration_ms: int

    # When the call started.
    started_at: Timestamp

    # How the call ended.
    status: Status


# Number of an artifact in its state directory. Never reused.
ArtifactId = int


class ArtifactRef(TypedDict):
    """A file with the full output of a stream."""

    # Length of the file.
    bytes: int

    # False if the stream was longer than an artifact may be.
    complete: bool

    # Number within the session.
    id: ArtifactId

    # Lines in the file.
    lines: int

    # Absolute path.
    path: str

    # The stream it contains.
    stream: StreamId

    # `artifact://<id>`.
    uri: str


class ArtifactsData(TypedDict):
    """Data of `artifact.list`."""

    # The artifacts, oldest first.
    artifacts: List[ArtifactData]


class _BashDataAlways(TypedDict):
    # True if the command was cancelled.
    cancelled: bool

    # The output shown.
    output: str

    # Equal to `output_bytes`.
    outputBytes: int

    # Equal to `output_lines`.
    outputLines: int

    # Bytes shown.
    output_bytes: int

    # Lines shown.
    output_lines: int

    # Equal to `total_bytes`.
    totalBytes: int

    # Equal to `total_lines`.
    totalLines: int

    # Bytes printed.
    total_bytes: int

    # Lines printed.
    total_lines: int

    # True if `output` is incomplete.
    truncated: bool


class BashData(_BashDataAlways, total=False):
    """Data of `bash`."""

    # Equal to `artifact_id`.
    artifactId: Optional[str]

    # The artifact with the full output, if a part is not shown.
    artifact_id: Optional[str]

    # Equal to `exit_code`.
    exitCode: Optional[int]

    # Absent if the command was cancelled or its exit code is unknown.
    exit_code: Optional[int]

    # Notices, as in a result; for example that the user's shell was reset.
    notices: List[Notice]


class CallOptions(TypedDict, total=False):
    """The options of a call: its fields without the command."""

    # Working directory; a relative path starts from the host's directory.
    cwd: Optional[str]

    # A description for the user, never interpreted.
    description: Optional[str]

    # Environment variables for this call; `null` unsets.
    env: Dict[str, Optional[str]]

    # Keep only the first lines of stdout.
    head: Optional[int]

    # How long the command may take, and whether it runs in the background.
    mode: Optional[Mode]

    # True to ask for a terminal; false to refuse a terminal that the host offers.
    pty: Optional[bool]

    # Another sandbox for this call. The user must approve one that allows more than the settings.
    sandbox: Optional[SandboxRequest]

    # Persistent shell that runs the script; absent for a new shell.
    session: Optional[SessionName]

    # The part of a long output that the text shows.
    show: Optional[ShownPart]

    # The size of that part in KB, at most `MAX_SHOW_KB`.
    show_kb: Optional[int]

    # The command's stdin.
    stdin: StdinMode

    # Keep only the last lines of stdout; applied after `head`.
    tail: Optional[int]

    # Time limit in seconds.
    timeout: Optional[Union[float, str]]

    # Run the call as a trial, which holds its changes to files.
    trial: Optional[TrialRequest]

    # True to wait for the command's end: no time limit unless `timeout` names one, and no answer with a handle before the end.
    wait: Optional[bool]


class CancelData(TypedDict):
    """Data of `cancel`."""

    # True if such a request was in flight. The response to that request follows.
    cancelled: bool


# The type of a change.
Change = Literal["created", "changed", "deleted", "renamed", "mode"]


class ChangeCounts(TypedDict):
    """The number of changed files by type of change."""

    # Files with other contents or another type.
    changed: int

    # Files that did not exist before.
    created: int

    # Files that no longer exist.
    deleted: int

    # Files with other permissions, owner, times or attributes, and the same contents.
    mode: int

    # Files that were moved to another path.
    renamed: int


class _ChangesAlways(TypedDict):
    # The URI of the complete list: `changes://<id>`.
    all: str

    # How the changes were detected.
    by: ChangesBy

    # Files that another process changed in the meantime.
    conflicts: List[FileName]

    # The number of changes of each type.
    counts: ChangeCounts

    # True if the list is complete and each entry is correct.
    exact: bool

    # The first `MAX_FILES` changes: deletions first, files of `.git` last.
    files: List[FileChange]

    # The number of the change set.
    id: ChangesId

    # The number of changes that are not in `files`.
    more: int

    # Files without a preimage, which cannot be restored.
    not_restorable: List[FileName]

    # The recorded directory; absolute. Bytes that are not UTF-8 are replaced by U+FFFD.
    root: str

    # The state of the change set.
    state: ChangesState

    # How much of the change set can be undone.
    undo: Undoable


class Changes(_ChangesAlways, total=False):
    """A change set: what a call did to files, or what a trial would do."""

    # The command that made the changes: one line, shortened, secrets masked. Absent in the result of the call itself.
    command: Optional[str]

    # The number of files changed outside `root`, by directory. Beyond a limit, writes are counted instead of files.
    outside: Dict[str, int]

    # True if some of the changes were undone and others were not.
    undone_in_part: bool


class ChangesBlockedData(TypedDict):
    """A change set that cannot be undone or redone."""

    # The number of the change set.
    id: ChangesId

    # The reason.
    why: str


# How changes were detected.
ChangesBy = Literal["overlay", "trace", "scan"]


class ChangesDiffData(TypedDict):
    """Data of `changes.diff`."""

    # The requested files, in the order of their paths; files in a `.git` directory come last.
    files: List[FileDiffData]


class ChangesDoneData(TypedDict):
    """Data of `changes.commit`, `changes.discard`, `changes.undo` and `changes.redo`."""

    # The change set. For an undo or a redo: the new change set of that operation, which can itself be undone.
    changes: Changes

    # The counts as a sentence.
    text: str


class _ChangesGroupDataAlways(TypedDict):
    # The new change sets of these undos or redos, in the same order.
    changes: List[Changes]

    # The change sets that were undone or redone, in order of execution.
    sets: List[ChangesId]

    # The result as a sentence, and a line for each skipped file or change set.
    text: str


class ChangesGroupData(_ChangesGroupDataAlways, total=False):
    """Data of `changes.undo_all` and `changes.redo_all`."""

    # The turn's name, if the request names a turn.
    turn: Optional[str]


class _ChangesGroupPreviewDataAlways(TypedDict):
    # The change sets that cannot be undone or redone.
    blocked: List[ChangesBlockedData]

    # The change sets in order of execution.
    sets: List[ChangesMemberData]


class ChangesGroupPreviewData(_ChangesGroupPreviewDataAlways, total=False):
    """Data of `changes.preview_all`."""

    # The turn's name, if the request names a turn.
    turn: Optional[str]


ChangesId = str


class ChangesListData(TypedDict):
    """Data of `changes.list`."""

    # The change sets, oldest first.
    sets: List[ChangesSetData]


class ChangesMemberData(TypedDict):
    """A change set in the preview of several."""

    # Files that were changed after the change set. These files prevent the operation, unless it is partial.
    conflicts: List[FileName]

    # The number of files that would change.
    counts: ChangeCounts

    # All files of the change set.
    files: List[FileChange]

    # The number of the change set.
    id: ChangesId

    # The recorded directory.
    root: str

    # The changes that a partial operation would make: all changes without conflicts.
    without_conflict: List[FileChange]


class ChangesPreviewData(TypedDict):
    """Data of `changes.preview`."""

    # Files that were changed after the change set. These files prevent the operation, unless it is partial.
    conflicts: List[FileName]

    # The number of files that would change.
    counts: ChangeCounts

    # All files of the change set.
    files: List[FileChange]

    # The changes that a partial operation would make: all changes without conflicts.
    without_conflict: List[FileChange]


class _ChangesSetDataAlways(TypedDict):
    # The number, state and files of the change set.
    changes: Changes

    # When the call that made the changes was started.
    started_at: Timestamp


class ChangesSetData(_ChangesSetDataAlways, total=False):
    """A change set in a list."""

    # For changes of background processes: the change set of the call that started the processes.
    after: Optional[ChangesId]

    # True if an earlier call of the same shell may have started these background processes instead.
    maybe_earlier: bool

    # If this change set is a redo: the change set that was redone.
    redoes: Optional[ChangesId]

    # The name of the turn in which the call ran, if turns are recorded.
    turn: Optional[str]

    # If this change set is an undo: the change set that was undone.
    undoes: Optional[ChangesId]


# The state of a change set.
ChangesState = Literal["listed", "done", "held", "discarded", "undone", "interrupted", "running"]


class CheckAnswerData(TypedDict):
    """The verdict of a check."""

    # `safety`, `safemode` or `interceptor`.
    check: str

    # The verdict.
    verdict: VerdictData


class CheckData(TypedDict):
    """Data of `check`."""

    # The check that decided: `safety`, `safemode`, `interceptor`. This field and the fields below are `null` if the script is allowed.
    check: Optional[str]

    # The functions and aliases of the shell, and the aliases of git, that the script uses.
    definitions: List[DefinitionData]

    # The group of a safety rule.
    group: Optional[str]

    # An alternative that would be allowed, if there is one.
    instead: Optional[str]

    # The message to show.
    message: Optional[str]

    # The id of the rule.
    rule: Optional[str]

    # The offending part of the script, as byte offsets `[from, to]`.
    span: Optional[Tuple[int, int]]

    # For the interceptor: the tool to use instead.
    suggested_tool: Optional[str]

    # `allow`, `block` or `unreadable`.
    verdict: str


_DataByCommandWords = TypedDict(
    "_DataByCommandWords",
    {
        "artifact.grep": "FoundData",
        "artifact.list": "ArtifactsData",
        "artifact.show": "PageData",
        "changes.commit": "ChangesDoneData",
        "changes.diff": "ChangesDiffData",
        "changes.discard": "ChangesDoneData",
        "changes.list": "ChangesListData",
        "changes.preview": "ChangesPreviewData",
        "changes.preview_all": "ChangesGroupPreviewData",
        "changes.redo": "ChangesDoneData",
        "changes.redo_all": "ChangesGroupData",
        "changes.show": "Changes",
        "changes.undo": "ChangesDoneData",
        "changes.undo_all": "ChangesGroupData",
        "file.read": "FilePieceData",
        "file.write": "FileWrittenData",
        "jobs.input": "JobData",
        "jobs.kill": "JobKillData",
        "jobs.list": "JobsData",
        "jobs.output": "JobOutputData",
        "jobs.show": "JobData",
        "jobs.wait": "JobWaitData",
        "session.end_turn": "MessagesData",
        "session.list": "ShellsData",
        "session.messages": "MessagesData",
        "session.reset": "ResetData",
        "terminal.end": "TerminalData",
        "terminal.input": "TerminalData",
        "terminal.screen": "TerminalData",
        "terminal.start": "TerminalData",
    },
)


class DataByCommand(_DataByCommandWords):
    """Maps each request to the data of its response. Requests that are missing here have no data."""

    adapter_call: AdapterCallData

    bash: BashData

    cancel: CancelData

    check: CheckData

    explain: ExplainData

    hello: HelloData

    ping: PingData

    program: ProgramData

    schema: SchemaData

    tool_call: ToolResult


class DefinitionData(TypedDict):
    """A definition that a script uses, and that its shell has before the script."""

    # `alias`, `function`, or `git alias`.
    kind: str

    # The name.
    name: str

    # The alias's value, or the function's definition; cut if it is long.
    text: str


# How a denial was detected.
DenialBasis = Literal["inferred", "observed"]


class DeniedAccess(TypedDict):
    """A file to which the sandbox denied access."""

    # The access that the sandbox forbids.
    access: Access

    # How the denial was detected.
    basis: DenialBasis

    # The path of the file; absolute.
    path: str


# The part of an output that is shown.
Direction = Literal["tail", "head", "middle", "head_tail"]


# How much of a sandbox is enforced.
Enforced = Literal["full", "partial", "nothing"]


# Kinds of errors that a program tells apart.
ErrorCode = Literal["protocol", "token", "not_judged", "not_found", "permission_denied", "not_a_file", "no_space", "io", "conflict"]


class ExplainData(TypedDict):
    """Data of `explain`."""

    # The verdict of each check.
    answers: List[CheckAnswerData]

    # The commands of the script, also those within these definitions.
    commands: List[ReadCommandData]

    # The functions and aliases of the shell, and the aliases of git, that the script uses.
    definitions: List[DefinitionData]

    # True if both parsers found the same commands.
    readers_agree: bool

    # Remarks on effects and parts of the script that the verdict does not cover.
    remarks: List[str]

    # The verdict of each safety rule.
    rules: List[RuleAnswerData]

    # The script.
    script: str

    # All of this as text, as `agent-bash explain` prints it.
    text: str

    # The verdict, as of `check`.
    verdict: VerdictData


class _FileChangeAlways(TypedDict):
    # The type of the change.
    change: Change

    # The path; bytes that are not UTF-8 are replaced by U+FFFD.
    path: str


_FileChangeWords = TypedDict(
    "_FileChangeWords",
    {
        "from": "Optional[str]",
    }, total=False,
)


class FileChange(_FileChangeAlways, _FileChangeWords, total=False):
    """A file that a call changed. Paths are below the root, separated by `/`."""

    # Size of a regular file in bytes before and after; 0 if it did not exist.
    bytes: Optional[Tuple[int, int]]

    # The bytes of the former path in base64, if they are not UTF-8.
    from_base64: Optional[str]

    # True if `change` was inferred: a deleted and a created file have equal contents.
    inferred: bool

    # The file type, or the former one of a deleted file. Absent in JSON for regular files.
    kind: FileKind

    # The bytes of the path in base64, if they are not UTF-8.
    path_base64: Optional[str]


class _FileDiffDataAlways(TypedDict):
    # True if `diff` is `null` because the file is not text.
    binary: bool

    # True if the file was changed again later, and its contents before that change are not stored. The diff then compares with the current file.
    changed_since: bool

    # A unified diff, in which the file's characters are not escaped; `null` if no diff can be shown.
    diff: Optional[str]

    # The change.
    file: FileChange

    # Type and permissions before and after, in octal, where they differ; otherwise `null`.
    mode: Optional[Tuple[str, str]]


class FileDiffData(_FileDiffDataAlways, total=False):
    """The diff of a file."""

    # True for a file of a held trial that another process changed after the trial: the trial cannot be committed. The diff shows the trial's change.
    blocks_commit: bool


# The type of a file after the change, or before it if the file was deleted.
FileKind = Literal["file", "directory", "symlink", "fifo", "socket", "device"]


class _FileNameAlways(TypedDict):
    # The path; bytes that are not UTF-8 are replaced by U+FFFD.
    path: str


class FileName(_FileNameAlways, total=False):
    """The path of a file."""

    # The bytes of the path in base64, if they are not UTF-8.
    path_base64: Optional[str]


class FilePieceData(TypedDict):
    """Data of `file.read`."""

    # True if this piece reaches the end of the file.
    at_end: bool

    # The bytes from `offset` on.
    data: str

    # The file's permissions, as a number: 420 is `0644`.
    mode: int

    # Length of the whole file now.
    size: int


class _FileWrittenDataAlways(TypedDict):
    # Bytes received so far.
    size: int


class FileWrittenData(_FileWrittenDataAlways, total=False):
    """Data of `file.write`."""

    # The upload that the next piece names; absent once the file is in place.
    upload: Optional[int]


class FoundData(TypedDict):
    """Data of `artifact.grep`."""

    # A sentence about the matches that are not shown.
    hint: Optional[str]

    # The matches, line by line.
    lines: List[FoundLineData]

    # `offset` from which to find the matches that are not shown.
    next: Optional[int]

    # Matches and their context as `grep -n` prints them.
    text: str

    # Number of matches, shown or not.
    total_matches: int


class FoundLineData(TypedDict):
    """A matching line or a line of context."""

    # True if the line matches; otherwise the line is context.
    is_match: bool

    # The line's number, from 1.
    number: int

    # The line's text without the line end.
    text: str


class _HelloDataAlways(TypedDict):
    # The profile in force: how calls behave and how results read.
    profile: str

    # Version of the protocol.
    protocol: int

    # The model's other tools from now on; `null` if none were named.
    tools: Optional[List[str]]

    # Version of agent-bash.
    version: str


class HelloData(_HelloDataAlways, total=False):
    """Data of `hello`."""

    # Architecture, for example `x86_64`.
    arch: str

    # Path of the shell that runs scripts; `null` if there is none, so that no call can run.
    bash: Optional[str]

    # Changes with every boot of the machine; `null` if unknown.
    boot_id: Optional[str]

    # The working directory of calls that name none; absolute.
    cwd: str

    # The user's home; `null` if unknown.
    home: Optional[str]

    # True if the session existed before: its jobs and artifacts are still known.
    known: bool

    # Operating system, for example `linux`.
    os: str

    # Pid of the worker.
    pid: int

    # Numeric id of the worker's user.
    uid: int


class Holder(TypedDict, total=False):
    """A process that holds a resource which a command needs."""

    # The process's command line, shortened; empty if this user cannot see the process.
    command: str

    # The job of this conversation that the process belongs to, if any.
    job: Optional[JobId]

    # The TCP addresses on which the process listens.
    listens_on: List[str]

    # The process; absent if this user cannot see it.
    pid: Optional[int]

    # The owner of a process that this user cannot see.
    uid: Optional[int]


class _JobDataAlways(TypedDict):
    # The script; for adopted survivors, the script of their call.
    command: str

    # The job's working directory at the start.
    cwd: str

    # The job's name in the session: a number as text.
    id: str

    # `started` as a job, or `adopted`: survivors of a call.
    kind: JobOrigin

    # The file with the job's output; `null` if no output is stored.
    output: Optional[str]

    # The job's process group.
    pgid: int

    # Pid of the job's shell.
    pid: int

    # When the job's script was started.
    started_at: Timestamp

    # The job's state: running, or how it ended.
    state: JobProgress

    # True if the job can read input written with `jobs.input`.
    stdin: bool


class JobData(_JobDataAlways, total=False):
    """A background job at this moment. Data of `jobs.show` and `jobs.input`."""

    # The TCP addresses on which the job's processes listen, such as `127.0.0.1:5173`.
    listens_on: List[str]

    # For a job that has ended or is lost: the job's processes that are still alive. Each says whether it can still write to the output.
    remaining: List[Survivor]

    # The sandbox of the job; absent if the job has no sandbox.
    sandbox: Optional[JobSandbox]

    # The reason why the job's changes are not recorded, although recording was requested.
    unrecorded: Optional[str]


# How a job ended.
JobEndingData = Union["JobEndingDataExited", "JobEndingDataSignaled", "JobEndingDataTimedOut", "JobEndingDataAllEnded"]


class JobEndingDataAllEnded(TypedDict):
    """All survivors of a call have ended."""

    kind: Literal["all_ended"]


class JobEndingDataExited(TypedDict):
    """The job's shell exited."""

    # Exit code, 0 to 255.
    code: int

    kind: Literal["exited"]


class JobEndingDataSignaled(TypedDict):
    """The job's shell was killed by a signal."""

    kind: Literal["signaled"]

    # The platform's signal number.
    number: int

    # For example `SIGKILL`.
    signal: str


class JobEndingDataTimedOut(TypedDict):
    """The time limit passed."""

    # The limit in milliseconds.
    after_ms: int

    kind: Literal["timed_out"]


# Name of a background job in its state directory.
JobId = str


class JobKillData(TypedDict):
    """Data of `jobs.kill`."""

    # The job now.
    job: JobData

    # The job's processes that are still alive.
    survivors: List[Survivor]


# How a job came into being.
JobOrigin = Literal["started", "adopted"]


_JobOutputDataWords = TypedDict(
    "_JobOutputDataWords",
    {
        "from": "int",
    },
)


class JobOutputData(_JobOutputDataWords):
    """Data of `jobs.output`."""

    # True if these bytes reach the end of the output so far.
    at_end: bool

    # True if no more output can follow: the job has ended and no process holds its output open any more.
    complete: bool

    # The job, as it was just before the output was read.
    job: JobData

    # Offset where the next part begins.
    next: int

    # The output; invalid UTF-8 is replaced.
    text: str


# The state of a job: running, or how it ended.
JobProgress = Union["JobProgressRunning", "JobProgressEnded", "JobProgressLost"]


class JobProgressEnded(TypedDict):
    """Ended."""

    # Bytes of output beyond the limit of the output file, which are not stored.
    dropped_bytes: int

    # The time of the end.
    ended_at: Timestamp

    # The ending.
    ending: JobEndingData

    # True if processes of the job outlived it; the job's `remaining` lists those still alive.
    has_remaining: bool

    kind: Literal["ended"]


class JobProgressLost(TypedDict):
    """The ending is unknown."""

    kind: Literal["lost"]

    # The reason why the ending is unknown.
    reason: str


class JobProgressRunning(TypedDict):
    """Running."""

    kind: Literal["running"]


class JobSandbox(TypedDict):
    """The sandbox of a job, as observed when its shell started."""

    # How much of the sandbox is enforced.
    enforced: Enforced

    # The write access of the job.
    level: SandboxLevel

    # The promises that are not enforced.
    missing: List[MissingPromise]

    # The network of the job.
    network: Network


class _JobWaitDataAlways(TypedDict):
    # The job now.
    job: JobData

    # True if the job has ended.
    over: bool


class JobWaitData(_JobWaitDataAlways, total=False):
    """Data of `jobs.wait`."""

    # The condition that ended the wait; absent if the wait timed out or was cancelled.
    met: Optional[MetCondition]

    # The last output so far, at most 16 KiB; absent without conditions, and if none is stored.
    output: Optional[str]


class JobsData(TypedDict):
    """Data of `jobs.list`."""

    # The jobs, in the order in which they started.
    jobs: List[JobData]


class Judged(TypedDict, total=False):
    """The policy's findings in a script, so that the remote host need not parse the script again."""

    # The original script, if the script that runs differs.
    command: Optional[str]

    # True if the request to leave the sandbox was approved.
    escalated: bool

    # True if a rule refuses the script, and the user or the settings let it pass.
    excepted: bool

    # True if exit code 1 of the remaining script is a result, not a failure.
    exit_1_is_ok: bool

    # For each stage of the last pipeline, true if exit code 1 is a result; absent if the script does not end with a pipeline.
    last_pipeline: Optional[List[bool]]

    # True if a filter was lifted off the end of the script.
    lifted: bool

    # Notices for the result.
    notices: List[Notice]

    # A program in the script that gains privileges (such as `sudo`), or a program in which the user may type such a command.
    takes_privileges: Optional[str]

    # True if the call has no default time limit, because the user watches it and can end it.
    unlimited: bool

    # The largest text that the client passes to the model.
    window: Optional[Window]


# A resource limit that the system reports when it is reached.
LimitKind = Literal["cpu_s", "file_mb", "memory_mb", "processes", "cpu_percent"]


class MessageData(TypedDict):
    """A recorded command of the user."""

    # The full output, if a part is not shown.
    artifact: Optional[ArtifactRef]

    # True if the command was cancelled.
    cancelled: bool

    # The command as the user gave it.
    command: str

    # True if the command is hidden from the model.
    excluded_from_context: bool

    # `null` if the command was killed or its exit code is unknown.
    exit_code: Optional[int]

    # The output shown.
    output: str

    # The text that the model reads; `null` if excluded.
    text: Optional[str]

    # When the command started.
    time: Timestamp

    # True if `output` is incomplete.
    truncated: bool


class MessagesData(TypedDict):
    """Data of `session.messages` and `session.end_turn`."""

    # The messages, in order.
    messages: List[MessageData]


# The condition that ended a wait.
MetCondition = Union["MetConditionEnd", "MetConditionLine", "MetConditionPort", "MetConditionFile", "MetConditionQuiet"]


class MetConditionEnd(TypedDict):
    """The job has ended."""

    kind: Literal["end"]


class MetConditionFile(TypedDict):
    """The file exists."""

    kind: Literal["file"]

    # The absolute path of the file.
    path: str


class MetConditionLine(TypedDict):
    """A line of the output matches."""

    kind: Literal["line"]

    # The line, without control sequences.
    line: str


class MetConditionPort(TypedDict):
    """A process listens on the port."""

    # The address on which it listens.
    address: str

    kind: Literal["port"]

    # True if the process belongs to the job.
    of_job: bool


class MetConditionQuiet(TypedDict):
    """Nothing was printed for a time."""

    kind: Literal["quiet"]

    # The time in milliseconds.
    ms: int


# A promise that is not enforced. These promises are optional: if an essential promise cannot be enforced, the call does not start.
MissingPromise = Literal["protected", "metadata", "stat", "ipc", "terminals", "signals", "truncate", "moves"]


# How a call is run, and how long it may take.
Mode = Literal["default", "slow", "background"]


# A text; a number is accepted and converted to its digits.
Name = Union[str, float]


# The network of a call. Values that allow more are greater.
Network = Literal["off", "loopback", "hosts", "on"]


# A notice: its kind with values, and the sentence generated from them.
Notice = Union["NoticeSurvivors", "NoticeFailedStage", "NoticeSessionReset", "NoticeTimeoutClamped", "NoticeArtifactFailed", "NoticeOverwritten", "NoticeSecretsMasked", "NoticeHeadSatisfied", "NoticeWaitingForInput", "NoticePromptUnanswered", "NoticeFieldRenamed", "NoticeLifted", "NoticeAdvice", "NoticeRuleAdvice", "NoticeAllowedByUser", "NoticeLimitHit", "NoticeWithoutCgroup", "NoticeSnapshotSkipped", "NoticeSnapshotLoaded", "NoticeDefinitionMissing", "NoticeAuditFailed", "NoticeJournalFailed", "NoticeSandboxDenied", "NoticeSandboxSockets", "NoticeSandboxOperations", "NoticeSandboxCache", "NoticeSandboxNetwork", "NoticeSandboxHosts", "NoticeSandboxPartial", "NoticeProtectedChanged", "NoticeProtectedUncompared", "NoticeProtectedInTrial", "NoticeGitConfigDropped", "NoticeSandboxUnsupported", "NoticeSandboxUnknown", "NoticeChanges", "NoticeChangesUnknown", "NoticeChangesLimit", "NoticeChangesUntraced", "NoticePortInUse", "NoticeLockHeld", "NoticeWithoutSupervisor"]


class NoticeAdvice(TypedDict):
    """Another tool is more suitable; the command was run."""

    kind: Literal["advice"]

    # The rule's message.
    message: str

    # The tool.
    suggested_tool: str

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeAllowedByUser(TypedDict):
    """The user allowed a command that a rule refuses."""

    kind: Literal["allowed_by_user"]

    # The rule.
    rule: str

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeArtifactFailed(TypedDict):
    """The full output could not be stored."""

    kind: Literal["artifact_failed"]

    # For example `No space left on device`.
    reason: str

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeAuditFailed(TypedDict):
    """The call could not be written to the host's audit log."""

    kind: Literal["audit_failed"]

    # For example `Permission denied`.
    reason: str

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeChanges(TypedDict):
    """The changes that the call made, or that the trial would make."""

    # The number of the change set.
    id: ChangesId

    kind: Literal["changes"]

    # The text in one line.
    line: str

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeChangesLimit(TypedDict):
    """The call was ended because its preimages reached the size limit."""

    kind: Literal["changes_limit"]

    # The setting `changes.max_set_mb`, in MiB.
    max_mb: int

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeChangesUnknown(TypedDict):
    """The changes of the call are unknown, or not completely known."""

    kind: Literal["changes_unknown"]

    # Why.
    reason: str

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeChangesUntraced(TypedDict):
    """The call was scanned, not traced, and left processes running. Their further changes are not recorded."""

    kind: Literal["changes_untraced"]

    # The processes.
    pids: List[int]

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeDefinitionMissing(TypedDict):
    """A command was not found. The user's shell configuration defines it, but is not loaded."""

    kind: Literal["definition_missing"]

    # The name of the command.
    name: str

    # Why.
    reason: str

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeFailedStage(TypedDict):
    """An earlier stage of a pipeline failed, which the exit code does not show."""

    # The stage's exit status.
    code: int

    kind: Literal["failed_stage"]

    # Position in the pipeline, from 1.
    stage: int

    # The exit statuses of all stages.
    stages: List[Stage]

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeFieldRenamed(TypedDict):
    """A field was given under an alternative name."""

    kind: Literal["field_renamed"]

    # The name in the request.
    name: str

    # The canonical name.
    used: str

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeGitConfigDropped(TypedDict):
    """Changes of the repository's `.git/config` that the sandbox did not keep, because they are dangerous outside of it."""

    # The keys, at most 20; or `all changes`, with the reason.
    keys: List[str]

    kind: Literal["git_config_dropped"]

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeHeadSatisfied(TypedDict):
    """`head` received its lines, so the producer's pipe was closed."""

    kind: Literal["head_satisfied"]

    # The number of requested lines.
    lines: int

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeJournalFailed(TypedDict):
    """The call could not be written to the session's journal."""

    kind: Literal["journal_failed"]

    # For example `No space left on device`.
    reason: str

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeLifted(TypedDict):
    """A trailing `head` or `tail` was removed from the command and applied to its output."""

    # The filter as written in the command.
    filter: str

    kind: Literal["lifted"]

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeLimitHit(TypedDict):
    """The processes of the call reached a resource limit: one or all of them were killed, were refused further processes, or were slowed."""

    kind: Literal["limit_hit"]

    # The name of the limit, as in the settings.
    limit: LimitKind

    # The limit in force.
    value: int

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class _NoticeLockHeldAlways(TypedDict):
    # The age of the file in seconds.
    age_s: int

    kind: Literal["lock_held"]

    # The file of the lock; absolute.
    path: str

    # The tool that the lock belongs to, such as `git`.
    tool: str

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeLockHeld(_NoticeLockHeldAlways, total=False):
    """A message in the output says that a lock is held."""

    # The process that holds the lock; absent if no visible process does.
    holder: Optional[Holder]


class _NoticeOverwrittenAlways(TypedDict):
    kind: Literal["overwritten"]

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeOverwritten(_NoticeOverwrittenAlways, total=False):
    """Visible text was overwritten on its line, by a carriage return or backspaces, and is not shown."""

    # The full output; `None` if it could not be stored.
    artifact: Optional[str]


class _NoticePortInUseAlways(TypedDict):
    # The processes that listen on the port. Without a port: the jobs that listen on any port.
    holders: List[Holder]

    kind: Literal["port_in_use"]

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticePortInUse(_NoticePortInUseAlways, total=False):
    """A message in the output says that an address is in use."""

    # The port; absent if the output does not name the port.
    port: Optional[int]


class _NoticePromptUnansweredAlways(TypedDict):
    # How a call can avoid the prompt.
    advice: str

    kind: Literal["prompt_unanswered"]

    # The requested input, such as `a password`.
    wanted: str

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticePromptUnanswered(_NoticePromptUnansweredAlways, total=False):
    """A program wanted to ask the user, and could not: the call has no terminal."""

    # The program; absent if the output does not name it.
    program: Optional[str]


class NoticeProtectedChanged(TypedDict):
    """Files changed or appeared that run or configure programs outside the sandbox."""

    kind: Literal["protected_changed"]

    # The files; absolute, at most 1,000.
    paths: List[str]

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeProtectedInTrial(TypedDict):
    """A trial holds back changes of files that run or configure programs outside the sandbox."""

    kind: Literal["protected_in_trial"]

    # The files; absolute.
    paths: List[str]

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeProtectedUncompared(TypedDict):
    """The sandbox did not compare all files of some directories, because they are too many, or because the file system is slow. Reported once for a directory."""

    # The outermost directories; not empty, at most 1,000.
    directories: List[UncomparedDirectory]

    kind: Literal["protected_uncompared"]

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class _NoticeRuleAdviceAlways(TypedDict):
    kind: Literal["rule_advice"]

    # The reason.
    message: str

    # The rule's name.
    rule: str

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeRuleAdvice(_NoticeRuleAdviceAlways, total=False):
    """A rule of the user's advises against the command; the command was run."""

    # The alternative; may be empty.
    instead: str


class NoticeSandboxCache(TypedDict):
    """A message in the output says that a file is missing in a tool's cache. This call cannot write the user's cache."""

    kind: Literal["sandbox_cache"]

    # The user's cache; absolute.
    path: str

    # The tool.
    tool: str

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class _NoticeSandboxDeniedAlways(TypedDict):
    # The forbidden access.
    access: Access

    # How the denial was detected.
    basis: DenialBasis

    kind: Literal["sandbox_denied"]

    # The level in force.
    level: SandboxLevel

    # The file; absolute.
    path: str

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeSandboxDenied(_NoticeSandboxDeniedAlways, total=False):
    """The sandbox forbids a file that a message in the output names, or that a failed command tried to change, or asked whether it can."""

    # True if the file is protected below a writable directory, so that no setting allows the access.
    is_protected: bool


class NoticeSandboxHosts(TypedDict):
    """The proxy of the sandbox refused connections to hosts that are not listed."""

    kind: Literal["sandbox_hosts"]

    # The refused targets; not empty.
    refused: List[RefusedHost]

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeSandboxNetwork(TypedDict):
    """The command tried to reach a network that the sandbox does not provide."""

    kind: Literal["sandbox_network"]

    # The network of the call.
    network: Network

    # The number of attempts.
    refused: int

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeSandboxOperations(TypedDict):
    """A command failed, and its output has an error of operations that the sandbox refuses."""

    kind: Literal["sandbox_operations"]

    # The level in force.
    level: SandboxLevel

    # The operations that fail with this error.
    refused: RefusedOperations

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class _NoticeSandboxPartialAlways(TypedDict):
    kind: Literal["sandbox_partial"]

    # The promises that are not enforced.
    missing: List[MissingPromise]

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeSandboxPartial(_NoticeSandboxPartialAlways, total=False):
    """The sandbox does not enforce all of its promises here. Reported once per conversation."""

    # True if attempts to reach the network are refused without being counted.
    network_uncounted: bool


class NoticeSandboxSockets(TypedDict):
    """A message in the output says that a Unix socket was refused."""

    # True if a full sandbox with its own network lets the call's processes connect to each other.
    is_full: bool

    kind: Literal["sandbox_sockets"]

    # The level in force.
    level: SandboxLevel

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeSandboxUnknown(TypedDict):
    """A file system did not answer, so a part of the sandbox's observations is unknown."""

    kind: Literal["sandbox_unknown"]

    # The unknown observations.
    unknown: List[UnknownObservation]

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeSandboxUnsupported(TypedDict):
    """A program was ended by SIGSYS, because it used system calls that the sandbox does not support."""

    kind: Literal["sandbox_unsupported"]

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class _NoticeSecretsMaskedAlways(TypedDict):
    # The number of masked places in the output.
    count: int

    kind: Literal["secrets_masked"]

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeSecretsMasked(_NoticeSecretsMaskedAlways, total=False):
    """Secrets in the output are masked."""

    # The full output, which has the secrets as printed; `None` if it is not stored.
    artifact: Optional[str]


class NoticeSessionReset(TypedDict):
    """The persistent shell has ended; the next call starts a new one."""

    kind: Literal["session_reset"]

    # The reason, and what was preserved.
    reason: str

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeSnapshotLoaded(TypedDict):
    """The user's shell configuration, which took long to read, is loaded from this call on."""

    kind: Literal["snapshot_loaded"]

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeSnapshotSkipped(TypedDict):
    """The user's shell configuration was not loaded."""

    kind: Literal["snapshot_skipped"]

    # Why.
    reason: str

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeSurvivors(TypedDict):
    """Processes started by the call are still alive."""

    kind: Literal["survivors"]

    # The processes; the same list as in the result.
    survivors: List[Survivor]

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeTimeoutClamped(TypedDict):
    """The requested timeout was out of bounds."""

    # Requested, in milliseconds.
    asked_ms: int

    kind: Literal["timeout_clamped"]

    # The value in force, in milliseconds.
    used_ms: int

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeWaitingForInput(TypedDict):
    """A program waits for input that no user can type."""

    kind: Literal["waiting_for_input"]

    # `line`, `secret`, `raw` or `full_screen`.
    state: WaitingFor

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeWithoutCgroup(TypedDict):
    """Limits for all processes of the call together could not be applied. They hold for each process (`memory_mb`), for this user (`processes`), or not at all (`cpu_percent`)."""

    kind: Literal["without_cgroup"]

    # The names of the limits; not empty.
    limits: List[LimitKind]

    # Why.
    reason: str

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class NoticeWithoutSupervisor(TypedDict):
    """No supervisor runs: processes are found only by process group and by scanning `/proc`."""

    kind: Literal["without_supervisor"]

    # Why.
    reason: str

    # The sentence for people and models; generated from `kind`, never parsed.
    text: str


class OutputSummary(TypedDict):
    """Counts of an output stream. Bytes are raw bytes; lines are counted as by `wc -l`, plus one for a last line without a newline."""

    # True if a line that says `binary` replaces the output.
    binary: bool

    # The part of the output that the limit keeps.
    direction: Direction

    # Raw bytes that are not shown.
    dropped_bytes: int

    # Lines that are not shown.
    dropped_lines: int

    # Bytes of output text in the result, after cleaning.
    shown_bytes: int

    # Lines of output text in the result.
    shown_lines: int

    # The lines shown: `[first, last]`, from 1, inclusive.
    shown_ranges: List[Tuple[int, int]]

    # Bytes printed.
    total_bytes: int

    # Lines printed.
    total_lines: int

    # True if a part of the output is not shown.
    truncated: bool

    # The limit that truncated the output.
    truncated_by: Optional[TruncatedBy]


class PageData(TypedDict):
    """Data of `artifact.show`."""

    # A sentence about how to read on, if the page is not everything.
    hint: Optional[str]

    # First and last line on the page, from 1; `null` for an empty page.
    lines: Optional[Tuple[int, int]]

    # `offset` of the next page; `null` after the last page, and if the page ends inside a line.
    next: Optional[int]

    # `byte` of the next page, if this page ends inside a line.
    next_byte: Optional[int]

    # The page as clean text.
    text: str

    # Total bytes of the artifact.
    total_bytes: int

    # Total lines of the artifact.
    total_lines: int


class PingData(TypedDict):
    """Data of `ping`."""

    # The build of that version: to tell builds apart, not to compare them.
    build: str

    # Version of the protocol.
    protocol: int

    # Version of agent-bash.
    version: str


class _ProgramDataAlways(TypedDict):
    # The program's stderr, at most 256 KiB.
    err: str

    # The program's stdout, at most 4 MiB.
    out: str


class ProgramData(_ProgramDataAlways, total=False):
    """Data of `program`."""

    # The program's exit code; absent if a signal ended it.
    code: Optional[int]


class ReadCommandData(TypedDict):
    """A command as it was read."""

    # The working directory, if it differs from the script's.
    cwd: Optional[str]

    # The position in the script, as byte offsets `[from, to]`.
    span: Tuple[int, int]

    # The resolved words on one line; the redirections of a command without words.
    text: str

    # The programs, functions and aliases that start the command, outermost first.
    through: List[str]

    # The parts that are unknown until the command runs.
    unknown: List[str]


class _RefusedHostAlways(TypedDict):
    # The number of refused connections.
    count: int

    # The host with its port, such as `example.org:443`.
    host: str


class RefusedHost(_RefusedHostAlways, total=False):
    """A target that the proxy of a sandbox refused, or to which it refused a secret."""

    # A variable of the setting `sandbox.secrets`. The connections were made; their requests had the placeholder of this variable, and did not get its value.
    secret: Optional[str]


# Operations that a sandbox refuses, by the error with which they fail.
RefusedOperations = Literal["privileged", "file_attributes", "unchecked", "socket_families", "sockets", "outside_servers", "writes"]


class _RequestAlways(TypedDict):
    # The script, passed on byte for byte.
    command: str


class Request(_RequestAlways, total=False):
    """A call as data. Parsed from JSON by `crate::parse_request`, which knows the accepted spellings."""

    # Working directory; a relative path starts from the host's directory.
    cwd: Optional[str]

    # A description for the user, never interpreted.
    description: Optional[str]

    # Environment variables for this call; `null` unsets.
    env: Dict[str, Optional[str]]

    # Keep only the first lines of stdout.
    head: Optional[int]

    # How long the command may take, and whether it runs in the background.
    mode: Optional[Mode]

    # True to ask for a terminal; false to refuse a terminal that the host offers.
    pty: Optional[bool]

    # Another sandbox for this call. The user must approve one that allows more than the settings.
    sandbox: Optional[SandboxRequest]

    # Persistent shell that runs the script; absent for a new shell.
    session: Optional[SessionName]

    # The part of a long output that the text shows.
    show: Optional[ShownPart]

    # The size of that part in KB, at most `MAX_SHOW_KB`.
    show_kb: Optional[int]

    # The command's stdin.
    stdin: StdinMode

    # Keep only the last lines of stdout; applied after `head`.
    tail: Optional[int]

    # Time limit in seconds.
    timeout: Optional[Union[float, str]]

    # Run the call as a trial, which holds its changes to files.
    trial: Optional[TrialRequest]

    # True to wait for the command's end: no time limit unless `timeout` names one, and no answer with a handle before the end.
    wait: Optional[bool]


class ResetData(TypedDict):
    """Data of `session.reset`."""

    # True if there was such a shell.
    reset: bool


# The `type` of every response.
ResponseTag = Literal["response"]


# The id that a client gives its request; the response repeats the id unchanged.
RpcId = Union[float, str]


# One line from a client. Unknown fields are ignored.
RpcRequest = Union["RpcRequestHello", "RpcRequestBash", "RpcRequestAbortBash", "RpcRequestToolCall", "RpcRequestCancel", "RpcRequestCheck", "RpcRequestExplain", "RpcRequestSchema", "RpcRequestAdapterCall", "RpcRequestPromptAnswer", "RpcRequestPing", "RpcRequestJobsList", "RpcRequestJobsShow", "RpcRequestJobsOutput", "RpcRequestJobsWait", "RpcRequestJobsKill", "RpcRequestJobsInput", "RpcRequestTerminalStart", "RpcRequestTerminalInput", "RpcRequestTerminalScreen", "RpcRequestTerminalEnd", "RpcRequestArtifactList", "RpcRequestArtifactShow", "RpcRequestArtifactGrep", "RpcRequestChangesList", "RpcRequestChangesShow", "RpcRequestChangesDiff", "RpcRequestChangesPreview", "RpcRequestChangesCommit", "RpcRequestChangesDiscard", "RpcRequestChangesUndo", "RpcRequestChangesRedo", "RpcRequestChangesUndoAll", "RpcRequestChangesRedoAll", "RpcRequestChangesPreviewAll", "RpcRequestSessionList", "RpcRequestSessionReset", "RpcRequestSessionMessages", "RpcRequestSessionBeginTurn", "RpcRequestSessionEndTurn", "RpcRequestProgram", "RpcRequestFileRead", "RpcRequestFileWrite"]


class _RpcRequestAbortBashAlways(TypedDict):
    type: Literal["abort_bash"]


class RpcRequestAbortBash(_RpcRequestAbortBashAlways, total=False):
    """Cancels the running `bash` command. Always succeeds, without data."""

    # Cancel the command only if its request has this id.
    target: Optional[RpcId]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestAdapterCallAlways(TypedDict):
    # The adapter, for example `codex`.
    adapter: str

    # The tool, for example `exec_command`.
    tool: str

    type: Literal["adapter_call"]


class RpcRequestAdapterCall(_RpcRequestAdapterCallAlways, total=False):
    """Calls a tool of an adapter. Data: `AdapterCallData`."""

    # The tool's input, as the model gave it.
    input: Any

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestArtifactGrepAlways(TypedDict):
    # The artifact's number, its link (`artifact://3`), or its path.
    artifact: Name

    # The regular expression; `(?i)` at its start ignores case.
    pattern: str

    type: Literal["artifact.grep"]


class RpcRequestArtifactGrep(_RpcRequestArtifactGrepAlways, total=False):
    """Returns the lines of an artifact that match a regular expression. Data: `FoundData`."""

    # Lines of context around each match.
    context: int

    # Show at most this many matches. Default: 200.
    limit: Optional[int]

    # Search from this line on.
    offset: Optional[int]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestArtifactListAlways(TypedDict):
    type: Literal["artifact.list"]


class RpcRequestArtifactList(_RpcRequestArtifactListAlways, total=False):
    """Lists the stored full outputs, oldest first. Data: `ArtifactsData`."""

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestArtifactShowAlways(TypedDict):
    # The artifact's number, its link (`artifact://3`), or its path.
    artifact: Name

    type: Literal["artifact.show"]


class RpcRequestArtifactShow(_RpcRequestArtifactShowAlways, total=False):
    """Returns a page of an artifact. Data: `PageData`."""

    # Start at this byte of the file instead: for lines longer than a page.
    byte: Optional[int]

    # Number of lines. Default: 2000. A page has at most 250 KB.
    limit: Optional[int]

    # First line, from 1.
    offset: Optional[int]

    # Return this many last lines instead.
    tail: Optional[int]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestBashAlways(TypedDict):
    # The script.
    command: str

    type: Literal["bash"]


class RpcRequestBash(_RpcRequestBashAlways, total=False):
    """Runs a command of the user in the user's persistent shell, which `session.list` names `!`. Data: `BashData`."""

    # Hides the command from the model (`!!cmd`).
    exclude_from_context: bool

    # The kind of updates to send before the response, if any.
    stream: Stream

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestCancelAlways(TypedDict):
    # The request's id.
    target: RpcId

    type: Literal["cancel"]


class RpcRequestCancel(_RpcRequestCancelAlways, total=False):
    """Cancels a request that has not been answered yet. Data: `CancelData`."""

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestChangesCommitAlways(TypedDict):
    # The change set's number, or its link.
    changes: Name

    type: Literal["changes.commit"]


class RpcRequestChangesCommit(_RpcRequestChangesCommitAlways, total=False):
    """Commits a held trial: all changes, or none if another process has changed one of the files (error `conflict`). Data: `ChangesDoneData`."""

    # True if the request comes from the model, not from the user; then the setting `changes.commit` applies.
    for_model: bool

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestChangesDiffAlways(TypedDict):
    # The change set's number, or its link.
    changes: Name

    type: Literal["changes.diff"]


class RpcRequestChangesDiff(_RpcRequestChangesDiffAlways, total=False):
    """Returns the diffs of the files of a change set. Data: `ChangesDiffData`."""

    # Only these files, and the files in these directories. Default: all.
    paths: List[str]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestChangesDiscardAlways(TypedDict):
    # The change set's number, or its link.
    changes: Name

    type: Literal["changes.discard"]


class RpcRequestChangesDiscard(_RpcRequestChangesDiscardAlways, total=False):
    """Discards the changes of a held trial. Data: `ChangesDoneData`."""

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestChangesListAlways(TypedDict):
    type: Literal["changes.list"]


class RpcRequestChangesList(_RpcRequestChangesListAlways, total=False):
    """Lists the change sets of the session, including held trials. Data: `ChangesListData`."""

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestChangesPreviewAlways(TypedDict):
    # The change set's number, or its link.
    changes: Name

    type: Literal["changes.preview"]


class RpcRequestChangesPreview(_RpcRequestChangesPreviewAlways, total=False):
    """Returns what an undo or a redo would do now, without doing it. Data: `ChangesPreviewData`."""

    # True for the preview of a redo instead of an undo.
    redo: bool

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestChangesPreviewAllAlways(TypedDict):
    type: Literal["changes.preview_all"]


class RpcRequestChangesPreviewAll(_RpcRequestChangesPreviewAllAlways, total=False):
    """Returns what `changes.undo_all` or `changes.redo_all` would do now, and the conflicts. Nothing is changed. Data: `ChangesGroupPreviewData`."""

    # True for the preview of a redo instead of an undo.
    redo: bool

    # The number of the first change set, or a time span before now (`10m`).
    since: Optional[Name]

    # The name of a turn, or `last`; instead of `since`.
    turn: Optional[str]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestChangesRedoAlways(TypedDict):
    # The change set's number, or its link.
    changes: Name

    type: Literal["changes.redo"]


class RpcRequestChangesRedo(_RpcRequestChangesRedoAlways, total=False):
    """Redoes the undone changes of a change set. Data: `ChangesDoneData`."""

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestChangesRedoAllAlways(TypedDict):
    type: Literal["changes.redo_all"]


class RpcRequestChangesRedoAll(_RpcRequestChangesRedoAllAlways, total=False):
    """Redoes what the last `changes.undo_all` with the same `since` or `turn` undid. Data: `ChangesGroupData`."""

    # The number of the first change set, or a time span before now (`10m`).
    since: Optional[Name]

    # The name of a turn, or `last`; instead of `since`.
    turn: Optional[str]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestChangesShowAlways(TypedDict):
    # The change set's number, or its link (`changes://7`).
    changes: Name

    type: Literal["changes.show"]


class RpcRequestChangesShow(_RpcRequestChangesShowAlways, total=False):
    """Returns a change set with all its files. Data: `Changes`."""

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestChangesUndoAlways(TypedDict):
    # The change set's number, or its link.
    changes: Name

    type: Literal["changes.undo"]


class RpcRequestChangesUndo(_RpcRequestChangesUndoAlways, total=False):
    """Undoes a change set. Data: `ChangesDoneData`."""

    # Skip files that were changed after the change set, and undo the rest. Without `partial`, such a file prevents the whole undo (error `conflict`).
    partial: bool

    # Only these files, and the files in these directories. Default: all.
    paths: List[str]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestChangesUndoAllAlways(TypedDict):
    type: Literal["changes.undo_all"]


class RpcRequestChangesUndoAll(_RpcRequestChangesUndoAllAlways, total=False):
    """Undoes all change sets since a change set or a time, or all of a turn, newest first. If one of them has a conflict, nothing is undone (error `conflict`). Data: `ChangesGroupData`."""

    # Skip files and change sets with conflicts, and undo the rest.
    partial: bool

    # The number of the first change set, or a time span before now (`10m`).
    since: Optional[Name]

    # The name of a turn, or `last`; instead of `since`.
    turn: Optional[str]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestCheckAlways(TypedDict):
    # The script.
    command: str

    type: Literal["check"]


class RpcRequestCheck(_RpcRequestCheckAlways, total=False):
    """Checks a script without running it. Data: `CheckData`."""

    # The working directory, as in `tool_call`.
    cwd: Optional[str]

    # The persistent shell that would run the script: its functions and aliases count.
    session: Optional[str]

    # The model's other tools, as in `tool_call`.
    tools: Optional[List[str]]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestExplainAlways(TypedDict):
    # The script.
    command: str

    type: Literal["explain"]


class RpcRequestExplain(_RpcRequestExplainAlways, total=False):
    """Explains how a script is read, and what each rule says. Data: `ExplainData`."""

    # The working directory, as in `tool_call`.
    cwd: Optional[str]

    # The persistent shell that would run the script: its functions and aliases count.
    session: Optional[str]

    # The model's other tools, as in `tool_call`.
    tools: Optional[List[str]]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestFileReadAlways(TypedDict):
    # The file's path: absolute, or relative to the session's directory; `~` is the user's home.
    path: str

    type: Literal["file.read"]


class RpcRequestFileRead(_RpcRequestFileReadAlways, total=False):
    """Returns a piece of a file. Data: `FilePieceData`."""

    # Maximum number of bytes to return. Default and maximum: 4 MiB.
    length: Optional[int]

    # Start at this byte.
    offset: int

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestFileWriteAlways(TypedDict):
    # The next bytes, at most 4 MiB.
    data: str

    # The file's path, as for `file.read`.
    path: str

    type: Literal["file.write"]


class RpcRequestFileWrite(_RpcRequestFileWriteAlways, total=False):
    """Writes a file in pieces. The pieces go into a temporary file in the same directory, which replaces the file after the last piece. Data: `FileWrittenData`."""

    # The file's permissions, as a number. Default: the permissions of the replaced file, or 420 (`0644`) minus the umask for a new file.
    mode: Optional[int]

    # True if more pieces follow.
    more: bool

    # The upload that this piece continues; absent for the first piece.
    upload: Optional[int]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestHelloAlways(TypedDict):
    type: Literal["hello"]


class RpcRequestHello(_RpcRequestHelloAlways, total=False):
    """Introduces the client; applies to all later requests. Optional, except for a worker. Data: `HelloData`."""

    # For a worker: the working directory of calls that name none; absolute, or below the user's home with `~`. Default: the directory in which the worker was started.
    cwd: Optional[str]

    # For a worker: variables that are added to the worker's environment.
    env: Optional[Dict[str, str]]

    # For a worker: the longest silence of the client: seconds, or a text such as `"60s"`. After that, the worker ends its calls and exits. Absent: no limit.
    lease: Any

    # True if the client asks its user: it gets the password prompts of calls as `prompt` lines. They need the setting `prompts.ask_user`.
    prompts: Optional[bool]

    # The client's version of the protocol; the server refuses any other version than its own. A client that sends this field also receives `job_ended` lines.
    protocol: Optional[int]

    # For a worker: the session in whose directory jobs and artifacts are stored; one path component.
    session: Optional[str]

    # For a worker: the settings in force, by key. The settings of the worker's machine are ignored.
    settings: Optional[Dict[str, Any]]

    # For a worker: proves that the session belongs to the client. The first client of a session sets the token; later clients with a different token are refused.
    token: Optional[str]

    # The other tools that the model has; overrides the settings.
    tools: Optional[List[str]]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestJobsInputAlways(TypedDict):
    # The job's name.
    job: Name

    type: Literal["jobs.input"]


class RpcRequestJobsInput(_RpcRequestJobsInputAlways, total=False):
    """Writes to the stdin of a job that was started with `stdin: pipe`. Data: `JobData`."""

    # Close the job's stdin afterwards.
    close: bool

    # The input, byte for byte; nothing is appended.
    text: str

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestJobsKillAlways(TypedDict):
    # The job's name.
    job: Name

    type: Literal["jobs.kill"]


class RpcRequestJobsKill(_RpcRequestJobsKillAlways, total=False):
    """Ends a job and all its processes: SIGTERM, then SIGKILL. Data: `JobKillData`."""

    # Time between SIGTERM and SIGKILL: seconds, or a text such as `"5s"`. Default: 2 s.
    grace: Any

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestJobsListAlways(TypedDict):
    type: Literal["jobs.list"]


class RpcRequestJobsList(_RpcRequestJobsListAlways, total=False):
    """Lists the background jobs in the order in which they started. Data: `JobsData`."""

    # List only jobs that listen on this TCP port.
    port: Optional[int]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestJobsOutputAlways(TypedDict):
    # The job's name.
    job: Name

    type: Literal["jobs.output"]


class RpcRequestJobsOutput(_RpcRequestJobsOutputAlways, total=False):
    """Returns a part of a job's output. Data: `JobOutputData`."""

    # Start at this byte: `next` of the previous part. Default: the beginning.
    offset: Optional[int]

    # Return this many last lines instead.
    tail: Optional[int]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestJobsShowAlways(TypedDict):
    # The job's name.
    job: Name

    type: Literal["jobs.show"]


class RpcRequestJobsShow(_RpcRequestJobsShowAlways, total=False):
    """Returns one job. Data: `JobData`."""

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestJobsWaitAlways(TypedDict):
    # The job's name.
    job: Name

    type: Literal["jobs.wait"]


class RpcRequestJobsWait(_RpcRequestJobsWaitAlways, total=False):
    """Waits until a job has ended, or until a condition is met. The job is not affected. Data: `JobWaitData`."""

    # Search for `until.line` from this byte of the output on. Default: the beginning.
    offset: Optional[int]

    # Maximum wait: seconds, or a text such as `"90s"`.
    timeout: Any

    # The conditions that end the wait before the job ends. Default: `"end"`, no condition.
    until: Until

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestPingAlways(TypedDict):
    type: Literal["ping"]


class RpcRequestPing(_RpcRequestPingAlways, total=False):
    """Does nothing; the response shows that the server works. Data: `PingData`."""

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestProgramAlways(TypedDict):
    type: Literal["program"]

    # The program's arguments.
    words: List[str]


class RpcRequestProgram(_RpcRequestProgramAlways, total=False):
    """Runs agent-bash once more, with arguments such as `jobs list`, and waits for its end. Only a worker serves this request. Data: `ProgramData`."""

    # The program's stdin. Default: empty.
    input: Optional[str]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestPromptAnswerAlways(TypedDict):
    # The prompt's number.
    prompt: int

    type: Literal["prompt.answer"]


class RpcRequestPromptAnswer(_RpcRequestPromptAnswerAlways, total=False):
    """Answers a `prompt` line. No data."""

    # The text that the user typed. Absent if the user declines.
    answer: Optional[str]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestSchemaAlways(TypedDict):
    type: Literal["schema"]


class RpcRequestSchema(_RpcRequestSchemaAlways, total=False):
    """Returns the tool definition for a model, or the definitions of an adapter's tools. Data: `SchemaData`."""

    # Return the tools of this adapter instead.
    adapter: Optional[str]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestSessionBeginTurnAlways(TypedDict):
    type: Literal["session.begin_turn"]


class RpcRequestSessionBeginTurn(_RpcRequestSessionBeginTurnAlways, total=False):
    """Begins the model's turn: the user's commands are held back until it ends. No data."""

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestSessionEndTurnAlways(TypedDict):
    type: Literal["session.end_turn"]


class RpcRequestSessionEndTurn(_RpcRequestSessionEndTurnAlways, total=False):
    """Ends the model's turn. Data: `MessagesData` with the commands that were held back."""

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestSessionListAlways(TypedDict):
    type: Literal["session.list"]


class RpcRequestSessionList(_RpcRequestSessionListAlways, total=False):
    """Lists the persistent shells that calls have named. The user's own shell, which `bash` uses, is `!`. Data: `ShellsData`."""

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestSessionMessagesAlways(TypedDict):
    type: Literal["session.messages"]


class RpcRequestSessionMessages(_RpcRequestSessionMessagesAlways, total=False):
    """Returns the user's commands so far, in order, except commands that are held back. Data: `MessagesData`."""

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestSessionResetAlways(TypedDict):
    # The session's name.
    session: str

    type: Literal["session.reset"]


class RpcRequestSessionReset(_RpcRequestSessionResetAlways, total=False):
    """Discards a persistent shell; waiting and later calls with this name get a new shell. Data: `ResetData`."""

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestTerminalEndAlways(TypedDict):
    # The terminal's name.
    terminal: Name

    type: Literal["terminal.end"]


class RpcRequestTerminalEnd(_RpcRequestTerminalEndAlways, total=False):
    """Ends the command on a terminal with all its processes. Data: `TerminalData`."""

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestTerminalInputAlways(TypedDict):
    # The terminal's name.
    terminal: Name

    type: Literal["terminal.input"]


class RpcRequestTerminalInput(_RpcRequestTerminalInputAlways, total=False):
    """Resizes a terminal, types a text, then presses keys. The response follows when the screen is quiet or, with `until` or `timeout`, after that wait. Data: `TerminalData`."""

    # Names of keys, such as `Enter`, `C-c`, `Up`, `F1`.
    keys: List[str]

    # The new columns and rows.
    size: Optional[str]

    # The text to type; a newline is the key Enter.
    text: str

    # Maximum wait: seconds, or a text such as `"90s"`.
    timeout: Any

    # The conditions that end the wait, as in `jobs.wait`.
    until: Until

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestTerminalScreenAlways(TypedDict):
    # The terminal's name.
    terminal: Name

    type: Literal["terminal.screen"]


class RpcRequestTerminalScreen(_RpcRequestTerminalScreenAlways, total=False):
    """Returns the screen of a terminal: at once or, with `until` or `timeout`, after that wait. Data: `TerminalData`."""

    # Maximum wait: seconds, or a text such as `"90s"`.
    timeout: Any

    # The conditions that end the wait, as in `jobs.wait`.
    until: Until

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestTerminalStartAlways(TypedDict):
    # The call (`request.schema.json`), or just its command.
    request: Any

    type: Literal["terminal.start"]


class RpcRequestTerminalStart(_RpcRequestTerminalStartAlways, total=False):
    """Starts a command on a terminal. The response follows when the screen is quiet. Data: `TerminalData`."""

    # Columns and rows. Default: `80x24`.
    size: Optional[str]

    # The model's other tools, as in `tool_call`.
    tools: Optional[List[str]]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcRequestToolCallAlways(TypedDict):
    # The call (`request.schema.json`), or just its command.
    request: Any

    type: Literal["tool_call"]


class RpcRequestToolCall(_RpcRequestToolCallAlways, total=False):
    """Runs one call through the pipeline. Data: `ToolResult` (`tool_result.schema.json`)."""

    # The findings of the client's policy; the server does not check the call again. Only a worker accepts `findings`, and a worker refuses calls without it. `request` must then be a complete call with canonical field names.
    findings: Optional[Judged]

    # The kind of updates to send before the response, if any.
    stream: Stream

    # The other tools that the model has, for this call; by default those of `hello` or the settings.
    tools: Optional[List[str]]

    # The client's name of the turn: all calls between two prompts of the user. `changes.undo_all` can undo a whole turn.
    turn: Optional[str]

    # Repeated in the response. A request without an id gets a response without one.
    id: Optional[RpcId]


class _RpcResponseAlways(TypedDict):
    # The request's `type`; empty if it could not be read.
    command: str

    # True if the request was served. True even if the command it ran failed.
    success: bool

    # Always `response`.
    type: ResponseTag


class RpcResponse(_RpcResponseAlways, total=False):
    """One line to a client: the response to a request."""

    # The kind of error, where a program can do something about it.
    code: Optional[ErrorCode]

    # The response's data.
    data: Any

    # The error of the request, and what to do about it.
    error: Optional[str]

    # The request's id.
    id: Optional[RpcId]


# One line to a client: output of a running call. All updates come before the call's response.
RpcUpdate = Union["RpcUpdateDelta", "RpcUpdateText"]


class _RpcUpdateDeltaAlways(TypedDict):
    # Text to append.
    delta: str

    # Remove this many bytes from the end of the text so far first: a carriage return has overwritten them.
    rewind: int

    # Bytes skipped before `delta` because output came too fast.
    skipped_bytes: int

    # Bytes printed so far.
    total_bytes: int

    # Always `update`.
    type: UpdateTag


class RpcUpdateDelta(_RpcUpdateDeltaAlways, total=False):
    """The new output since the previous update (`"stream": "delta"`)."""

    # The request's id.
    id: Optional[RpcId]


class _RpcUpdateTextAlways(TypedDict):
    # The text.
    text: str

    # Bytes printed so far.
    total_bytes: int

    # Always `update`.
    type: UpdateTag


class RpcUpdateText(_RpcUpdateTextAlways, total=False):
    """The current tail (`"stream": true`); replaces the previous one."""

    # The request's id.
    id: Optional[RpcId]


class RuleAnswerData(TypedDict):
    """The verdict of a safety rule."""

    # The part of the script that the rule blocks; `null` if the rule allows the script.
    blocks: Optional[Tuple[int, int]]

    # True if the settings enable the rule.
    is_enabled: bool

    # The id of the rule.
    rule: str


# The sandbox level of the settings. Levels that allow more are greater.
SandboxLevel = Literal["read_only", "workspace_write", "off"]


class _SandboxRequestAlways(TypedDict):
    # The reason, shown to the user who decides.
    reason: str


class SandboxRequest(_SandboxRequestAlways, total=False):
    """The sandbox that a request asks for. An absent field keeps the value of the settings."""

    # The hosts that the call may reach, as in the setting `sandbox.network`. Without `network`, the network is `hosts`.
    hosts: List[str]

    # The write access of the call.
    level: Optional[SandboxLevel]

    # The network of the call.
    network: Optional[Network]

    # Further writable paths; absolute, or beginning with `~/`.
    writable: List[str]


class _SandboxedAlways(TypedDict):
    # Files that the output names as denied and that the sandbox forbids.
    denied: List[DeniedAccess]

    # How much of the sandbox was observed to be enforced.
    enforced: Enforced

    # True if this call was allowed more than the settings allow.
    escalated: bool

    # The write access of the call.
    level: SandboxLevel

    # The promises that were not enforced.
    missing: List[MissingPromise]

    # The network of the call.
    network: Network


class Sandboxed(_SandboxedAlways, total=False):
    """The sandbox of a finished call, in its result."""

    # The number of refused attempts to reach the network; absent where they cannot be counted.
    network_refused: Optional[int]

    # The targets that the proxy of the network `hosts` refused, or to which it refused a secret, at most 64; absent without one.
    refused_hosts: List[RefusedHost]


# Data of `schema`.
SchemaData = Union["SchemaDataDescription", "SchemaDataTools"]


class SchemaDataDescription(TypedDict):
    """The tool."""

    # The description for the model; names the working directory.
    description: str

    # JSON Schema of the input.
    input_schema: Any

    # Always `bash`.
    name: str


class SchemaDataTools(TypedDict):
    """An adapter's tools."""

    # Each in the form that its provider's API takes: with a `type` that the provider knows, or with `name`, `description` and `input_schema`.
    tools: List[Any]


class _ScreenDataAlways(TypedDict):
    # Columns.
    cols: int

    # The cursor's column, from 1.
    cursor_col: int

    # The cursor's row, from 1.
    cursor_row: int

    # False if the program hides the cursor.
    cursor_visible: bool

    # True if a full-screen program uses the alternate screen.
    full_screen: bool

    # Rows.
    rows: int

    # The lines, without trailing blanks, and without empty lines at the bottom.
    text: str


class ScreenData(_ScreenDataAlways, total=False):
    """The screen of a terminal."""

    # The title set by the program.
    title: Optional[str]

    # The input that the command waits for, if known; detected after two seconds of silence.
    waiting: Optional[WaitingFor]


# Name of a persistent shell, as the caller chose it.
SessionName = str


class ShellData(TypedDict):
    """A persistent shell."""

    # True if a call is running in the shell.
    busy: bool

    # The shell's working directory; `null` while it is busy, and before its first call has ended.
    cwd: Optional[str]

    # The name that calls use.
    name: str


class ShellsData(TypedDict):
    """Data of `session.list`."""

    # The shells, in the order in which calls first named them.
    sessions: List[ShellData]


# The part of a long output that a result's text shows.
ShownPart = Literal["start", "end", "both"]


class Stage(TypedDict):
    """Exit status of one stage of a pipeline, as in `PIPESTATUS`."""

    # 0 to 255; 128 + n for a signal.
    code: int


# The outcome of a call. Never a guess: `exited{0}` is reported only if that exit was observed, or if the host closed the pipe of a lifted `head`, which a notice says.
Status = Union["StatusExited", "StatusSignaled", "StatusTimedOut", "StatusCancelled", "StatusMovedToBackground", "StatusBlocked", "StatusNotStarted", "StatusLost"]


class _StatusBlockedAlways(TypedDict):
    kind: Literal["blocked"]

    # Id of the rule that decided.
    rule: str


class StatusBlocked(_StatusBlockedAlways, total=False):
    """A check refused the call; nothing was started."""

    # The tool to use instead, if the rule names one.
    suggested_tool: Optional[str]


class StatusCancelled(TypedDict):
    """Cancelled by the caller."""

    kind: Literal["cancelled"]


class StatusExited(TypedDict):
    """The shell exited by itself."""

    # Exit code, 0 to 255.
    code: int

    kind: Literal["exited"]


class _StatusLostAlways(TypedDict):
    kind: Literal["lost"]

    # The observation.
    reason: str


class StatusLost(_StatusLostAlways, total=False):
    """The command was started, and its end was not observed."""

    # True if the connection to the remote host was cut, so that all of the script, a part of the script, or nothing may have run.
    may_have_run: bool


class StatusMovedToBackground(TypedDict):
    """The command continues in the background."""

    # The id of the job.
    job: JobId

    kind: Literal["moved_to_background"]

    # The absolute path of the job's output file.
    output: str

    # The job's process group: `kill -9 -<pgid>` ends the whole group.
    pgid: int

    # The pid of the job's shell.
    pid: int


class StatusNotStarted(TypedDict):
    """A system error prevented the start: for example no such shell, or no such directory."""

    kind: Literal["not_started"]

    # The error, with the offending value.
    reason: str


class StatusSignaled(TypedDict):
    """The shell was killed by a signal that the host did not send."""

    kind: Literal["signaled"]

    # The platform's signal number.
    number: int

    # For example `SIGKILL`.
    signal: str


class StatusTimedOut(TypedDict):
    """The time limit passed and the command was ended."""

    # The limit in force, in milliseconds.
    after_ms: int

    kind: Literal["timed_out"]


# The source of the command's stdin.
StdinMode = Literal["null", "pipe"]


# The updates that a call sends while it runs: `false` (none), `true` or `"snapshot"`, or `"delta"`.
Stream = Union[bool, "StreamKind"]


# The stream that a chunk or an artifact belongs to.
StreamId = Literal["merged", "stdout", "stderr"]


StreamKind = Literal["snapshot", "delta"]


class _SurvivorAlways(TypedDict):
    # The process's command line, shortened, without control characters.
    command: str

    # True if the process still holds the call's output open.
    holds_output: bool

    # The process's pid.
    pid: int


class Survivor(_SurvivorAlways, total=False):
    """A process started by the call that is still alive."""

    # The job that adopted the process, if any.
    job: Optional[JobId]

    # The TCP addresses on which the process listens, such as `127.0.0.1:5173`.
    listens_on: List[str]


class TerminalData(TypedDict, total=False):
    """Data of the requests about terminals."""

    # The condition that ended the wait.
    met: Optional[MetCondition]

    # The call's result, once the command has ended.
    result: Optional[ToolResult]

    # The current screen or, after the command's end, the last screen; absent if there was no screen.
    screen: Optional[ScreenData]

    # The terminal's name; absent if the command ended with the first answer.
    terminal: Optional[str]


Timestamp = str


class _ToolResultAlways(TypedDict):
    # Files with the full output.
    artifacts: List[ArtifactRef]

    # The working directory of the call; absolute.
    cwd: str

    # Milliseconds from the hand-over of the script to the end of the shell.
    duration_ms: float

    # `Status::is_error` of `status`.
    is_error: bool

    # Notices.
    notices: List[Notice]

    # Byte and line counts of the output and of its shown part.
    output: OutputSummary

    # Id of the rule that refused.
    rule: Optional[str]

    # Exit status of each stage of the last pipeline, if it had more than one; otherwise empty.
    stages: List[Stage]

    # When the script was handed over, or when the call was refused.
    started_at: Timestamp

    # How the call ended.
    status: Status

    # The tool that a refusal suggests.
    suggested_tool: Optional[str]

    # Processes started by the call that are still alive.
    survivors: List[Survivor]

    # The text for the model.
    text: str


class ToolResult(_ToolResultAlways, total=False):
    """The result of a call, the same on every interface."""

    # The change set of the call; absent if changes were not recorded.
    changes: Optional[Changes]

    # The code with which the user can allow the refused command: `agent-bash allow CODE`.
    exception_code: Optional[str]

    # True if the refused request would run as a trial: the same request with `"trial": true`.
    offers_trial: bool

    # The sandbox of the call; absent if the call ran without a sandbox.
    sandbox: Optional[Sandboxed]

    # The remote host that ran the call; absent for this machine.
    target: Optional[str]


TrialRequest = Literal[True, "atomic"]


# The limit that truncated an output.
TruncatedBy = Literal["bytes", "lines", "head_tail", "line_length"]


class UncomparedDirectory(TypedDict):
    """A directory in which the sandbox did not compare all files."""

    # The path; absolute.
    path: str

    # The number of its subdirectories, at any depth, that the sandbox found and did not enter; 0 if the directory has too many names.
    unreached: int


# How much of a change set can be undone.
Undoable = Literal["whole", "part", "no"]


# An observation of a sandboxed call that is unknown, because a file system did not answer.
UnknownObservation = Literal["changed", "denied"]


class Until(TypedDict, total=False):
    """The conditions of a wait. The first condition that is met ends the wait, and so does the job's end. In JSON also the text `"end"`: only the job's end."""

    # A file that exists; relative to the job's directory.
    file: Optional[str]

    # A regular expression that matches a line of the output.
    line: Optional[str]

    # A TCP port that accepts connections in the job's network.
    port: Optional[int]

    # A time in milliseconds during which nothing is printed.
    quiet_ms: Optional[int]


# The `type` of every update.
UpdateTag = Literal["update"]


class VerdictData(TypedDict):
    """A verdict."""

    # The check that decided: `safety`, `safemode`, `interceptor`. This field and the fields below are `null` if the script is allowed.
    check: Optional[str]

    # The group of a safety rule.
    group: Optional[str]

    # An alternative that would be allowed, if there is one.
    instead: Optional[str]

    # The message to show.
    message: Optional[str]

    # The id of the rule.
    rule: Optional[str]

    # The offending part of the script, as byte offsets `[from, to]`.
    span: Optional[Tuple[int, int]]

    # For the interceptor: the tool to use instead.
    suggested_tool: Optional[str]

    # `allow`, `block` or `unreadable`.
    verdict: str


# How a program on a terminal waits for user input. A program that sleeps, computes, or polls in canonical mode (`tail -f`) does not.
WaitingFor = Literal["line", "secret", "raw", "full_screen"]


class Window(TypedDict):
    """The largest text that a reader passes on uncut. For example, an agent truncates longer texts in its own way."""

    # Bytes of text.
    bytes: int

    # Lines.
    lines: int
