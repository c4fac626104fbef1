"""A stand-in for a model: asks an agent for the tool calls of a list, and stores what it answers.

`model.py CALLS DIRECTORY`: CALLS is a JSON list of `[tool, arguments]`. DIRECTORY gets `port`,
`tools` (the names of the tools that the agent offers) and `results` (a JSON list of the texts that
the agent returned). Listens on loopback only, for three minutes at most.
"""
import http.server, json, os, sys, threading

calls, directory = json.loads(sys.argv[1]), sys.argv[2]


def store(name, text):
    path = os.path.join(directory, name)
    with open(path + ".new", "w") as file:
        file.write(text)
    os.rename(path + ".new", path)


def texts(value):
    """The text of a tool result, in whatever structure the agent's interface has."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(map(texts, value))
    for key in ("text", "output", "content", "response", "functionResponse"):
        if key in value:
            return texts(value[key])
    return json.dumps(value)


def messages(body):
    results = [part for message in body["messages"] if isinstance(message["content"], list)
               for part in message["content"] if part.get("type") == "tool_result"]
    def answer(name, arguments):
        block, delta, stop = {"type": "text", "text": ""}, {"type": "text_delta", "text": "done"}, "end_turn"
        if name:
            block = {"type": "tool_use", "id": f"toolu_{len(results)}", "name": name, "input": {}}
            delta, stop = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}, "tool_use"
        return [{"type": "message_start", "message": {
                    "id": "msg_1", "type": "message", "role": "assistant", "model": "stand-in", "content": [],
                    "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}},
                {"type": "content_block_start", "index": 0, "content_block": block},
                {"type": "content_block_delta", "index": 0, "delta": delta},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None},
                 "usage": {"output_tokens": 1}},
                {"type": "message_stop"}]
    return results, answer


def responses(body):
    results = [item for item in body["input"] if str(item.get("type")).endswith("call_output")]
    def answer(name, arguments):
        item = {"type": "message", "role": "assistant", "id": "m_1",
                "content": [{"type": "output_text", "text": "done"}]}
        if name:
            item = {"type": "function_call", "id": f"fc_{len(results)}", "call_id": f"call_{len(results)}",
                    "name": name, "arguments": json.dumps(arguments)}
        usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1,
                 "output_tokens_details": None, "total_tokens": 2}
        return [{"type": "response.created", "response": {"id": "resp_1"}},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}}]
    return results, answer


def completions(body):
    results = [message for message in body["messages"] if message["role"] == "tool"]
    def answer(name, arguments):
        delta, end = {"role": "assistant", "content": "done"}, "stop"
        if name:
            function = {"name": name, "arguments": json.dumps(arguments)}
            delta = {"role": "assistant", "tool_calls": [
                {"index": 0, "id": f"call_{len(results)}", "type": "function", "function": function}]}
            end = "tool_calls"
        return [{"id": "c_1", "object": "chat.completion.chunk", "created": 1, "model": "stand-in",
                 "choices": [{"index": 0, "delta": part, "finish_reason": reason}]}
                for part, reason in ((delta, None), ({}, end))]
    return results, answer


def candidates(body):
    results = [part for message in body["contents"] for part in message.get("parts", [])
               if "functionResponse" in part]
    def answer(name, arguments):
        part = {"functionCall": {"name": name, "args": arguments}} if name else {"text": "done"}
        return [{"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
                 "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}]
    return results, answer


INTERFACES = {"/messages": messages, "/responses": responses, "/chat/completions": completions,
              ":streamGenerateContent": candidates}


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply(404, "application/json", b"{}")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.split("?")[0]
        interface = next((INTERFACES[end] for end in INTERFACES if path.endswith(end)), None)
        if interface is None:
            return self.reply(404, "application/json", b"{}")
        body = json.loads(body)
        offered = bool(body.get("tools")) or any(
            item.get("type") == "additional_tools" for item in body.get("input", []) if isinstance(item, dict))
        results, answer = interface(body)
        name, arguments = None, None
        if offered:
            store("tools", json.dumps([tool.get("name") or tool.get("function", {}).get("name")
                                       for tool in body.get("tools", [])]))
            store("results", json.dumps([texts(result) for result in results]))
            if len(results) < len(calls):
                name, arguments = calls[len(results)]
        events = answer(name, arguments)
        if interface is completions and not body.get("stream"):
            message = events[0]["choices"][0]["delta"]
            choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if name else "stop"}
            whole = {"id": "c_1", "object": "chat.completion", "created": 1, "model": "stand-in"}
            return self.reply(200, "application/json", json.dumps({**whole, "choices": [choice]}).encode())
        text = "".join((f"event: {event['type']}\n" if "type" in event else "")
                       + "data: " + json.dumps(event) + "\n\n" for event in events)
        self.reply(200, "text/event-stream", text.encode())

    def reply(self, code, kind, body):
        self.send_response(code)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except BrokenPipeError:
            pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Timer(180, os._exit, [1]).start()
store("port", str(server.server_address[1]))
server.serve_forever()
