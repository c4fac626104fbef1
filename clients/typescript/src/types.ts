// What is sent and received, as types. Generated from docs/schema by `cargo xtask clients`.
// The values are plain objects: fields and kinds that a newer program adds are passed on.

/** An access to a file. */
export type Access = "read" | "write";

/** Data of `adapter_call`. */
export interface AdapterCallData {
  /** The text for the model, in the format of the adapted tool. */
  content: string;
  /** True if the tool reports an error. */
  is_error: boolean;
  /** The regular result, of the last command if there were several; `null` while the call continues, and if it ran no command. */
  result: ToolResult | null;
  /** Structured output in the adapted tool's format; `null` if the tool has none. */
  structured: unknown;
}

/** A stored full output. */
export interface ArtifactData {
  /** The reference, as in the result of its call. */
  artifact: ArtifactRef;
  /** The command, or its beginning. */
  command: string;
  /** The call's working directory. */
  cwd: string;
  /** The call's duration in milliseconds. */
  duration_ms: number;
  /** When the call started. */
  started_at: Timestamp;
  /** How the call ended. */
  status: Status;
}

/** Number of an artifact in its state directory. Never reused. */
export type ArtifactId = number;

/** A file with the full output of a stream. */
export interface ArtifactRef {
  /** Length of the file. */
  bytes: number;
  /** False if the stream was longer than an artifact may be. */
  complete: boolean;
  /** Number within the session. */
  id: ArtifactId;
  /** Lines in the file. */
  lines: number;
  /** Absolute path. */
  path: string;
  /** The stream it contains. */
  stream: StreamId;
  /** `artifact://<id>`. */
  uri: string;
}

/** Data of `artifact.list`. */
export interface ArtifactsData {
  /** The artifacts, oldest first. */
  artifacts: ArtifactData[];
}

/** Data of `bash`. */
export interface BashData {
  /** Equal to `artifact_id`. */
  artifactId?: string | null;
  /** The artifact with the full output, if a part is not shown. */
  artifact_id?: string | null;
  /** True if the command was cancelled. */
  cancelled: boolean;
  /** Equal to `exit_code`. */
  exitCode?: number | null;
  /** Absent if the command was cancelled or its exit code is unknown. */
  exit_code?: number | null;
  /** Notices, as in a result; for example that the user's shell was reset. */
  notices?: Notice[];
  /** The output shown. */
  output: string;
  /** Equal to `output_bytes`. */
  outputBytes: number;
  /** Equal to `output_lines`. */
  outputLines: number;
  /** Bytes shown. */
  output_bytes: number;
  /** Lines shown. */
  output_lines: number;
  /** Equal to `total_bytes`. */
  totalBytes: number;
  /** Equal to `total_lines`. */
  totalLines: number;
  /** Bytes printed. */
  total_bytes: number;
  /** Lines printed. */
  total_lines: number;
  /** True if `output` is incomplete. */
  truncated: boolean;
}

/** The options of a call: its fields without the command. */
export interface CallOptions {
  /** Working directory; a relative path starts from the host's directory. */
  cwd?: string | null;
  /** A description for the user, never interpreted. */
  description?: string | null;
  /** Environment variables for this call; `null` unsets. */
  env?: { [name: string]: string | null };
  /** Keep only the first lines of stdout. */
  head?: number | null;
  /** How long the command may take, and whether it runs in the background. */
  mode?: Mode | null;
  /** True to ask for a terminal; false to refuse a terminal that the host offers. */
  pty?: boolean | null;
  /** Another sandbox for this call. The user must approve one that allows more than the settings. */
  sandbox?: SandboxRequest | null;
  /** Persistent shell that runs the script; absent for a new shell. */
  session?: SessionName | null;
  /** The part of a long output that the text shows. */
  show?: ShownPart | null;
  /** The size of that part in KB, at most `MAX_SHOW_KB`. */
  show_kb?: number | null;
  /** The command's stdin. */
  stdin?: StdinMode;
  /** Keep only the last lines of stdout; applied after `head`. */
  tail?: number | null;
  /** Time limit in seconds. */
  timeout?: number | string | null;
  /** Run the call as a trial, which holds its changes to files. */
  trial?: TrialRequest | null;
  /** True to wait for the command's end: no time limit unless `timeout` names one, and no answer with a handle before the end. */
  wait?: boolean | null;
}

/** Data of `cancel`. */
export interface CancelData {
  /** True if such a request was in flight. The response to that request follows. */
  cancelled: boolean;
}

/** The type of a change. */
export type Change = "created" | "changed" | "deleted" | "renamed" | "mode";

/** The number of changed files by type of change. */
export interface ChangeCounts {
  /** Files with other contents or another type. */
  changed: number;
  /** Files that did not exist before. */
  created: number;
  /** Files that no longer exist. */
  deleted: number;
  /** Files with other permissions, owner, times or attributes, and the same contents. */
  mode: number;
  /** Files that were moved to another path. */
  renamed: number;
}

/** A change set: what a call did to files, or what a trial would do. */
export interface Changes {
  /** The URI of the complete list: `changes://<id>`. */
  all: string;
  /** How the changes were detected. */
  by: ChangesBy;
  /** The command that made the changes: one line, shortened, secrets masked. Absent in the result of the call itself. */
  command?: string | null;
  /** Files that another process changed in the meantime. */
  conflicts: FileName[];
  /** The number of changes of each type. */
  counts: ChangeCounts;
  /** True if the list is complete and each entry is correct. */
  exact: boolean;
  /** The first `MAX_FILES` changes: deletions first, files of `.git` last. */
  files: FileChange[];
  /** The number of the change set. */
  id: ChangesId;
  /** The number of changes that are not in `files`. */
  more: number;
  /** Files without a preimage, which cannot be restored. */
  not_restorable: FileName[];
  /** The number of files changed outside `root`, by directory. Beyond a limit, writes are counted instead of files. */
  outside?: { [name: string]: number };
  /** The recorded directory; absolute. Bytes that are not UTF-8 are replaced by U+FFFD. */
  root: string;
  /** The state of the change set. */
  state: ChangesState;
  /** How much of the change set can be undone. */
  undo: Undoable;
  /** True if some of the changes were undone and others were not. */
  undone_in_part?: boolean;
}

/** A change set that cannot be undone or redone. */
export interface ChangesBlockedData {
  /** The number of the change set. */
  id: ChangesId;
  /** The reason. */
  why: string;
}

/** How changes were detected. */
export type ChangesBy = "overlay" | "trace" | "scan";

/** Data of `changes.diff`. */
export interface ChangesDiffData {
  /** The requested files, in the order of their paths; files in a `.git` directory come last. */
  files: FileDiffData[];
}

/** Data of `changes.commit`, `changes.discard`, `changes.undo` and `changes.redo`. */
export interface ChangesDoneData {
  /** The change set. For an undo or a redo: the new change set of that operation, which can itself be undone. */
  changes: Changes;
  /** The counts as a sentence. */
  text: string;
}

/** Data of `changes.undo_all` and `changes.redo_all`. */
export interface ChangesGroupData {
  /** The new change sets of these undos or redos, in the same order. */
  changes: Changes[];
  /** The change sets that were undone or redone, in order of execution. */
  sets: ChangesId[];
  /** The result as a sentence, and a line for each skipped file or change set. */
  text: string;
  /** The turn's name, if the request names a turn. */
  turn?: string | null;
}

/** Data of `changes.preview_all`. */
export interface ChangesGroupPreviewData {
  /** The change sets that cannot be undone or redone. */
  blocked: ChangesBlockedData[];
  /** The change sets in order of execution. */
  sets: ChangesMemberData[];
  /** The turn's name, if the request names a turn. */
  turn?: string | null;
}

export type ChangesId = string;

/** Data of `changes.list`. */
export interface ChangesListData {
  /** The change sets, oldest first. */
  sets: ChangesSetData[];
}

/** A change set in the preview of several. */
export interface ChangesMemberData {
  /** Files that were changed after the change set. These files prevent the operation, unless it is partial. */
  conflicts: FileName[];
  /** The number of files that would change. */
  counts: ChangeCounts;
  /** All files of the change set. */
  files: FileChange[];
  /** The number of the change set. */
  id: ChangesId;
  /** The recorded directory. */
  root: string;
  /** The changes that a partial operation would make: all changes without conflicts. */
  without_conflict: FileChange[];
}

/** Data of `changes.preview`. */
export interface ChangesPreviewData {
  /** Files that were changed after the change set. These files prevent the operation, unless it is partial. */
  conflicts: FileName[];
  /** The number of files that would change. */
  counts: ChangeCounts;
  /** All files of the change set. */
  files: FileChange[];
  /** The changes that a partial operation would make: all changes without conflicts. */
  without_conflict: FileChange[];
}

/** A change set in a list. */
export interface ChangesSetData {
  /** For changes of background processes: the change set of the call that started the processes. */
  after?: ChangesId | null;
  /** The number, state and files of the change set. */
  changes: Changes;
  /** True if an earlier call of the same shell may have started these background processes instead. */
  maybe_earlier?: boolean;
  /** If this change set is a redo: the change set that was redone. */
  redoes?: ChangesId | null;
  /** When the call that made the changes was started. */
  started_at: Timestamp;
  /** The name of the turn in which the call ran, if turns are recorded. */
  turn?: string | null;
  /** If this change set is an undo: the change set that was undone. */
  undoes?: ChangesId | null;
}

/** The state of a change set. */
export type ChangesState = "listed" | "done" | "held" | "discarded" | "undone" | "interrupted" | "running";

/** The verdict of a check. */
export interface CheckAnswerData {
  /** `safety`, `safemode` or `interceptor`. */
  check: string;
  /** The verdict. */
  verdict: VerdictData;
}

/** Data of `check`. */
export interface CheckData {
  /** The check that decided: `safety`, `safemode`, `interceptor`. This field and the fields below are `null` if the script is allowed. */
  check: string | null;
  /** The functions and aliases of the shell, and the aliases of git, that the script uses. */
  definitions: DefinitionData[];
  /** The group of a safety rule. */
  group: string | null;
  /** An alternative that would be allowed, if there is one. */
  instead: string | null;
  /** The message to show. */
  message: string | null;
  /** The id of the rule. */
  rule: string | null;
  /** The offending part of the script, as byte offsets `[from, to]`. */
  span: [number, number] | null;
  /** For the interceptor: the tool to use instead. */
  suggested_tool: string | null;
  /** `allow`, `block` or `unreadable`. */
  verdict: string;
}

/** Maps each request to the data of its response. Requests that are missing here have no data. */
export interface DataByCommand {
  adapter_call: AdapterCallData;
  "artifact.grep": FoundData;
  "artifact.list": ArtifactsData;
  "artifact.show": PageData;
  bash: BashData;
  cancel: CancelData;
  "changes.commit": ChangesDoneData;
  "changes.diff": ChangesDiffData;
  "changes.discard": ChangesDoneData;
  "changes.list": ChangesListData;
  "changes.preview": ChangesPreviewData;
  "changes.preview_all": ChangesGroupPreviewData;
  "changes.redo": ChangesDoneData;
  "changes.redo_all": ChangesGroupData;
  "changes.show": Changes;
  "changes.undo": ChangesDoneData;
  "changes.undo_all": ChangesGroupData;
  check: CheckData;
  explain: ExplainData;
  "file.read": FilePieceData;
  "file.write": FileWrittenData;
  hello: HelloData;
  "jobs.input": JobData;
  "jobs.kill": JobKillData;
  "jobs.list": JobsData;
  "jobs.output": JobOutputData;
  "jobs.show": JobData;
  "jobs.wait": JobWaitData;
  ping: PingData;
  program: ProgramData;
  schema: SchemaData;
  "session.end_turn": MessagesData;
  "session.list": ShellsData;
  "session.messages": MessagesData;
  "session.reset": ResetData;
  "terminal.end": TerminalData;
  "terminal.input": TerminalData;
  "terminal.screen": TerminalData;
  "terminal.start": TerminalData;
  tool_call: ToolResult;
}

/** A definition that a script uses, and that its shell has before the script. */
export interface DefinitionData {
  /** `alias`, `function`, or `git alias`. */
  kind: string;
  /** The name. */
  name: string;
  /** The alias's value, or the function's definition; cut if it is long. */
  text: string;
}

/** How a denial was detected. */
export type DenialBasis = "inferred" | "observed";

/** A file to which the sandbox denied access. */
export interface DeniedAccess {
  /** The access that the sandbox forbids. */
  access: Access;
  /** How the denial was detected. */
  basis: DenialBasis;
  /** The path of the file; absolute. */
  path: string;
}

/** The part of an output that is shown. */
export type Direction = "tail" | "head" | "middle" | "head_tail";

/** How much of a sandbox is enforced. */
export type Enforced = "full" | "partial" | "nothing";

/** Kinds of errors that a program tells apart. */
export type ErrorCode = "protocol" | "token" | "not_judged" | "not_found" | "permission_denied" | "not_a_file" | "no_space" | "io" | "conflict";

/** Data of `explain`. */
export interface ExplainData {
  /** The verdict of each check. */
  answers: CheckAnswerData[];
  /** The commands of the script, also those within these definitions. */
  commands: ReadCommandData[];
  /** The functions and aliases of the shell, and the aliases of git, that the script uses. */
  definitions: DefinitionData[];
  /** True if both parsers found the same commands. */
  readers_agree: boolean;
  /** Remarks on effects and parts of the script that the verdict does not cover. */
  remarks: string[];
  /** The verdict of each safety rule. */
  rules: RuleAnswerData[];
  /** The script. */
  script: string;
  /** All of this as text, as `agent-bash explain` prints it. */
  text: string;
  /** The verdict, as of `check`. */
  verdict: VerdictData;
}

/** A file that a call changed. Paths are below the root, separated by `/`. */
export interface FileChange {
  /** Size of a regular file in bytes before and after; 0 if it did not exist. */
  bytes?: [number, number] | null;
  /** The type of the change. */
  change: Change;
  /** The file's former path, if the file was renamed. */
  from?: string | null;
  /** The bytes of the former path in base64, if they are not UTF-8. */
  from_base64?: string | null;
  /** True if `change` was inferred: a deleted and a created file have equal contents. */
  inferred?: boolean;
  /** The file type, or the former one of a deleted file. Absent in JSON for regular files. */
  kind?: FileKind;
  /** The path; bytes that are not UTF-8 are replaced by U+FFFD. */
  path: string;
  /** The bytes of the path in base64, if they are not UTF-8. */
  path_base64?: string | null;
}

/** The diff of a file. */
export interface FileDiffData {
  /** True if `diff` is `null` because the file is not text. */
  binary: boolean;
  /** True for a file of a held trial that another process changed after the trial: the trial cannot be committed. The diff shows the trial's change. */
  blocks_commit?: boolean;
  /** True if the file was changed again later, and its contents before that change are not stored. The diff then compares with the current file. */
  changed_since: boolean;
  /** A unified diff, in which the file's characters are not escaped; `null` if no diff can be shown. */
  diff: string | null;
  /** The change. */
  file: FileChange;
  /** Type and permissions before and after, in octal, where they differ; otherwise `null`. */
  mode: [string, string] | null;
}

/** The type of a file after the change, or before it if the file was deleted. */
export type FileKind = "file" | "directory" | "symlink" | "fifo" | "socket" | "device";

/** The path of a file. */
export interface FileName {
  /** The path; bytes that are not UTF-8 are replaced by U+FFFD. */
  path: string;
  /** The bytes of the path in base64, if they are not UTF-8. */
  path_base64?: string | null;
}

/** Data of `file.read`. */
export interface FilePieceData {
  /** True if this piece reaches the end of the file. */
  at_end: boolean;
  /** The bytes from `offset` on. */
  data: string;
  /** The file's permissions, as a number: 420 is `0644`. */
  mode: number;
  /** Length of the whole file now. */
  size: number;
}

/** Data of `file.write`. */
export interface FileWrittenData {
  /** Bytes received so far. */
  size: number;
  /** The upload that the next piece names; absent once the file is in place. */
  upload?: number | null;
}

/** Data of `artifact.grep`. */
export interface FoundData {
  /** A sentence about the matches that are not shown. */
  hint: string | null;
  /** The matches, line by line. */
  lines: FoundLineData[];
  /** `offset` from which to find the matches that are not shown. */
  next: number | null;
  /** Matches and their context as `grep -n` prints them. */
  text: string;
  /** Number of matches, shown or not. */
  total_matches: number;
}

/** A matching line or a line of context. */
export interface FoundLineData {
  /** True if the line matches; otherwise the line is context. */
  is_match: boolean;
  /** The line's number, from 1. */
  number: number;
  /** The line's text without the line end. */
  text: string;
}

/** Data of `hello`. */
export interface HelloData {
  /** Architecture, for example `x86_64`. */
  arch?: string;
  /** Path of the shell that runs scripts; `null` if there is none, so that no call can run. */
  bash?: string | null;
  /** Changes with every boot of the machine; `null` if unknown. */
  boot_id?: string | null;
  /** The working directory of calls that name none; absolute. */
  cwd?: string;
  /** The user's home; `null` if unknown. */
  home?: string | null;
  /** True if the session existed before: its jobs and artifacts are still known. */
  known?: boolean;
  /** Operating system, for example `linux`. */
  os?: string;
  /** Pid of the worker. */
  pid?: number;
  /** The profile in force: how calls behave and how results read. */
  profile: string;
  /** Version of the protocol. */
  protocol: number;
  /** The model's other tools from now on; `null` if none were named. */
  tools: string[] | null;
  /** Numeric id of the worker's user. */
  uid?: number;
  /** Version of agent-bash. */
  version: string;
}

/** A process that holds a resource which a command needs. */
export interface Holder {
  /** The process's command line, shortened; empty if this user cannot see the process. */
  command?: string;
  /** The job of this conversation that the process belongs to, if any. */
  job?: JobId | null;
  /** The TCP addresses on which the process listens. */
  listens_on?: string[];
  /** The process; absent if this user cannot see it. */
  pid?: number | null;
  /** The owner of a process that this user cannot see. */
  uid?: number | null;
}

/** A background job at this moment. Data of `jobs.show` and `jobs.input`. */
export interface JobData {
  /** The script; for adopted survivors, the script of their call. */
  command: string;
  /** The job's working directory at the start. */
  cwd: string;
  /** The job's name in the session: a number as text. */
  id: string;
  /** `started` as a job, or `adopted`: survivors of a call. */
  kind: JobOrigin;
  /** The TCP addresses on which the job's processes listen, such as `127.0.0.1:5173`. */
  listens_on?: string[];
  /** The file with the job's output; `null` if no output is stored. */
  output: string | null;
  /** The job's process group. */
  pgid: number;
  /** Pid of the job's shell. */
  pid: number;
  /** For a job that has ended or is lost: the job's processes that are still alive. Each says whether it can still write to the output. */
  remaining?: Survivor[];
  /** The sandbox of the job; absent if the job has no sandbox. */
  sandbox?: JobSandbox | null;
  /** When the job's script was started. */
  started_at: Timestamp;
  /** The job's state: running, or how it ended. */
  state: JobProgress;
  /** True if the job can read input written with `jobs.input`. */
  stdin: boolean;
  /** The reason why the job's changes are not recorded, although recording was requested. */
  unrecorded?: string | null;
}

/** How a job ended. */
export type JobEndingData = JobEndingDataExited | JobEndingDataSignaled | JobEndingDataTimedOut | JobEndingDataAllEnded;

/** All survivors of a call have ended. */
export interface JobEndingDataAllEnded {
  kind: "all_ended";
}

/** The job's shell exited. */
export interface JobEndingDataExited {
  /** Exit code, 0 to 255. */
  code: number;
  kind: "exited";
}

/** The job's shell was killed by a signal. */
export interface JobEndingDataSignaled {
  kind: "signaled";
  /** The platform's signal number. */
  number: number;
  /** For example `SIGKILL`. */
  signal: string;
}

/** The time limit passed. */
export interface JobEndingDataTimedOut {
  /** The limit in milliseconds. */
  after_ms: number;
  kind: "timed_out";
}

/** Name of a background job in its state directory. */
export type JobId = string;

/** Data of `jobs.kill`. */
export interface JobKillData {
  /** The job now. */
  job: JobData;
  /** The job's processes that are still alive. */
  survivors: Survivor[];
}

/** How a job came into being. */
export type JobOrigin = "started" | "adopted";

/** Data of `jobs.output`. */
export interface JobOutputData {
  /** True if these bytes reach the end of the output so far. */
  at_end: boolean;
  /** True if no more output can follow: the job has ended and no process holds its output open any more. */
  complete: boolean;
  /** Offset in the output where `text` begins, in bytes. */
  from: number;
  /** The job, as it was just before the output was read. */
  job: JobData;
  /** Offset where the next part begins. */
  next: number;
  /** The output; invalid UTF-8 is replaced. */
  text: string;
}

/** The state of a job: running, or how it ended. */
export type JobProgress = JobProgressRunning | JobProgressEnded | JobProgressLost;

/** Ended. */
export interface JobProgressEnded {
  /** Bytes of output beyond the limit of the output file, which are not stored. */
  dropped_bytes: number;
  /** The time of the end. */
  ended_at: Timestamp;
  /** The ending. */
  ending: JobEndingData;
  /** True if processes of the job outlived it; the job's `remaining` lists those still alive. */
  has_remaining: boolean;
  kind: "ended";
}

/** The ending is unknown. */
export interface JobProgressLost {
  kind: "lost";
  /** The reason why the ending is unknown. */
  reason: string;
}

/** Running. */
export interface JobProgressRunning {
  kind: "running";
}

/** The sandbox of a job, as observed when its shell started. */
export interface JobSandbox {
  /** How much of the sandbox is enforced. */
  enforced: Enforced;
  /** The write access of the job. */
  level: SandboxLevel;
  /** The promises that are not enforced. */
  missing: MissingPromise[];
  /** The network of the job. */
  network: Network;
}

/** Data of `jobs.wait`. */
export interface JobWaitData {
  /** The job now. */
  job: JobData;
  /** The condition that ended the wait; absent if the wait timed out or was cancelled. */
  met?: MetCondition | null;
  /** The last output so far, at most 16 KiB; absent without conditions, and if none is stored. */
  output?: string | null;
  /** True if the job has ended. */
  over: boolean;
}

/** Data of `jobs.list`. */
export interface JobsData {
  /** The jobs, in the order in which they started. */
  jobs: JobData[];
}

/** The policy's findings in a script, so that the remote host need not parse the script again. */
export interface Judged {
  /** The original script, if the script that runs differs. */
  command?: string | null;
  /** True if the request to leave the sandbox was approved. */
  escalated?: boolean;
  /** True if a rule refuses the script, and the user or the settings let it pass. */
  excepted?: boolean;
  /** True if exit code 1 of the remaining script is a result, not a failure. */
  exit_1_is_ok?: boolean;
  /** For each stage of the last pipeline, true if exit code 1 is a result; absent if the script does not end with a pipeline. */
  last_pipeline?: boolean[] | null;
  /** True if a filter was lifted off the end of the script. */
  lifted?: boolean;
  /** Notices for the result. */
  notices?: Notice[];
  /** A program in the script that gains privileges (such as `sudo`), or a program in which the user may type such a command. */
  takes_privileges?: string | null;
  /** True if the call has no default time limit, because the user watches it and can end it. */
  unlimited?: boolean;
  /** The largest text that the client passes to the model. */
  window?: Window | null;
}

/** A resource limit that the system reports when it is reached. */
export type LimitKind = "cpu_s" | "file_mb" | "memory_mb" | "processes" | "cpu_percent";

/** A recorded command of the user. */
export interface MessageData {
  /** The full output, if a part is not shown. */
  artifact: ArtifactRef | null;
  /** True if the command was cancelled. */
  cancelled: boolean;
  /** The command as the user gave it. */
  command: string;
  /** True if the command is hidden from the model. */
  excluded_from_context: boolean;
  /** `null` if the command was killed or its exit code is unknown. */
  exit_code: number | null;
  /** The output shown. */
  output: string;
  /** The text that the model reads; `null` if excluded. */
  text: string | null;
  /** When the command started. */
  time: Timestamp;
  /** True if `output` is incomplete. */
  truncated: boolean;
}

/** Data of `session.messages` and `session.end_turn`. */
export interface MessagesData {
  /** The messages, in order. */
  messages: MessageData[];
}

/** The condition that ended a wait. */
export type MetCondition = MetConditionEnd | MetConditionLine | MetConditionPort | MetConditionFile | MetConditionQuiet;

/** The job has ended. */
export interface MetConditionEnd {
  kind: "end";
}

/** The file exists. */
export interface MetConditionFile {
  kind: "file";
  /** The absolute path of the file. */
  path: string;
}

/** A line of the output matches. */
export interface MetConditionLine {
  kind: "line";
  /** The line, without control sequences. */
  line: string;
}

/** A process listens on the port. */
export interface MetConditionPort {
  /** The address on which it listens. */
  address: string;
  kind: "port";
  /** True if the process belongs to the job. */
  of_job: boolean;
}

/** Nothing was printed for a time. */
export interface MetConditionQuiet {
  kind: "quiet";
  /** The time in milliseconds. */
  ms: number;
}

/** A promise that is not enforced. These promises are optional: if an essential promise cannot be enforced, the call does not start. */
export type MissingPromise = "protected" | "metadata" | "stat" | "ipc" | "terminals" | "signals" | "truncate" | "moves";

/** How a call is run, and how long it may take. */
export type Mode = "default" | "slow" | "background";

/** A text; a number is accepted and converted to its digits. */
export type Name = string | number;

/** The network of a call. Values that allow more are greater. */
export type Network = "off" | "loopback" | "hosts" | "on";

/** A notice: its kind with values, and the sentence generated from them. */
export type Notice = NoticeSurvivors | NoticeFailedStage | NoticeSessionReset | NoticeTimeoutClamped | NoticeArtifactFailed | NoticeOverwritten | NoticeSecretsMasked | NoticeHeadSatisfied | NoticeWaitingForInput | NoticePromptUnanswered | NoticeFieldRenamed | NoticeLifted | NoticeAdvice | NoticeRuleAdvice | NoticeAllowedByUser | NoticeLimitHit | NoticeWithoutCgroup | NoticeSnapshotSkipped | NoticeSnapshotLoaded | NoticeDefinitionMissing | NoticeAuditFailed | NoticeJournalFailed | NoticeSandboxDenied | NoticeSandboxSockets | NoticeSandboxOperations | NoticeSandboxCache | NoticeSandboxNetwork | NoticeSandboxHosts | NoticeSandboxPartial | NoticeProtectedChanged | NoticeProtectedUncompared | NoticeProtectedInTrial | NoticeGitConfigDropped | NoticeSandboxUnsupported | NoticeSandboxUnknown | NoticeChanges | NoticeChangesUnknown | NoticeChangesLimit | NoticeChangesUntraced | NoticePortInUse | NoticeLockHeld | NoticeWithoutSupervisor;

/** Another tool is more suitable; the command was run. */
export interface NoticeAdvice {
  kind: "advice";
  /** The rule's message. */
  message: string;
  /** The tool. */
  suggested_tool: string;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** The user allowed a command that a rule refuses. */
export interface NoticeAllowedByUser {
  kind: "allowed_by_user";
  /** The rule. */
  rule: string;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** The full output could not be stored. */
export interface NoticeArtifactFailed {
  kind: "artifact_failed";
  /** For example `No space left on device`. */
  reason: string;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** The call could not be written to the host's audit log. */
export interface NoticeAuditFailed {
  kind: "audit_failed";
  /** For example `Permission denied`. */
  reason: string;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** The changes that the call made, or that the trial would make. */
export interface NoticeChanges {
  /** The number of the change set. */
  id: ChangesId;
  kind: "changes";
  /** The text in one line. */
  line: string;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** The call was ended because its preimages reached the size limit. */
export interface NoticeChangesLimit {
  kind: "changes_limit";
  /** The setting `changes.max_set_mb`, in MiB. */
  max_mb: number;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** The changes of the call are unknown, or not completely known. */
export interface NoticeChangesUnknown {
  kind: "changes_unknown";
  /** Why. */
  reason: string;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** The call was scanned, not traced, and left processes running. Their further changes are not recorded. */
export interface NoticeChangesUntraced {
  kind: "changes_untraced";
  /** The processes. */
  pids: number[];
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** A command was not found. The user's shell configuration defines it, but is not loaded. */
export interface NoticeDefinitionMissing {
  kind: "definition_missing";
  /** The name of the command. */
  name: string;
  /** Why. */
  reason: string;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** An earlier stage of a pipeline failed, which the exit code does not show. */
export interface NoticeFailedStage {
  /** The stage's exit status. */
  code: number;
  kind: "failed_stage";
  /** Position in the pipeline, from 1. */
  stage: number;
  /** The exit statuses of all stages. */
  stages: Stage[];
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** A field was given under an alternative name. */
export interface NoticeFieldRenamed {
  kind: "field_renamed";
  /** The name in the request. */
  name: string;
  /** The canonical name. */
  used: string;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** Changes of the repository's `.git/config` that the sandbox did not keep, because they are dangerous outside of it. */
export interface NoticeGitConfigDropped {
  /** The keys, at most 20; or `all changes`, with the reason. */
  keys: string[];
  kind: "git_config_dropped";
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** `head` received its lines, so the producer's pipe was closed. */
export interface NoticeHeadSatisfied {
  kind: "head_satisfied";
  /** The number of requested lines. */
  lines: number;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** The call could not be written to the session's journal. */
export interface NoticeJournalFailed {
  kind: "journal_failed";
  /** For example `No space left on device`. */
  reason: string;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** A trailing `head` or `tail` was removed from the command and applied to its output. */
export interface NoticeLifted {
  /** The filter as written in the command. */
  filter: string;
  kind: "lifted";
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** The processes of the call reached a resource limit: one or all of them were killed, were refused further processes, or were slowed. */
export interface NoticeLimitHit {
  kind: "limit_hit";
  /** The name of the limit, as in the settings. */
  limit: LimitKind;
  /** The limit in force. */
  value: number;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** A message in the output says that a lock is held. */
export interface NoticeLockHeld {
  /** The age of the file in seconds. */
  age_s: number;
  /** The process that holds the lock; absent if no visible process does. */
  holder?: Holder | null;
  kind: "lock_held";
  /** The file of the lock; absolute. */
  path: string;
  /** The tool that the lock belongs to, such as `git`. */
  tool: string;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** Visible text was overwritten on its line, by a carriage return or backspaces, and is not shown. */
export interface NoticeOverwritten {
  /** The full output; `None` if it could not be stored. */
  artifact?: string | null;
  kind: "overwritten";
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** A message in the output says that an address is in use. */
export interface NoticePortInUse {
  /** The processes that listen on the port. Without a port: the jobs that listen on any port. */
  holders: Holder[];
  kind: "port_in_use";
  /** The port; absent if the output does not name the port. */
  port?: number | null;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** A program wanted to ask the user, and could not: the call has no terminal. */
export interface NoticePromptUnanswered {
  /** How a call can avoid the prompt. */
  advice: string;
  kind: "prompt_unanswered";
  /** The program; absent if the output does not name it. */
  program?: string | null;
  /** The requested input, such as `a password`. */
  wanted: string;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** Files changed or appeared that run or configure programs outside the sandbox. */
export interface NoticeProtectedChanged {
  kind: "protected_changed";
  /** The files; absolute, at most 1,000. */
  paths: string[];
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** A trial holds back changes of files that run or configure programs outside the sandbox. */
export interface NoticeProtectedInTrial {
  kind: "protected_in_trial";
  /** The files; absolute. */
  paths: string[];
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** The sandbox did not compare all files of some directories, because they are too many, or because the file system is slow. Reported once for a directory. */
export interface NoticeProtectedUncompared {
  /** The outermost directories; not empty, at most 1,000. */
  directories: UncomparedDirectory[];
  kind: "protected_uncompared";
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** A rule of the user's advises against the command; the command was run. */
export interface NoticeRuleAdvice {
  /** The alternative; may be empty. */
  instead?: string;
  kind: "rule_advice";
  /** The reason. */
  message: string;
  /** The rule's name. */
  rule: string;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** A message in the output says that a file is missing in a tool's cache. This call cannot write the user's cache. */
export interface NoticeSandboxCache {
  kind: "sandbox_cache";
  /** The user's cache; absolute. */
  path: string;
  /** The tool. */
  tool: string;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** The sandbox forbids a file that a message in the output names, or that a failed command tried to change, or asked whether it can. */
export interface NoticeSandboxDenied {
  /** The forbidden access. */
  access: Access;
  /** How the denial was detected. */
  basis: DenialBasis;
  /** True if the file is protected below a writable directory, so that no setting allows the access. */
  is_protected?: boolean;
  kind: "sandbox_denied";
  /** The level in force. */
  level: SandboxLevel;
  /** The file; absolute. */
  path: string;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** The proxy of the sandbox refused connections to hosts that are not listed. */
export interface NoticeSandboxHosts {
  kind: "sandbox_hosts";
  /** The refused targets; not empty. */
  refused: RefusedHost[];
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** The command tried to reach a network that the sandbox does not provide. */
export interface NoticeSandboxNetwork {
  kind: "sandbox_network";
  /** The network of the call. */
  network: Network;
  /** The number of attempts. */
  refused: number;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** A command failed, and its output has an error of operations that the sandbox refuses. */
export interface NoticeSandboxOperations {
  kind: "sandbox_operations";
  /** The level in force. */
  level: SandboxLevel;
  /** The operations that fail with this error. */
  refused: RefusedOperations;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** The sandbox does not enforce all of its promises here. Reported once per conversation. */
export interface NoticeSandboxPartial {
  kind: "sandbox_partial";
  /** The promises that are not enforced. */
  missing: MissingPromise[];
  /** True if attempts to reach the network are refused without being counted. */
  network_uncounted?: boolean;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** A message in the output says that a Unix socket was refused. */
export interface NoticeSandboxSockets {
  /** True if a full sandbox with its own network lets the call's processes connect to each other. */
  is_full: boolean;
  kind: "sandbox_sockets";
  /** The level in force. */
  level: SandboxLevel;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** A file system did not answer, so a part of the sandbox's observations is unknown. */
export interface NoticeSandboxUnknown {
  kind: "sandbox_unknown";
  /** The unknown observations. */
  unknown: UnknownObservation[];
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** A program was ended by SIGSYS, because it used system calls that the sandbox does not support. */
export interface NoticeSandboxUnsupported {
  kind: "sandbox_unsupported";
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** Secrets in the output are masked. */
export interface NoticeSecretsMasked {
  /** The full output, which has the secrets as printed; `None` if it is not stored. */
  artifact?: string | null;
  /** The number of masked places in the output. */
  count: number;
  kind: "secrets_masked";
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** The persistent shell has ended; the next call starts a new one. */
export interface NoticeSessionReset {
  kind: "session_reset";
  /** The reason, and what was preserved. */
  reason: string;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** The user's shell configuration, which took long to read, is loaded from this call on. */
export interface NoticeSnapshotLoaded {
  kind: "snapshot_loaded";
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** The user's shell configuration was not loaded. */
export interface NoticeSnapshotSkipped {
  kind: "snapshot_skipped";
  /** Why. */
  reason: string;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** Processes started by the call are still alive. */
export interface NoticeSurvivors {
  kind: "survivors";
  /** The processes; the same list as in the result. */
  survivors: Survivor[];
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** The requested timeout was out of bounds. */
export interface NoticeTimeoutClamped {
  /** Requested, in milliseconds. */
  asked_ms: number;
  kind: "timeout_clamped";
  /** The value in force, in milliseconds. */
  used_ms: number;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** A program waits for input that no user can type. */
export interface NoticeWaitingForInput {
  kind: "waiting_for_input";
  /** `line`, `secret`, `raw` or `full_screen`. */
  state: WaitingFor;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** Limits for all processes of the call together could not be applied. They hold for each process (`memory_mb`), for this user (`processes`), or not at all (`cpu_percent`). */
export interface NoticeWithoutCgroup {
  kind: "without_cgroup";
  /** The names of the limits; not empty. */
  limits: LimitKind[];
  /** Why. */
  reason: string;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** No supervisor runs: processes are found only by process group and by scanning `/proc`. */
export interface NoticeWithoutSupervisor {
  kind: "without_supervisor";
  /** Why. */
  reason: string;
  /** The sentence for people and models; generated from `kind`, never parsed. */
  text: string;
}

/** Counts of an output stream. Bytes are raw bytes; lines are counted as by `wc -l`, plus one for a last line without a newline. */
export interface OutputSummary {
  /** True if a line that says `binary` replaces the output. */
  binary: boolean;
  /** The part of the output that the limit keeps. */
  direction: Direction;
  /** Raw bytes that are not shown. */
  dropped_bytes: number;
  /** Lines that are not shown. */
  dropped_lines: number;
  /** Bytes of output text in the result, after cleaning. */
  shown_bytes: number;
  /** Lines of output text in the result. */
  shown_lines: number;
  /** The lines shown: `[first, last]`, from 1, inclusive. */
  shown_ranges: [number, number][];
  /** Bytes printed. */
  total_bytes: number;
  /** Lines printed. */
  total_lines: number;
  /** True if a part of the output is not shown. */
  truncated: boolean;
  /** The limit that truncated the output. */
  truncated_by: TruncatedBy | null;
}

/** Data of `artifact.show`. */
export interface PageData {
  /** A sentence about how to read on, if the page is not everything. */
  hint: string | null;
  /** First and last line on the page, from 1; `null` for an empty page. */
  lines: [number, number] | null;
  /** `offset` of the next page; `null` after the last page, and if the page ends inside a line. */
  next: number | null;
  /** `byte` of the next page, if this page ends inside a line. */
  next_byte: number | null;
  /** The page as clean text. */
  text: string;
  /** Total bytes of the artifact. */
  total_bytes: number;
  /** Total lines of the artifact. */
  total_lines: number;
}

/** Data of `ping`. */
export interface PingData {
  /** The build of that version: to tell builds apart, not to compare them. */
  build: string;
  /** Version of the protocol. */
  protocol: number;
  /** Version of agent-bash. */
  version: string;
}

/** Data of `program`. */
export interface ProgramData {
  /** The program's exit code; absent if a signal ended it. */
  code?: number | null;
  /** The program's stderr, at most 256 KiB. */
  err: string;
  /** The program's stdout, at most 4 MiB. */
  out: string;
}

/** A command as it was read. */
export interface ReadCommandData {
  /** The working directory, if it differs from the script's. */
  cwd: string | null;
  /** The position in the script, as byte offsets `[from, to]`. */
  span: [number, number];
  /** The resolved words on one line; the redirections of a command without words. */
  text: string;
  /** The programs, functions and aliases that start the command, outermost first. */
  through: string[];
  /** The parts that are unknown until the command runs. */
  unknown: string[];
}

/** A target that the proxy of a sandbox refused, or to which it refused a secret. */
export interface RefusedHost {
  /** The number of refused connections. */
  count: number;
  /** The host with its port, such as `example.org:443`. */
  host: string;
  /** A variable of the setting `sandbox.secrets`. The connections were made; their requests had the placeholder of this variable, and did not get its value. */
  secret?: string | null;
}

/** Operations that a sandbox refuses, by the error with which they fail. */
export type RefusedOperations = "privileged" | "file_attributes" | "unchecked" | "socket_families" | "sockets" | "outside_servers" | "writes";

/** A call as data. Parsed from JSON by `crate::parse_request`, which knows the accepted spellings. */
export interface Request {
  /** The script, passed on byte for byte. */
  command: string;
  /** Working directory; a relative path starts from the host's directory. */
  cwd?: string | null;
  /** A description for the user, never interpreted. */
  description?: string | null;
  /** Environment variables for this call; `null` unsets. */
  env?: { [name: string]: string | null };
  /** Keep only the first lines of stdout. */
  head?: number | null;
  /** How long the command may take, and whether it runs in the background. */
  mode?: Mode | null;
  /** True to ask for a terminal; false to refuse a terminal that the host offers. */
  pty?: boolean | null;
  /** Another sandbox for this call. The user must approve one that allows more than the settings. */
  sandbox?: SandboxRequest | null;
  /** Persistent shell that runs the script; absent for a new shell. */
  session?: SessionName | null;
  /** The part of a long output that the text shows. */
  show?: ShownPart | null;
  /** The size of that part in KB, at most `MAX_SHOW_KB`. */
  show_kb?: number | null;
  /** The command's stdin. */
  stdin?: StdinMode;
  /** Keep only the last lines of stdout; applied after `head`. */
  tail?: number | null;
  /** Time limit in seconds. */
  timeout?: number | string | null;
  /** Run the call as a trial, which holds its changes to files. */
  trial?: TrialRequest | null;
  /** True to wait for the command's end: no time limit unless `timeout` names one, and no answer with a handle before the end. */
  wait?: boolean | null;
}

/** Data of `session.reset`. */
export interface ResetData {
  /** True if there was such a shell. */
  reset: boolean;
}

/** The `type` of every response. */
export type ResponseTag = "response";

/** The id that a client gives its request; the response repeats the id unchanged. */
export type RpcId = number | string;

/** One line from a client. Unknown fields are ignored. */
export type RpcRequest = RpcRequestHello | RpcRequestBash | RpcRequestAbortBash | RpcRequestToolCall | RpcRequestCancel | RpcRequestCheck | RpcRequestExplain | RpcRequestSchema | RpcRequestAdapterCall | RpcRequestPromptAnswer | RpcRequestPing | RpcRequestJobsList | RpcRequestJobsShow | RpcRequestJobsOutput | RpcRequestJobsWait | RpcRequestJobsKill | RpcRequestJobsInput | RpcRequestTerminalStart | RpcRequestTerminalInput | RpcRequestTerminalScreen | RpcRequestTerminalEnd | RpcRequestArtifactList | RpcRequestArtifactShow | RpcRequestArtifactGrep | RpcRequestChangesList | RpcRequestChangesShow | RpcRequestChangesDiff | RpcRequestChangesPreview | RpcRequestChangesCommit | RpcRequestChangesDiscard | RpcRequestChangesUndo | RpcRequestChangesRedo | RpcRequestChangesUndoAll | RpcRequestChangesRedoAll | RpcRequestChangesPreviewAll | RpcRequestSessionList | RpcRequestSessionReset | RpcRequestSessionMessages | RpcRequestSessionBeginTurn | RpcRequestSessionEndTurn | RpcRequestProgram | RpcRequestFileRead | RpcRequestFileWrite;

/** Cancels the running `bash` command. Always succeeds, without data. */
export interface RpcRequestAbortBash {
  /** Cancel the command only if its request has this id. */
  target?: RpcId | null;
  type: "abort_bash";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Calls a tool of an adapter. Data: `AdapterCallData`. */
export interface RpcRequestAdapterCall {
  /** The adapter, for example `codex`. */
  adapter: string;
  /** The tool's input, as the model gave it. */
  input?: unknown;
  /** The tool, for example `exec_command`. */
  tool: string;
  type: "adapter_call";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Returns the lines of an artifact that match a regular expression. Data: `FoundData`. */
export interface RpcRequestArtifactGrep {
  /** The artifact's number, its link (`artifact://3`), or its path. */
  artifact: Name;
  /** Lines of context around each match. */
  context?: number;
  /** Show at most this many matches. Default: 200. */
  limit?: number | null;
  /** Search from this line on. */
  offset?: number | null;
  /** The regular expression; `(?i)` at its start ignores case. */
  pattern: string;
  type: "artifact.grep";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Lists the stored full outputs, oldest first. Data: `ArtifactsData`. */
export interface RpcRequestArtifactList {
  type: "artifact.list";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Returns a page of an artifact. Data: `PageData`. */
export interface RpcRequestArtifactShow {
  /** The artifact's number, its link (`artifact://3`), or its path. */
  artifact: Name;
  /** Start at this byte of the file instead: for lines longer than a page. */
  byte?: number | null;
  /** Number of lines. Default: 2000. A page has at most 250 KB. */
  limit?: number | null;
  /** First line, from 1. */
  offset?: number | null;
  /** Return this many last lines instead. */
  tail?: number | null;
  type: "artifact.show";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Runs a command of the user in the user's persistent shell, which `session.list` names `!`. Data: `BashData`. */
export interface RpcRequestBash {
  /** The script. */
  command: string;
  /** Hides the command from the model (`!!cmd`). */
  exclude_from_context?: boolean;
  /** The kind of updates to send before the response, if any. */
  stream?: Stream;
  type: "bash";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Cancels a request that has not been answered yet. Data: `CancelData`. */
export interface RpcRequestCancel {
  /** The request's id. */
  target: RpcId;
  type: "cancel";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Commits a held trial: all changes, or none if another process has changed one of the files (error `conflict`). Data: `ChangesDoneData`. */
export interface RpcRequestChangesCommit {
  /** The change set's number, or its link. */
  changes: Name;
  /** True if the request comes from the model, not from the user; then the setting `changes.commit` applies. */
  for_model?: boolean;
  type: "changes.commit";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Returns the diffs of the files of a change set. Data: `ChangesDiffData`. */
export interface RpcRequestChangesDiff {
  /** The change set's number, or its link. */
  changes: Name;
  /** Only these files, and the files in these directories. Default: all. */
  paths?: string[];
  type: "changes.diff";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Discards the changes of a held trial. Data: `ChangesDoneData`. */
export interface RpcRequestChangesDiscard {
  /** The change set's number, or its link. */
  changes: Name;
  type: "changes.discard";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Lists the change sets of the session, including held trials. Data: `ChangesListData`. */
export interface RpcRequestChangesList {
  type: "changes.list";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Returns what an undo or a redo would do now, without doing it. Data: `ChangesPreviewData`. */
export interface RpcRequestChangesPreview {
  /** The change set's number, or its link. */
  changes: Name;
  /** True for the preview of a redo instead of an undo. */
  redo?: boolean;
  type: "changes.preview";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Returns what `changes.undo_all` or `changes.redo_all` would do now, and the conflicts. Nothing is changed. Data: `ChangesGroupPreviewData`. */
export interface RpcRequestChangesPreviewAll {
  /** True for the preview of a redo instead of an undo. */
  redo?: boolean;
  /** The number of the first change set, or a time span before now (`10m`). */
  since?: Name | null;
  /** The name of a turn, or `last`; instead of `since`. */
  turn?: string | null;
  type: "changes.preview_all";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Redoes the undone changes of a change set. Data: `ChangesDoneData`. */
export interface RpcRequestChangesRedo {
  /** The change set's number, or its link. */
  changes: Name;
  type: "changes.redo";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Redoes what the last `changes.undo_all` with the same `since` or `turn` undid. Data: `ChangesGroupData`. */
export interface RpcRequestChangesRedoAll {
  /** The number of the first change set, or a time span before now (`10m`). */
  since?: Name | null;
  /** The name of a turn, or `last`; instead of `since`. */
  turn?: string | null;
  type: "changes.redo_all";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Returns a change set with all its files. Data: `Changes`. */
export interface RpcRequestChangesShow {
  /** The change set's number, or its link (`changes://7`). */
  changes: Name;
  type: "changes.show";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Undoes a change set. Data: `ChangesDoneData`. */
export interface RpcRequestChangesUndo {
  /** The change set's number, or its link. */
  changes: Name;
  /** Skip files that were changed after the change set, and undo the rest. Without `partial`, such a file prevents the whole undo (error `conflict`). */
  partial?: boolean;
  /** Only these files, and the files in these directories. Default: all. */
  paths?: string[];
  type: "changes.undo";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Undoes all change sets since a change set or a time, or all of a turn, newest first. If one of them has a conflict, nothing is undone (error `conflict`). Data: `ChangesGroupData`. */
export interface RpcRequestChangesUndoAll {
  /** Skip files and change sets with conflicts, and undo the rest. */
  partial?: boolean;
  /** The number of the first change set, or a time span before now (`10m`). */
  since?: Name | null;
  /** The name of a turn, or `last`; instead of `since`. */
  turn?: string | null;
  type: "changes.undo_all";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Checks a script without running it. Data: `CheckData`. */
export interface RpcRequestCheck {
  /** The script. */
  command: string;
  /** The working directory, as in `tool_call`. */
  cwd?: string | null;
  /** The persistent shell that would run the script: its functions and aliases count. */
  session?: string | null;
  /** The model's other tools, as in `tool_call`. */
  tools?: string[] | null;
  type: "check";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Explains how a script is read, and what each rule says. Data: `ExplainData`. */
export interface RpcRequestExplain {
  /** The script. */
  command: string;
  /** The working directory, as in `tool_call`. */
  cwd?: string | null;
  /** The persistent shell that would run the script: its functions and aliases count. */
  session?: string | null;
  /** The model's other tools, as in `tool_call`. */
  tools?: string[] | null;
  type: "explain";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Returns a piece of a file. Data: `FilePieceData`. */
export interface RpcRequestFileRead {
  /** Maximum number of bytes to return. Default and maximum: 4 MiB. */
  length?: number | null;
  /** Start at this byte. */
  offset?: number;
  /** The file's path: absolute, or relative to the session's directory; `~` is the user's home. */
  path: string;
  type: "file.read";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Writes a file in pieces. The pieces go into a temporary file in the same directory, which replaces the file after the last piece. Data: `FileWrittenData`. */
export interface RpcRequestFileWrite {
  /** The next bytes, at most 4 MiB. */
  data: string;
  /** The file's permissions, as a number. Default: the permissions of the replaced file, or 420 (`0644`) minus the umask for a new file. */
  mode?: number | null;
  /** True if more pieces follow. */
  more?: boolean;
  /** The file's path, as for `file.read`. */
  path: string;
  type: "file.write";
  /** The upload that this piece continues; absent for the first piece. */
  upload?: number | null;
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Introduces the client; applies to all later requests. Optional, except for a worker. Data: `HelloData`. */
export interface RpcRequestHello {
  /** For a worker: the working directory of calls that name none; absolute, or below the user's home with `~`. Default: the directory in which the worker was started. */
  cwd?: string | null;
  /** For a worker: variables that are added to the worker's environment. */
  env?: { [name: string]: string } | null;
  /** For a worker: the longest silence of the client: seconds, or a text such as `"60s"`. After that, the worker ends its calls and exits. Absent: no limit. */
  lease?: unknown;
  /** True if the client asks its user: it gets the password prompts of calls as `prompt` lines. They need the setting `prompts.ask_user`. */
  prompts?: boolean | null;
  /** The client's version of the protocol; the server refuses any other version than its own. A client that sends this field also receives `job_ended` lines. */
  protocol?: number | null;
  /** For a worker: the session in whose directory jobs and artifacts are stored; one path component. */
  session?: string | null;
  /** For a worker: the settings in force, by key. The settings of the worker's machine are ignored. */
  settings?: { [name: string]: unknown } | null;
  /** For a worker: proves that the session belongs to the client. The first client of a session sets the token; later clients with a different token are refused. */
  token?: string | null;
  /** The other tools that the model has; overrides the settings. */
  tools?: string[] | null;
  type: "hello";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Writes to the stdin of a job that was started with `stdin: pipe`. Data: `JobData`. */
export interface RpcRequestJobsInput {
  /** Close the job's stdin afterwards. */
  close?: boolean;
  /** The job's name. */
  job: Name;
  /** The input, byte for byte; nothing is appended. */
  text?: string;
  type: "jobs.input";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Ends a job and all its processes: SIGTERM, then SIGKILL. Data: `JobKillData`. */
export interface RpcRequestJobsKill {
  /** Time between SIGTERM and SIGKILL: seconds, or a text such as `"5s"`. Default: 2 s. */
  grace?: unknown;
  /** The job's name. */
  job: Name;
  type: "jobs.kill";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Lists the background jobs in the order in which they started. Data: `JobsData`. */
export interface RpcRequestJobsList {
  /** List only jobs that listen on this TCP port. */
  port?: number | null;
  type: "jobs.list";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Returns a part of a job's output. Data: `JobOutputData`. */
export interface RpcRequestJobsOutput {
  /** The job's name. */
  job: Name;
  /** Start at this byte: `next` of the previous part. Default: the beginning. */
  offset?: number | null;
  /** Return this many last lines instead. */
  tail?: number | null;
  type: "jobs.output";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Returns one job. Data: `JobData`. */
export interface RpcRequestJobsShow {
  /** The job's name. */
  job: Name;
  type: "jobs.show";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Waits until a job has ended, or until a condition is met. The job is not affected. Data: `JobWaitData`. */
export interface RpcRequestJobsWait {
  /** The job's name. */
  job: Name;
  /** Search for `until.line` from this byte of the output on. Default: the beginning. */
  offset?: number | null;
  /** Maximum wait: seconds, or a text such as `"90s"`. */
  timeout?: unknown;
  type: "jobs.wait";
  /** The conditions that end the wait before the job ends. Default: `"end"`, no condition. */
  until?: Until;
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Does nothing; the response shows that the server works. Data: `PingData`. */
export interface RpcRequestPing {
  type: "ping";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Runs agent-bash once more, with arguments such as `jobs list`, and waits for its end. Only a worker serves this request. Data: `ProgramData`. */
export interface RpcRequestProgram {
  /** The program's stdin. Default: empty. */
  input?: string | null;
  type: "program";
  /** The program's arguments. */
  words: string[];
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Answers a `prompt` line. No data. */
export interface RpcRequestPromptAnswer {
  /** The text that the user typed. Absent if the user declines. */
  answer?: string | null;
  /** The prompt's number. */
  prompt: number;
  type: "prompt.answer";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Returns the tool definition for a model, or the definitions of an adapter's tools. Data: `SchemaData`. */
export interface RpcRequestSchema {
  /** Return the tools of this adapter instead. */
  adapter?: string | null;
  type: "schema";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Begins the model's turn: the user's commands are held back until it ends. No data. */
export interface RpcRequestSessionBeginTurn {
  type: "session.begin_turn";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Ends the model's turn. Data: `MessagesData` with the commands that were held back. */
export interface RpcRequestSessionEndTurn {
  type: "session.end_turn";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Lists the persistent shells that calls have named. The user's own shell, which `bash` uses, is `!`. Data: `ShellsData`. */
export interface RpcRequestSessionList {
  type: "session.list";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Returns the user's commands so far, in order, except commands that are held back. Data: `MessagesData`. */
export interface RpcRequestSessionMessages {
  type: "session.messages";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Discards a persistent shell; waiting and later calls with this name get a new shell. Data: `ResetData`. */
export interface RpcRequestSessionReset {
  /** The session's name. */
  session: string;
  type: "session.reset";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Ends the command on a terminal with all its processes. Data: `TerminalData`. */
export interface RpcRequestTerminalEnd {
  /** The terminal's name. */
  terminal: Name;
  type: "terminal.end";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Resizes a terminal, types a text, then presses keys. The response follows when the screen is quiet or, with `until` or `timeout`, after that wait. Data: `TerminalData`. */
export interface RpcRequestTerminalInput {
  /** Names of keys, such as `Enter`, `C-c`, `Up`, `F1`. */
  keys?: string[];
  /** The new columns and rows. */
  size?: string | null;
  /** The terminal's name. */
  terminal: Name;
  /** The text to type; a newline is the key Enter. */
  text?: string;
  /** Maximum wait: seconds, or a text such as `"90s"`. */
  timeout?: unknown;
  type: "terminal.input";
  /** The conditions that end the wait, as in `jobs.wait`. */
  until?: Until;
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Returns the screen of a terminal: at once or, with `until` or `timeout`, after that wait. Data: `TerminalData`. */
export interface RpcRequestTerminalScreen {
  /** The terminal's name. */
  terminal: Name;
  /** Maximum wait: seconds, or a text such as `"90s"`. */
  timeout?: unknown;
  type: "terminal.screen";
  /** The conditions that end the wait, as in `jobs.wait`. */
  until?: Until;
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Starts a command on a terminal. The response follows when the screen is quiet. Data: `TerminalData`. */
export interface RpcRequestTerminalStart {
  /** The call (`request.schema.json`), or just its command. */
  request: unknown;
  /** Columns and rows. Default: `80x24`. */
  size?: string | null;
  /** The model's other tools, as in `tool_call`. */
  tools?: string[] | null;
  type: "terminal.start";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** Runs one call through the pipeline. Data: `ToolResult` (`tool_result.schema.json`). */
export interface RpcRequestToolCall {
  /** The findings of the client's policy; the server does not check the call again. Only a worker accepts `findings`, and a worker refuses calls without it. `request` must then be a complete call with canonical field names. */
  findings?: Judged | null;
  /** The call (`request.schema.json`), or just its command. */
  request: unknown;
  /** The kind of updates to send before the response, if any. */
  stream?: Stream;
  /** The other tools that the model has, for this call; by default those of `hello` or the settings. */
  tools?: string[] | null;
  /** The client's name of the turn: all calls between two prompts of the user. `changes.undo_all` can undo a whole turn. */
  turn?: string | null;
  type: "tool_call";
  /** Repeated in the response. A request without an id gets a response without one. */
  id?: RpcId | null;
}

/** One line to a client: the response to a request. */
export interface RpcResponse {
  /** The kind of error, where a program can do something about it. */
  code?: ErrorCode | null;
  /** The request's `type`; empty if it could not be read. */
  command: string;
  /** The response's data. */
  data?: unknown;
  /** The error of the request, and what to do about it. */
  error?: string | null;
  /** The request's id. */
  id?: RpcId | null;
  /** True if the request was served. True even if the command it ran failed. */
  success: boolean;
  /** Always `response`. */
  type: ResponseTag;
}

/** One line to a client: output of a running call. All updates come before the call's response. */
export type RpcUpdate = RpcUpdateDelta | RpcUpdateText;

/** The new output since the previous update (`"stream": "delta"`). */
export interface RpcUpdateDelta {
  /** Text to append. */
  delta: string;
  /** Remove this many bytes from the end of the text so far first: a carriage return has overwritten them. */
  rewind: number;
  /** Bytes skipped before `delta` because output came too fast. */
  skipped_bytes: number;
  /** The request's id. */
  id?: RpcId | null;
  /** Bytes printed so far. */
  total_bytes: number;
  /** Always `update`. */
  type: UpdateTag;
}

/** The current tail (`"stream": true`); replaces the previous one. */
export interface RpcUpdateText {
  /** The text. */
  text: string;
  /** The request's id. */
  id?: RpcId | null;
  /** Bytes printed so far. */
  total_bytes: number;
  /** Always `update`. */
  type: UpdateTag;
}

/** The verdict of a safety rule. */
export interface RuleAnswerData {
  /** The part of the script that the rule blocks; `null` if the rule allows the script. */
  blocks: [number, number] | null;
  /** True if the settings enable the rule. */
  is_enabled: boolean;
  /** The id of the rule. */
  rule: string;
}

/** The sandbox level of the settings. Levels that allow more are greater. */
export type SandboxLevel = "read_only" | "workspace_write" | "off";

/** The sandbox that a request asks for. An absent field keeps the value of the settings. */
export interface SandboxRequest {
  /** The hosts that the call may reach, as in the setting `sandbox.network`. Without `network`, the network is `hosts`. */
  hosts?: string[];
  /** The write access of the call. */
  level?: SandboxLevel | null;
  /** The network of the call. */
  network?: Network | null;
  /** The reason, shown to the user who decides. */
  reason: string;
  /** Further writable paths; absolute, or beginning with `~/`. */
  writable?: string[];
}

/** The sandbox of a finished call, in its result. */
export interface Sandboxed {
  /** Files that the output names as denied and that the sandbox forbids. */
  denied: DeniedAccess[];
  /** How much of the sandbox was observed to be enforced. */
  enforced: Enforced;
  /** True if this call was allowed more than the settings allow. */
  escalated: boolean;
  /** The write access of the call. */
  level: SandboxLevel;
  /** The promises that were not enforced. */
  missing: MissingPromise[];
  /** The network of the call. */
  network: Network;
  /** The number of refused attempts to reach the network; absent where they cannot be counted. */
  network_refused?: number | null;
  /** The targets that the proxy of the network `hosts` refused, or to which it refused a secret, at most 64; absent without one. */
  refused_hosts?: RefusedHost[];
}

/** Data of `schema`. */
export type SchemaData = SchemaDataDescription | SchemaDataTools;

/** The tool. */
export interface SchemaDataDescription {
  /** The description for the model; names the working directory. */
  description: string;
  /** JSON Schema of the input. */
  input_schema: unknown;
  /** Always `bash`. */
  name: string;
}

/** An adapter's tools. */
export interface SchemaDataTools {
  /** Each in the form that its provider's API takes: with a `type` that the provider knows, or with `name`, `description` and `input_schema`. */
  tools: unknown[];
}

/** The screen of a terminal. */
export interface ScreenData {
  /** Columns. */
  cols: number;
  /** The cursor's column, from 1. */
  cursor_col: number;
  /** The cursor's row, from 1. */
  cursor_row: number;
  /** False if the program hides the cursor. */
  cursor_visible: boolean;
  /** True if a full-screen program uses the alternate screen. */
  full_screen: boolean;
  /** Rows. */
  rows: number;
  /** The lines, without trailing blanks, and without empty lines at the bottom. */
  text: string;
  /** The title set by the program. */
  title?: string | null;
  /** The input that the command waits for, if known; detected after two seconds of silence. */
  waiting?: WaitingFor | null;
}

/** Name of a persistent shell, as the caller chose it. */
export type SessionName = string;

/** A persistent shell. */
export interface ShellData {
  /** True if a call is running in the shell. */
  busy: boolean;
  /** The shell's working directory; `null` while it is busy, and before its first call has ended. */
  cwd: string | null;
  /** The name that calls use. */
  name: string;
}

/** Data of `session.list`. */
export interface ShellsData {
  /** The shells, in the order in which calls first named them. */
  sessions: ShellData[];
}

/** The part of a long output that a result's text shows. */
export type ShownPart = "start" | "end" | "both";

/** Exit status of one stage of a pipeline, as in `PIPESTATUS`. */
export interface Stage {
  /** 0 to 255; 128 + n for a signal. */
  code: number;
}

/** The outcome of a call. Never a guess: `exited{0}` is reported only if that exit was observed, or if the host closed the pipe of a lifted `head`, which a notice says. */
export type Status = StatusExited | StatusSignaled | StatusTimedOut | StatusCancelled | StatusMovedToBackground | StatusBlocked | StatusNotStarted | StatusLost;

/** A check refused the call; nothing was started. */
export interface StatusBlocked {
  kind: "blocked";
  /** Id of the rule that decided. */
  rule: string;
  /** The tool to use instead, if the rule names one. */
  suggested_tool?: string | null;
}

/** Cancelled by the caller. */
export interface StatusCancelled {
  kind: "cancelled";
}

/** The shell exited by itself. */
export interface StatusExited {
  /** Exit code, 0 to 255. */
  code: number;
  kind: "exited";
}

/** The command was started, and its end was not observed. */
export interface StatusLost {
  kind: "lost";
  /** True if the connection to the remote host was cut, so that all of the script, a part of the script, or nothing may have run. */
  may_have_run?: boolean;
  /** The observation. */
  reason: string;
}

/** The command continues in the background. */
export interface StatusMovedToBackground {
  /** The id of the job. */
  job: JobId;
  kind: "moved_to_background";
  /** The absolute path of the job's output file. */
  output: string;
  /** The job's process group: `kill -9 -<pgid>` ends the whole group. */
  pgid: number;
  /** The pid of the job's shell. */
  pid: number;
}

/** A system error prevented the start: for example no such shell, or no such directory. */
export interface StatusNotStarted {
  kind: "not_started";
  /** The error, with the offending value. */
  reason: string;
}

/** The shell was killed by a signal that the host did not send. */
export interface StatusSignaled {
  kind: "signaled";
  /** The platform's signal number. */
  number: number;
  /** For example `SIGKILL`. */
  signal: string;
}

/** The time limit passed and the command was ended. */
export interface StatusTimedOut {
  /** The limit in force, in milliseconds. */
  after_ms: number;
  kind: "timed_out";
}

/** The source of the command's stdin. */
export type StdinMode = "null" | "pipe";

/** The updates that a call sends while it runs: `false` (none), `true` or `"snapshot"`, or `"delta"`. */
export type Stream = boolean | StreamKind;

/** The stream that a chunk or an artifact belongs to. */
export type StreamId = "merged" | "stdout" | "stderr";

export type StreamKind = "snapshot" | "delta";

/** A process started by the call that is still alive. */
export interface Survivor {
  /** The process's command line, shortened, without control characters. */
  command: string;
  /** True if the process still holds the call's output open. */
  holds_output: boolean;
  /** The job that adopted the process, if any. */
  job?: JobId | null;
  /** The TCP addresses on which the process listens, such as `127.0.0.1:5173`. */
  listens_on?: string[];
  /** The process's pid. */
  pid: number;
}

/** Data of the requests about terminals. */
export interface TerminalData {
  /** The condition that ended the wait. */
  met?: MetCondition | null;
  /** The call's result, once the command has ended. */
  result?: ToolResult | null;
  /** The current screen or, after the command's end, the last screen; absent if there was no screen. */
  screen?: ScreenData | null;
  /** The terminal's name; absent if the command ended with the first answer. */
  terminal?: string | null;
}

export type Timestamp = string;

/** The result of a call, the same on every interface. */
export interface ToolResult {
  /** Files with the full output. */
  artifacts: ArtifactRef[];
  /** The change set of the call; absent if changes were not recorded. */
  changes?: Changes | null;
  /** The working directory of the call; absolute. */
  cwd: string;
  /** Milliseconds from the hand-over of the script to the end of the shell. */
  duration_ms: number;
  /** The code with which the user can allow the refused command: `agent-bash allow CODE`. */
  exception_code?: string | null;
  /** `Status::is_error` of `status`. */
  is_error: boolean;
  /** Notices. */
  notices: Notice[];
  /** True if the refused request would run as a trial: the same request with `"trial": true`. */
  offers_trial?: boolean;
  /** Byte and line counts of the output and of its shown part. */
  output: OutputSummary;
  /** Id of the rule that refused. */
  rule: string | null;
  /** The sandbox of the call; absent if the call ran without a sandbox. */
  sandbox?: Sandboxed | null;
  /** Exit status of each stage of the last pipeline, if it had more than one; otherwise empty. */
  stages: Stage[];
  /** When the script was handed over, or when the call was refused. */
  started_at: Timestamp;
  /** How the call ended. */
  status: Status;
  /** The tool that a refusal suggests. */
  suggested_tool: string | null;
  /** Processes started by the call that are still alive. */
  survivors: Survivor[];
  /** The remote host that ran the call; absent for this machine. */
  target?: string | null;
  /** The text for the model. */
  text: string;
}

export type TrialRequest = true | "atomic";

/** The limit that truncated an output. */
export type TruncatedBy = "bytes" | "lines" | "head_tail" | "line_length";

/** A directory in which the sandbox did not compare all files. */
export interface UncomparedDirectory {
  /** The path; absolute. */
  path: string;
  /** The number of its subdirectories, at any depth, that the sandbox found and did not enter; 0 if the directory has too many names. */
  unreached: number;
}

/** How much of a change set can be undone. */
export type Undoable = "whole" | "part" | "no";

/** An observation of a sandboxed call that is unknown, because a file system did not answer. */
export type UnknownObservation = "changed" | "denied";

/** The conditions of a wait. The first condition that is met ends the wait, and so does the job's end. In JSON also the text `"end"`: only the job's end. */
export interface Until {
  /** A file that exists; relative to the job's directory. */
  file?: string | null;
  /** A regular expression that matches a line of the output. */
  line?: string | null;
  /** A TCP port that accepts connections in the job's network. */
  port?: number | null;
  /** A time in milliseconds during which nothing is printed. */
  quiet_ms?: number | null;
}

/** The `type` of every update. */
export type UpdateTag = "update";

/** A verdict. */
export interface VerdictData {
  /** The check that decided: `safety`, `safemode`, `interceptor`. This field and the fields below are `null` if the script is allowed. */
  check: string | null;
  /** The group of a safety rule. */
  group: string | null;
  /** An alternative that would be allowed, if there is one. */
  instead: string | null;
  /** The message to show. */
  message: string | null;
  /** The id of the rule. */
  rule: string | null;
  /** The offending part of the script, as byte offsets `[from, to]`. */
  span: [number, number] | null;
  /** For the interceptor: the tool to use instead. */
  suggested_tool: string | null;
  /** `allow`, `block` or `unreadable`. */
  verdict: string;
}

/** How a program on a terminal waits for user input. A program that sleeps, computes, or polls in canonical mode (`tail -f`) does not. */
export type WaitingFor = "line" | "secret" | "raw" | "full_screen";

/** The largest text that a reader passes on uncut. For example, an agent truncates longer texts in its own way. */
export interface Window {
  /** Bytes of text. */
  bytes: number;
  /** Lines. */
  lines: number;
}
