//! placeholder until the real one is merged
use super::read::Seen;
use rutter_contract::input::Wire;
use std::borrow::Cow;
pub struct Call<'a> {
    pub command: Cow<'a, str>,
    pub exit: Option<i32>,
    pub output: Vec<u8>,
    pub cut: bool,
    pub duration: Option<u64>,
}
impl<'a> Call<'a> {
    pub fn command(wire: &Wire<'a>) -> Option<String> {
        let v: serde_json::Value = serde_json::from_str(wire.raw("tool_input")?).ok()?;
        v["command"].as_str().map(str::to_owned)
    }
    pub fn of(wire: &Wire<'a>) -> Option<Result<Self, &'static str>> {
        let command = Self::command(wire)?.into();
        if let Some(error) = wire.text("error") {
            let rest = error.strip_prefix("Exit code ")?;
            let (code, out) = rest.split_once('\n').unwrap_or((rest, ""));
            return Some(Ok(Self {
                command,
                exit: code.parse().ok(),
                output: out.as_bytes().to_vec(),
                cut: false,
                duration: None,
            }));
        }
        let v: serde_json::Value = serde_json::from_str(wire.raw("tool_response")?).ok()?;
        Some(Ok(Self {
            command,
            exit: Some(0),
            output: v["stdout"].as_str()?.as_bytes().to_vec(),
            cut: false,
            duration: None,
        }))
    }
    pub fn seen(&self) -> Seen<'_> {
        Seen { command: &self.command, exit: self.exit, output: &self.output, cut: self.cut }
    }
}
