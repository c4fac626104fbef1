//! The model APIs: how a request offers tools and carries results, and how a model requests a call.
//! Covers only what the agents use; responses are complete streams of server-sent events.

use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};

/// One API.
#[derive(Debug)]
pub(crate) struct Wire {
    /// Path suffix of the requests that ask for a completion.
    pub(crate) path: &'static str,
    /// True if a request offers tools; a request without tools is a side request (for example for a
    /// session title).
    pub(crate) offers: fn(&Value) -> bool,
    /// The result of the last call: all texts of it that the model reads.
    pub(crate) returned: fn(&Value) -> Option<Value>,
    /// Returns the call that waits for a missing tool, if the result says that the tool does not
    /// exist (yet). An agent may ask its model before its servers are up.
    pub(crate) wait: fn(&Value) -> Option<&'static str>,
    /// The model's request for a call of this tool.
    pub(crate) call: fn(&str, &Value) -> Vec<Value>,
    /// The model's final text.
    pub(crate) say: fn(&str) -> Vec<Value>,
}

/// A stream of events, with their types if they have any.
pub(crate) fn stream(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| match event["type"].as_str() {
            Some(name) => format!("event: {name}\ndata: {event}\n\n"),
            None => format!("data: {event}\n\n"),
        })
        .collect()
}

fn list<'a>(value: &'a Value, field: &str) -> impl DoubleEndedIterator<Item = &'a Value> {
    value[field]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
        .iter()
}

fn has_some(value: &Value, field: &str) -> bool {
    list(value, field).next().is_some()
}

/// Anthropic's Messages.
pub(crate) const MESSAGES: Wire = Wire {
    path: "/messages",
    offers: |body| has_some(body, "tools"),
    returned: |body| {
        let blocks = list(body, "messages").flat_map(|message| list(message, "content"));
        let mut results = blocks.filter(|block| block["type"] == "tool_result");
        results.next_back().cloned()
    },
    wait: |returned| {
        let lacks = returned["content"].to_string();
        lacks
            .contains("No such tool available: mcp__")
            .then_some("WaitForMcpServers")
    },
    call: |tool, input| {
        static CALLS: AtomicU32 = AtomicU32::new(1);
        let id = format!("toolu_{}", CALLS.fetch_add(1, Ordering::Relaxed));
        let block = json!({"type": "tool_use", "id": id, "name": tool, "input": {}});
        let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
        message(&block, &delta, "tool_use")
    },
    say: |text| {
        let delta = json!({"type": "text_delta", "text": text});
        message(&json!({"type": "text", "text": ""}), &delta, "end_turn")
    },
};

fn message(block: &Value, delta: &Value, stop: &str) -> Vec<Value> {
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "stand-in", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    let end = json!({"stop_reason": stop, "stop_sequence": null});
    vec![
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}}),
        json!({"type": "message_stop"}),
    ]
}

/// `OpenAI`'s Responses. Tools in a namespace are called as `namespace/name`.
pub(crate) const RESPONSES: Wire = Wire {
    path: "/responses",
    offers: |body| {
        let more = |item: &Value| item["type"] == "additional_tools";
        has_some(body, "tools") || list(body, "input").any(more)
    },
    returned: |body| {
        let is_result = |item: &&Value| {
            let kind = item["type"].as_str().unwrap_or_default();
            kind.ends_with("call_output")
        };
        list(body, "input").rev().find(is_result).cloned()
    },
    wait: |_| None,
    call: |tool, input| {
        let mut item = json!({
            "type": "function_call", "id": "fc_1", "call_id": "call_1", "arguments": input.to_string(),
        });
        match tool.split_once('/') {
            Some((namespace, name)) => {
                item["namespace"] = namespace.into();
                item["name"] = name.into();
            }
            None => item["name"] = tool.into(),
        }
        response(&item)
    },
    say: |text| {
        let content = json!([{"type": "output_text", "text": text}]);
        response(&json!({"type": "message", "role": "assistant", "id": "m_1", "content": content}))
    },
};

/// As [`OpenAiResponses`], with tools called from JavaScript, as Codex does with its newer models.
pub(crate) const RESPONSES_BY_SCRIPT: Wire = Wire {
    call: |tool, input| {
        response(&json!({
            "type": "custom_tool_call", "id": "ct_1", "call_id": "call_1", "namespace": "functions",
            "name": "exec", "input": format!("text(await tools.{tool}({input}))"),
        }))
    },
    ..RESPONSES
};

fn response(item: &Value) -> Vec<Value> {
    let usage = json!({
        "input_tokens": 1, "input_tokens_details": null,
        "output_tokens": 1, "output_tokens_details": null, "total_tokens": 2,
    });
    vec![
        json!({"type": "response.created", "response": {"id": "resp_1"}}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {"id": "resp_1", "usage": usage}}),
    ]
}

/// `OpenAI`'s chat completions, which many other providers use.
pub(crate) const CHAT: Wire = Wire {
    path: "/chat/completions",
    offers: |body| has_some(body, "tools"),
    returned: |body| {
        let is_result = |message: &&Value| message["role"] == "tool";
        list(body, "messages").rev().find(is_result).cloned()
    },
    wait: |_| None,
    call: |tool, input| {
        static CALLS: AtomicU32 = AtomicU32::new(1);
        let id = format!("call_{}", CALLS.fetch_add(1, Ordering::Relaxed));
        let function = json!({"name": tool, "arguments": input.to_string()});
        let call = json!({"index": 0, "id": id, "type": "function", "function": function});
        completion(
            &json!({"role": "assistant", "tool_calls": [call]}),
            "tool_calls",
        )
    },
    say: |text| completion(&json!({"role": "assistant", "content": text}), "stop"),
};

fn completion(delta: &Value, finish: &str) -> Vec<Value> {
    let chunk = |delta: &Value, finish: Value| {
        json!({
            "id": "c_1", "object": "chat.completion.chunk", "created": 1, "model": "stand-in",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        })
    };
    vec![chunk(delta, Value::Null), chunk(&json!({}), finish.into())]
}

/// Google's `streamGenerateContent`.
pub(crate) const GENERATE_CONTENT: Wire = Wire {
    path: ":streamGenerateContent",
    offers: |body| has_some(body, "tools"),
    returned: |body| {
        let parts = list(body, "contents").flat_map(|content| list(content, "parts"));
        let mut results = parts.filter_map(|part| part.get("functionResponse"));
        results.next_back().cloned()
    },
    wait: |_| None,
    call: |tool, input| candidate(&json!({"functionCall": {"name": tool, "args": input}})),
    say: |text| candidate(&json!({"text": text})),
};

fn candidate(part: &Value) -> Vec<Value> {
    let content = json!({"role": "model", "parts": [part]});
    vec![json!({
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
    })]
}
