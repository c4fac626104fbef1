"""For mini-swe-agent: `DefaultAgent(model, Environment(shell))`."""

from __future__ import annotations

import platform
from typing import Any, Dict, Optional

from minisweagent.environments.local import LocalEnvironment, LocalEnvironmentConfig

from .._errors import ShellError
from .._sync import Shell


class Environment(LocalEnvironment):
    """Runs the model's commands in the shell. The ends of an agent and the variables of templates are unchanged."""

    def __init__(self, shell: Shell, **config: Any) -> None:
        super().__init__(config_class=LocalEnvironmentConfig, **config)
        self._shell = shell

    def execute(self, action: Dict[str, Any], cwd: str = "", *, timeout: Optional[int] = None) -> Dict[str, Any]:
        output: Dict[str, Any] = {"output": "", "returncode": -1, "exception_info": ""}
        try:
            result = self._shell.run(
                action.get("command", ""),
                cwd=cwd or self.config.cwd or None,
                env=dict(self.config.env),
                timeout=timeout or self.config.timeout,
            )
        except ShellError as error:
            output["exception_info"] = f"An error occurred while executing the command: {error}"
        else:
            output["output"] = result.text
            if result.exit_code is None:
                kind = result.status["kind"]
                output["exception_info"] = f"The command did not end by itself: {kind}"
            else:
                output["returncode"] = result.exit_code
        self._check_finished(output)
        return output

    def get_template_vars(self, **kwargs: Any) -> Dict[str, Any]:
        return {**self.config.model_dump(), **platform.uname()._asdict(), **kwargs}
