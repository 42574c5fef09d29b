//! The time before a client has said hello.
//!
//! The SDK gives up on a client that says anything but a request then. One that asked what we speak, lost its patience and
//! takes the question back does just that; it is waited for.

use rmcp::model::{ClientRequest, GetMeta as _, JsonRpcMessage, ProtocolVersion};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

/// A way to a client that may say what it likes until it says hello.
pub(super) struct Hello<T> {
    way: T,
    said: bool,
}

impl<T> Hello<T> {
    pub(super) fn new(way: T) -> Self {
        Self { way, said: false }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Hello<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.way.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.way.receive().await?;
            if let JsonRpcMessage::Request(request) = &message {
                self.said |= is_hello(&request.request);
            } else if !self.said {
                continue;
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.way.close().await
    }
}

/// Whether a request opens a conversation: the greeting of the older generation, or any question of the newer one that says with
/// it what its client speaks. Asking what we speak opens none.
fn is_hello(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta
                    .protocol_version()
                    .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}
