"""The environment of mini-swe-agent."""

from __future__ import annotations

from typing import Any, Dict

import pytest

from agent_bash import Shell

from ..conftest import World
from .acting import kill, later


def test_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MSWEA_SILENT_STARTUP", "1")
    monkeypatch.setenv("MSWEA_GLOBAL_CONFIG_DIR", str(world.root))
    from minisweagent.agents.default import DefaultAgent
    from minisweagent.models.test_models import DeterministicModel, make_output

    from agent_bash.frameworks.mini_swe_agent import Environment

    def execute(sh: Shell, command: str, **config: Any) -> Dict[str, Any]:
        """The result of a command that the model gets, in its one step."""
        agent = DefaultAgent(
            DeterministicModel(
                outputs=[make_output("", [{"command": command}], cost=0.0)],
                observation_template="{{output.exception_info}}|{{output.returncode}}|{{output.output}}",
                cost_per_call=0.0,
            ),
            Environment(sh, **config),
            system_template="s",
            instance_template="{{task}}",
            step_limit=1,
        )
        assert agent.run("go")["exit_status"] == "LimitsExceeded"
        info, code, output = str(agent.messages[3]["content"]).split("|", 2)
        return {"exception_info": info, "returncode": int(code), "output": output}

    def submitted(sh: Shell, command: str) -> Any:
        model = DeterministicModel(outputs=[make_output("", [{"command": command}], cost=0.0)], cost_per_call=0.0)
        return DefaultAgent(model, Environment(sh), system_template="s", instance_template="{{task}}").run("go")

    with Shell(**world.options) as sh:
        done = submitted(sh, "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo done")
        assert (done["exit_status"], done["submission"]) == ("Submitted", "done\n")
        assert execute(sh, "echo one") == {"output": "one\n", "returncode": 0, "exception_info": ""}
        failed = execute(sh, "echo out; exit 3", cwd="/")
        assert failed["returncode"] == 3 and "out" in failed["output"]
        late = execute(sh, "echo before; sleep 60", timeout=1)
        assert late["returncode"] == -1 and "timed_out" in late["exception_info"] and "before" in late["output"]

        thread = later(world, kill(sh.pid))
        lost = execute(sh, "touch begun; sleep 600")
        thread.join()
        assert lost["returncode"] == -1 and "killed by signal 9" in lost["exception_info"]

    (world.work / "begun").unlink()
    sh = Shell(**world.options).open()
    thread = later(world, sh.close)
    ended = execute(sh, "echo part; touch begun; sleep 600")
    thread.join()
    assert "cancelled" in ended["exception_info"] and "part" in ended["output"]
