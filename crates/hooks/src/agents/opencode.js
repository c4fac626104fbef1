// Written by `agent-bash hook --install AGENT`, removed by `--uninstall`.
// Asks agent-bash before the agent runs a command. A command that agent-bash refuses or cannot check does not run.
import { spawnSync } from "node:child_process"

const program = PROGRAM
// Advice for the model, by call id; appended to the command's output.
const advice = new Map()

export const AgentBash = async ({ client, directory }) => ({
  // A prompt of the user begins a turn, which `agent-bash changes undo --turn` undoes. Prompts of sub-agents do not.
  "chat.message": async ({ sessionID }) => {
    const { data } = await client.session.get({ path: { id: sessionID } }).catch(() => ({}))
    if (data?.parentID) return
    const prompt = { hook_event_name: "UserPromptSubmit", cwd: directory, process_id: process.pid }
    spawnSync(program, ["hook", "AGENT"], { input: JSON.stringify(prompt), timeout: 30_000 })
  },
  "tool.execute.before": async ({ tool, callID }, output) => {
    if (output.args?.command === undefined) return
    const call = { hook_event_name: "tool.execute.before", cwd: directory, tool_name: tool, tool_input: output.args }
    const asked = spawnSync(program, ["hook", "AGENT"], { input: JSON.stringify(call), encoding: "utf8", timeout: 30_000 })
    if (asked.error || asked.status !== 0) {
      throw new Error(asked.stderr?.trim() || `agent-bash did not answer, so this was not run: ${asked.error ?? asked.signal}`)
    }
    if (asked.stdout === "") return
    const answer = JSON.parse(asked.stdout)
    if (answer.refused) throw new Error(answer.refused)
    if (answer.advice) advice.set(callID, answer.advice)
  },
  "tool.execute.after": async ({ callID }, output) => {
    const text = advice.get(callID)
    if (!advice.delete(callID)) return
    output.output = `${output.output.trimEnd()}\n\n[${text}]`
  },
})
