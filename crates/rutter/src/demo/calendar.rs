//! Simulates the passing of days: shifts the times of an export into the past.

use std::time::Duration;

use rutter_memory::Time;
use serde_json::Value;

/// Simulated time between the two sessions.
pub(super) const TIME_BETWEEN_SESSIONS: Duration = Duration::from_hours(3 * 24);

/// Returns all rows of an export with earlier times.
pub(super) fn shift_times(exported: &str) -> Result<String, serde_json::Error> {
    let mut rows = String::with_capacity(exported.len());
    for line in exported.lines() {
        let mut row: Value = serde_json::from_str(line)?;
        shift_times_in(&mut row);
        rows.push_str(&row.to_string());
        rows.push('\n');
    }
    Ok(rows)
}

fn shift_times_in(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Ok(time) = serde_json::from_value::<Time>(Value::String(text.clone())) {
                *text = time.minus(TIME_BETWEEN_SESSIONS).to_string();
            }
        }
        Value::Array(values) => values.iter_mut().for_each(shift_times_in),
        Value::Object(fields) => fields.values_mut().for_each(shift_times_in),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn shifts_only_times() {
        let row = r#"{"memory":{"text":"since 2026-11-15","tags":["a"],"at":"2026-11-15T08:00:00.250Z"}}"#;
        let expected = row.replace("2026-11-15T", "2026-11-12T") + "\n";
        assert_eq!(super::shift_times(row).unwrap(), expected);
    }
}
