//! What ties a payload type to its row of the table.

use serde::{Deserialize, Serialize};

use crate::name::EventName;

/// A payload type: it knows its event.
pub trait HookEvent: Serialize + for<'de> Deserialize<'de> {
    /// The event whose payload this is.
    const NAME: EventName;
}
