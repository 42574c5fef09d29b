//! What ties a payload type to its row of the table.

use serde::{Deserialize, Serialize};

use crate::name::EventName;

/// Which types are payloads is the table's to say: nobody else can add one.
pub(crate) mod sealed {
    /// Implemented by the generated payload types alone.
    pub trait Payload {}
}

/// A payload type: it knows its event.
pub trait HookEvent: sealed::Payload + Serialize + for<'de> Deserialize<'de> {
    /// The event whose payload this is.
    const NAME: EventName;
}
