// Written by `agent-bash hook --install AGENT`, removed by `--uninstall`.
// Asks agent-bash before the agent runs a command. A command that agent-bash refuses or cannot check does not run.
import { spawnSync } from "node:child_process"

const program = PROGRAM
// Advice for the model, by call id; appended to the command's output.
const advice = new Map()

export default function (pi: any) {
  // A prompt of the user begins a turn, which `agent-bash changes undo --turn` undoes.
  pi.on("before_agent_start", async (_: any, ctx: any) => {
    const prompt = { hook_event_name: "UserPromptSubmit", cwd: ctx.cwd, process_id: process.pid }
    spawnSync(program, ["hook", "AGENT"], { input: JSON.stringify(prompt), timeout: 30_000 })
  })
  pi.on("tool_call", async ({ toolName, toolCallId, input }: any, ctx: any) => {
    if (input?.command === undefined) return
    const call = { hook_event_name: "tool_call", cwd: ctx.cwd, tool_name: toolName, tool_input: input }
    const asked = spawnSync(program, ["hook", "AGENT"], { input: JSON.stringify(call), encoding: "utf8", timeout: 30_000 })
    if (asked.error || asked.status !== 0) {
      const reason = asked.stderr?.trim() || `agent-bash did not answer, so this was not run: ${asked.error ?? asked.signal}`
      return { block: true, reason }
    }
    if (asked.stdout === "") return
    const answer = JSON.parse(asked.stdout)
    if (answer.refused) return { block: true, reason: answer.refused }
    if (answer.advice) advice.set(toolCallId, answer.advice)
  })
  pi.on("tool_result", async ({ toolCallId, content }: any) => {
    const text = advice.get(toolCallId)
    if (!advice.delete(toolCallId)) return
    return { content: [...content, { type: "text", text: `[${text}]` }] }
  })
}
