//! The MCP server on a local socket, for clients that cannot start a program.
//!
//! Any process on the machine can connect, and a page in a browser can try. So a request must have the
//! [token](TokenFileError), and until that is checked only its head is read. [hyper](https://hyper.rs) reads heads with a
//! timeout and a size limit; the SDK checks `Host` and `Origin` and speaks the protocol. The server keeps no sessions,
//! because the tools keep no state between two calls. So a client of either protocol generation, with or without a
//! session id, continues after a restart of the server.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{
    AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderValue, ORIGIN, WWW_AUTHENTICATE,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rutter_contract::replace_lone_surrogates;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::describe_json_error;
use crate::mcp::MemoryServer;
use crate::server_context::ServerContext;

mod connections;
mod token;

use connections::{ConnectionLimiter, ConnectionSlot};
use token::AccessToken;
pub use token::TokenFileError;

/// The only path that the server answers.
pub const PATH: &str = "/mcp";

/// The time limit for a request head, for a body, and for an idle connection.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The time limit for an unread response.
const UNREAD_RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);
/// The time in which a refused client may go on sending, so that the response reaches it.
const LINGER_TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum number of bytes that are read and discarded from a refused client.
const MAX_LINGER_BYTES: u64 = 16 * 1024 * 1024;
/// The time in which running calls can finish when the server shuts down.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// The maximum size of a body in bytes: a memory has 10,000 characters, a GHAP a few thousand.
const MAX_BODY_BYTES: usize = 1024 * 1024;
/// The maximum size of a request head, in bytes.
const MAX_HEAD_BYTES: usize = 16 * 1024;
const MAX_HEADERS: usize = 64;
const MAX_CONNECTIONS: u32 = 64;

/// The address and the token file of the server.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The address; with port 0 the system chooses one.
    pub address: SocketAddr,
    /// The token file, which is created if missing.
    pub token: PathBuf,
}

/// The reason why the server could not start.
#[derive(Debug, thiserror::Error)]
pub enum HttpServeError {
    /// The token file cannot be used.
    #[error(transparent)]
    Token(#[from] TokenFileError),
    /// The address cannot be bound.
    #[error(
        "cannot listen on {address}: {source}; choose another with --port or --bind, or use \
         --port 0 for any free port"
    )]
    Address {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
    /// Another I/O operation failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Serves clients with the token, until a signal ends the process. Calls `ready` with the address once it listens.
pub fn serve(
    context: ServerContext,
    options: &HttpOptions,
    ready: impl FnOnce(SocketAddr) -> io::Result<()>,
) -> Result<(), HttpServeError> {
    let token = AccessToken::load_or_create(&options.token)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(8)
        .build()?;
    let served = runtime.block_on(async {
        // Installs the signal handlers before `ready` announces the server.
        let mut end = ShutdownSignals::listen()?;
        let listener = TcpListener::bind(options.address)
            .await
            .map_err(|source| HttpServeError::Address { address: options.address, source })?;
        ready(listener.local_addr()?)?;
        let handler =
            HttpHandler { server: MemoryServer::new(Arc::new(context)), token: Arc::new(token) };
        let connections = ConnectionLimiter::new(MAX_CONNECTIONS);
        let (closing, closed) = watch::channel(false);
        {
            let mut signalled = pin!(end.wait());
            loop {
                tokio::select! {
                    () = &mut signalled => break,
                    (stream, seat) = accept_connection(&listener, &connections) => {
                        tokio::spawn(handler.clone().serve_connection(stream, seat, closed.clone()));
                    }
                }
            }
        }
        drop(listener);
        closing.send_replace(true);
        connections.close_idle();
        // Calls that take longer than this are dropped without an answer.
        drop(timeout(SHUTDOWN_TIMEOUT, connections.wait_until_empty()).await);
        handler.server.close();
        Ok(())
    });
    runtime.shutdown_background();
    served
}

/// The signals that end the process.
struct ShutdownSignals([Signal; 3]);

impl ShutdownSignals {
    fn listen() -> io::Result<Self> {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let [interrupt, terminate, hangup] = kinds.map(signal);
        Ok(Self([interrupt?, terminate?, hangup?]))
    }

    async fn wait(&mut self) {
        poll_fn(|context| {
            let signalled = self.0.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if signalled { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }
}

/// Returns the next connection, with a slot.
async fn accept_connection(
    listener: &TcpListener,
    connections: &ConnectionLimiter,
) -> (TcpStream, Arc<ConnectionSlot>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, connections.acquire().await),
            // Too many open files, or the client disconnected again. An immediate retry would only keep a core busy.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

type HttpAnswer = Response<BoxBody<Bytes, Infallible>>;
type McpHttpService = StreamableHttpService<MemoryServer, NeverSessionManager>;

/// The state that all connections share.
#[derive(Clone)]
struct HttpHandler {
    server: MemoryServer,
    token: Arc<AccessToken>,
}

impl HttpHandler {
    /// Serves a connection until it ends, its slot is needed, or its response stays unread.
    async fn serve_connection(
        self,
        stream: TcpStream,
        seat: Arc<ConnectionSlot>,
        closed: watch::Receiver<bool>,
    ) {
        let Ok(address) = stream.local_addr() else { return };
        // A response is one small write; waiting for more data would only delay it.
        drop(stream.set_nodelay(true));
        let names = allowed_hosts(address);
        let protocol = self.mcp_service(names.clone());
        tokio::select! {
            () = self.run_connection(stream, &seat, (&protocol, &names), closed) => {}
            () = seat.wait_until_evicted() => {}
            () = seat.wait_until_stale(UNREAD_RESPONSE_TIMEOUT) => {}
        }
    }

    /// Returns the protocol service for clients that address the server by one of these host names.
    fn mcp_service(&self, names: Vec<String>) -> McpHttpService {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(MAX_BODY_BYTES)
            .with_allowed_origins(names.iter().map(|name| format!("http://{name}")))
            .enforce_origin_validation()
            .with_allowed_hosts(names);
        let server = self.server.clone();
        StreamableHttpService::new(move || Ok(server.for_new_client()), Arc::default(), config)
    }

    async fn run_connection(
        &self,
        stream: TcpStream,
        seat: &ConnectionSlot,
        (protocol, names): (&McpHttpService, &[String]),
        mut closed: watch::Receiver<bool>,
    ) {
        let service = service_fn(|request| {
            let answer = self.handle_request(request, seat, protocol, names);
            Box::pin(async { Ok::<_, Infallible>(answer.await) })
                as Pin<Box<dyn Future<Output = _> + Send + '_>>
        });
        let mut connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(REQUEST_TIMEOUT)
            .max_header_size(MAX_HEAD_BYTES)
            .max_headers(MAX_HEADERS)
            .max_buf_size(4 * MAX_HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), service);
        // Ignores errors: they only affect this client.
        let is_over = tokio::select! {
            _ = poll_fn(|context| connection.poll_without_shutdown(context)) => true,
            () = async { drop(closed.wait_for(|closed| *closed).await) } => false,
        };
        if !is_over {
            Pin::new(&mut connection).graceful_shutdown();
            drop(poll_fn(|context| connection.poll_without_shutdown(context)).await);
        }
        close_gracefully(connection.into_parts().io.into_inner()).await;
    }

    async fn handle_request(
        &self,
        request: Request<Incoming>,
        seat: &ConnectionSlot,
        protocol: &McpHttpService,
        names: &[String],
    ) -> HttpAnswer {
        let headers = request.headers();
        if !self.token.matches_headers(headers) {
            let mut answer = plain_refusal(
                StatusCode::UNAUTHORIZED,
                "the token is missing or wrong: send `Authorization: Bearer TOKEN` with the \
                 content of the token file",
            );
            answer
                .headers_mut()
                .insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"rutter\""));
            return answer;
        }
        if let Err(answer) = check_target(request.method(), request.uri(), names) {
            return *answer;
        }
        if request.uri().path() != PATH {
            return plain_refusal(StatusCode::NOT_FOUND, "not found; the only path is /mcp");
        }
        if [HOST, ORIGIN].iter().any(|name| headers.get_all(name).iter().count() > 1) {
            return plain_refusal(StatusCode::BAD_REQUEST, "Host and Origin may occur only once");
        }
        let _work = seat.begin_work();
        let (head, body) = request.into_parts();
        let body = match read_body(body).await {
            Ok(body) => body,
            Err(answer) => return *answer,
        };
        let is_json = head
            .headers
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        let answer = protocol.handle(Request::from_parts(head, Full::new(body.clone()))).await;
        if answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
            return invalid_message_answer(&body);
        }
        answer
    }
}

/// Returns the host names of a server at an address. Any other name points to DNS rebinding.
fn allowed_hosts(address: SocketAddr) -> Vec<String> {
    let (ip, port) = (address.ip().to_canonical(), address.port());
    let mut names = vec![SocketAddr::new(ip, port).to_string()];
    if ip.is_loopback() {
        names.push(format!("localhost:{port}"));
    }
    names
}

/// Checks the target of a request. A target with a host takes precedence over `Host`, so it must name this server;
/// `CONNECT` and `*` are for proxies.
fn check_target(method: &Method, target: &Uri, names: &[String]) -> Result<(), Box<HttpAnswer>> {
    if method == Method::CONNECT || target.path() == "*" {
        let why = "the request target must be a path: POST /mcp";
        return Err(Box::new(plain_refusal(StatusCode::BAD_REQUEST, why)));
    }
    let Some(authority) = target.authority() else { return Ok(()) };
    let is_own = names.iter().any(|name| authority.as_str().eq_ignore_ascii_case(name));
    if is_own && target.scheme_str() == Some("http") {
        return Ok(());
    }
    let why = "the request target names another server";
    Err(Box::new(plain_refusal(StatusCode::FORBIDDEN, why)))
}

/// Returns the header that a client must send, as JSON, with the token of a file.
pub fn authorization_header(token: &Path) -> Result<String, TokenFileError> {
    Ok(json!({ AUTHORIZATION.as_str(): AccessToken::load(token)?.header_value() }).to_string())
}

/// Reads a body, unless it is too long or too slow.
async fn read_body(body: Incoming) -> Result<Bytes, Box<HttpAnswer>> {
    let too_long = || {
        let what = format!("a call has at most {MAX_BODY_BYTES} bytes");
        Box::new(plain_refusal(StatusCode::PAYLOAD_TOO_LARGE, &what))
    };
    // A declared length above the limit is refused without reading.
    if body.size_hint().lower() > MAX_BODY_BYTES as u64 {
        return Err(too_long());
    }
    match timeout(REQUEST_TIMEOUT, Limited::new(body, MAX_BODY_BYTES).collect()).await {
        Ok(Ok(body)) => {
            let mut body = Vec::from(body.to_bytes());
            replace_lone_surrogates(&mut body);
            Ok(body.into())
        }
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_long()),
        Ok(Err(_)) => {
            Err(Box::new(plain_refusal(StatusCode::BAD_REQUEST, "the body is incomplete")))
        }
        Err(_) => {
            let what = format!("the body took longer than {} s", REQUEST_TIMEOUT.as_secs());
            Err(Box::new(plain_refusal(StatusCode::REQUEST_TIMEOUT, &what)))
        }
    }
}

/// Returns a refusal outside of the protocol. It closes the connection, because the rest of the request was not read.
fn plain_refusal(status: StatusCode, why: &str) -> HttpAnswer {
    let mut answer = Response::new(Full::new(Bytes::from(format!("{why}\n"))).boxed());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// Returns the response to a body that is not a JSON-RPC message. The SDK would blame the content type, although it
/// is correct.
fn invalid_message_answer(body: &[u8]) -> HttpAnswer {
    let (code, message) = match serde_json::from_slice::<serde_json::Value>(body) {
        Err(error) => (-32700, describe_json_error(&error)),
        Ok(_) => {
            (-32600, "not a JSON-RPC 2.0 message, or a method with invalid parameters".to_owned())
        }
    };
    let error =
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } });
    let mut answer = Response::new(Full::new(Bytes::from(error.to_string())).boxed());
    *answer.status_mut() = StatusCode::BAD_REQUEST;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// Closes a connection so that the response arrives. A plain close while the client still sends would make its system
/// discard the response.
async fn close_gracefully(mut stream: TcpStream) {
    if stream.shutdown().await.is_err() {
        return;
    }
    let mut rest = stream.take(MAX_LINGER_BYTES);
    let mut bytes = vec![0; MAX_HEAD_BYTES];
    drop(
        timeout(LINGER_TIMEOUT, async {
            while rest.read(&mut bytes).await.is_ok_and(|read| read > 0) {}
        })
        .await,
    );
}

/// Returns true if other machines can reach an address.
pub fn is_open_to_others(address: IpAddr) -> bool {
    !address.to_canonical().is_loopback()
}
