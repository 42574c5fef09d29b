//! Tolerance for messages before the handshake.
//!
//! Before the handshake, the SDK gives up on a client that sends anything but a request. A client that asks for our
//! protocol versions and then cancels that request, because it took too long, does just that. Such messages are
//! dropped.

use rmcp::model::{ClientRequest, GetMeta as _, JsonRpcMessage, ProtocolVersion};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

/// A transport that drops everything but requests until the handshake.
pub(super) struct HandshakeTransport<T> {
    inner: T,
    said: bool,
}

impl<T> HandshakeTransport<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, said: false }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for HandshakeTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await?;
            if let JsonRpcMessage::Request(request) = &message {
                self.said |= completes_handshake(&request.request);
            } else if !self.said {
                continue;
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// Returns true if a request completes the handshake: `initialize` of the older generation, or any request of the newer
/// one that names the client's protocol version. A request for our versions does not.
fn completes_handshake(request: &ClientRequest) -> bool {
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
