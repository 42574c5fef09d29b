//! The trait that ties a payload type to its row of the table.

use serde::{Deserialize, Serialize};

use crate::name::EventName;

/// Seals [`HookEvent`]: only the types generated from the table are payloads.
pub(crate) mod sealed {
    /// The sealing trait, implemented by the generated payload types alone.
    pub trait Payload {}
}

/// A payload type with the name of its event.
pub trait HookEvent: sealed::Payload + Serialize + for<'de> Deserialize<'de> {
    /// The event of this payload.
    const NAME: EventName;
}
