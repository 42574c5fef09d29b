//! Turns in the format of the messages API.

use std::fmt::{Display, Write as _};

use serde_json::{Value, json};

use crate::live::script::ContentBlock;

/// Returns the error body of a failed request.
pub(super) fn error_body(kind: &str, message: &impl Display) -> String {
    json!({ "type": "error", "error": { "type": kind, "message": message.to_string() } })
        .to_string()
}

/// Returns a turn as one message. `number` is the number of the response; the ids contain it.
pub(super) fn message_body(blocks: &[ContentBlock], model: &str, number: usize) -> String {
    let mut message = empty_message(model, number);
    let content = blocks.iter().enumerate().map(|(at, block)| match block {
        ContentBlock::Text(text) => json!({ "type": "text", "text": text }),
        ContentBlock::Call { tool, input } => {
            json!({ "type": "tool_use", "id": call_id(number, at), "name": tool, "input": input })
        }
    });
    message["content"] = content.collect();
    message["stop_reason"] = json!(stop_reason(blocks));
    message.to_string()
}

/// Returns a turn as server-sent events.
pub(super) fn event_stream_body(blocks: &[ContentBlock], model: &str, number: usize) -> String {
    let mut out = String::new();
    push_event(
        &mut out,
        json!({ "type": "message_start", "message": empty_message(model, number) }),
    );
    for (index, block) in blocks.iter().enumerate() {
        let (start, delta) = match block {
            ContentBlock::Text(text) => (
                json!({ "type": "text", "text": "" }),
                json!({ "type": "text_delta", "text": text }),
            ),
            ContentBlock::Call { tool, input } => (
                json!({ "type": "tool_use", "id": call_id(number, index), "name": tool, "input": {} }),
                json!({ "type": "input_json_delta", "partial_json": input.to_string() }),
            ),
        };
        push_event(
            &mut out,
            json!({ "type": "content_block_start", "index": index, "content_block": start }),
        );
        push_event(
            &mut out,
            json!({ "type": "content_block_delta", "index": index, "delta": delta }),
        );
        push_event(&mut out, json!({ "type": "content_block_stop", "index": index }));
    }
    let delta = json!({ "stop_reason": stop_reason(blocks), "stop_sequence": null });
    let usage = json!({ "output_tokens": 5 });
    push_event(&mut out, json!({ "type": "message_delta", "delta": delta, "usage": usage }));
    push_event(&mut out, json!({ "type": "message_stop" }));
    out
}

fn empty_message(model: &str, number: usize) -> Value {
    json!({
        "id": format!("msg_{number}"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": { "input_tokens": 10, "output_tokens": 5 },
    })
}

fn call_id(number: usize, index: usize) -> String {
    format!("toolu_{number}_{index}")
}

fn stop_reason(blocks: &[ContentBlock]) -> &'static str {
    let calls = blocks.iter().any(|block| matches!(block, ContentBlock::Call { .. }));
    if calls { "tool_use" } else { "end_turn" }
}

#[expect(clippy::needless_pass_by_value, reason = "every caller makes the value for this call")]
fn push_event(out: &mut String, data: Value) {
    let name = data["type"].as_str().unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = write!(out, "event: {name}\ndata: {data}\n\n");
}
