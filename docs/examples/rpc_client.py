# A client of `agent-bash rpc` (docs/rpc.md) with the standard library only. A thread reads the
# answers, so many requests may be in flight, and each can be cancelled.
import itertools, json, subprocess, threading
from concurrent.futures import Future

class AgentBash:
    def __init__(self, *options):
        self.process = subprocess.Popen(["agent-bash", "rpc", *options], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ids, self.waiting, self.writing = itertools.count(1), {}, threading.Lock()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") not in self.waiting:
                continue
            answer, on_update = self.waiting[message["id"]]
            if message["type"] == "update":
                on_update(message)
                continue
            del self.waiting[message["id"]]
            if message["success"]:
                answer.set_result(message.get("data"))
            else:
                answer.set_exception(RuntimeError(message["error"]))
        for answer, _ in list(self.waiting.values()):
            answer.set_exception(EOFError("agent-bash has ended"))

    def begin(self, type, on_update=None, **fields):
        id, answer = next(self.ids), Future()
        self.waiting[id] = answer, on_update
        with self.writing:
            print(json.dumps({"id": id, "type": type, **fields}), file=self.process.stdin, flush=True)
        return id, answer

    def ask(self, type, on_update=None, **fields):
        return self.begin(type, on_update, **fields)[1].result()

    def close(self):
        self.process.stdin.close()
        return self.process.wait()

shell = AgentBash()
print(shell.ask("schema")["name"])
result = shell.ask("tool_call", request={"command": "echo one; sleep 0.2; echo two; exit 3"},
                   stream="delta", on_update=lambda update: print("live:", update["delta"].strip()))
print(result["status"], result["text"], sep="\n")

id, answer = shell.begin("tool_call", request={"command": "sleep 600"})
shell.ask("cancel", target=id)
print(answer.result()["text"])
shell.close()
