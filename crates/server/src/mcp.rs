//! The MCP protocol, on the official SDK. Only this module and its submodules know the protocol.
//!
//! The SDK tells the two protocol generations of clients apart. A call blocks its thread for about a millisecond, on a
//! separate pool, so that a ping or a cancellation is answered meanwhile. An error of a call is in its result, where
//! the model reads it; a protocol error is for messages that are not a call. Calls are too short for progress messages,
//! and lists too short for a second page.

use std::borrow::Cow;
use std::fs::{File, FileType};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, MetaObject, PaginatedRequestParams, Prompt,
    PromptArgument, PromptMessage, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt as _};
use rutter_memory::quote::{DATA_LABEL, format_field};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::refusal::redact_name;
use crate::server_context::ServerContext;
use crate::store_pool::{IDLE_TIMEOUT, StorePool};
use crate::tools::{self, TOOLS, ToolEffect};

mod handshake;
mod lines;
mod log;
mod request_id;

/// The server instructions that a client shows to the model.
const INSTRUCTIONS: &str = "Rutter records predictions and results. Before acting on a guess \
                            that a test or build can settle, call start_ghap (goal, hypothesis, \
                            action, prediction; name the command). Test and build runs are \
                            captured automatically and compared with it. Changed your mind: \
                            update_ghap. Settled: resolve_ghap; falsified needs surprise and \
                            root_cause, and later sessions read lesson.takeaway. \
                            applies_when, a user's words for the problem, brings it back. \
                            search_experiences, premortem and recall_memories find earlier \
                            lessons; remember stores what no file says.";

/// The metadata key with the client's id of a call.
const TOOL_USE_META_KEY: &str = "claudecode/toolUseId";

/// The methods with parameters that both protocol generations have.
const SHARED_METHODS: [&str; 7] = [
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];
/// The methods that only the older generation has.
const LEGACY_METHODS: [&str; 2] = ["initialize", "logging/setLevel"];

/// Returns true if a request is of the older generation, which begins with a handshake.
fn is_legacy_request(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_none_or(|version| version.as_str() < ProtocolVersion::V_2026_07_28.as_str())
}

fn resource_not_found(uri: &str, what: impl Into<Cow<'static, str>>) -> ErrorData {
    let uri = redact_name(uri, 200);
    ErrorData::resource_not_found(what, Some(json!({ "uri": uri })))
}

fn method_not_found(name: &str) -> ErrorData {
    let name = redact_name(name, 60);
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method {name}"), None)
}

const ACTIVE_GHAP_URI: &str = "rutter://ghap/active";
const VALUES_URI: &str = "rutter://values";
const EXPERIENCE_URI_PREFIX: &str = "rutter://experience/";

/// An MCP server for one client.
#[derive(Clone)]
pub struct MemoryServer {
    desk: Arc<ServerContext>,
    shelf: Arc<StorePool>,
    log: log::ClientLogLevel,
}

/// Serves one client through stdin and stdout, until it disconnects.
pub fn serve_stdio(desk: ServerContext) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        // A client sends only a few requests at once.
        .max_blocking_threads(8)
        .build()?;
    let served = runtime.block_on(async {
        let server = MemoryServer::new(Arc::new(desk));
        let shelf = Arc::clone(&server.shelf);
        // A client that disconnects before the handshake is not an error.
        let (reader, writer) = open_stdio()?;
        let way = handshake::HandshakeTransport::new(lines::answering_transport(reader, writer));
        if let Ok(running) = server.serve(way).await {
            drop(running.waiting().await);
        }
        shelf.close_all();
        Ok(())
    });
    // The client is gone, so calls that still run need not finish.
    runtime.shutdown_background();
    served
}

type StdioReader = Box<dyn AsyncRead + Send + Unpin>;
type StdioWriter = Box<dyn AsyncWrite + Send + Unpin>;

/// Opens the streams to the client.
///
/// Claude Code connects its servers by sockets, other clients by pipes, people by files. The standard streams cannot be
/// used directly, because the command line holds their locks.
fn open_stdio() -> io::Result<(StdioReader, StdioWriter)> {
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let kind = |file: &File| file.metadata().map(|metadata| metadata.file_type());
    if kind(&input)?.is_fifo() && kind(&output)?.is_fifo() {
        let (input, output) = rmcp::transport::io::stdio_pipes();
        return Ok((Box::new(input), Box::new(output)));
    }
    let input: StdioReader = match as_socket(&input, kind(&input)?)? {
        Some(socket) => Box::new(socket),
        None => Box::new(tokio::fs::File::from_std(input)),
    };
    let output: StdioWriter = match as_socket(&output, kind(&output)?)? {
        Some(socket) => Box::new(socket),
        None => Box::new(tokio::fs::File::from_std(output)),
    };
    Ok((input, output))
}

fn as_socket(file: &File, kind: FileType) -> io::Result<Option<tokio::net::UnixStream>> {
    if !kind.is_socket() {
        return Ok(None);
    }
    let socket = UnixStream::from(file.as_fd().try_clone_to_owned()?);
    socket.set_nonblocking(true)?;
    tokio::net::UnixStream::from_std(socket).map(Some)
}

/// Returns the tools as the protocol describes them.
fn describe_tools() -> Vec<Tool> {
    TOOLS.iter().map(describe_tool).collect()
}

fn describe_tool(tool: &tools::ToolSpec) -> Tool {
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(tool.effect.only_reads())
        .destructive(tool.effect == ToolEffect::Removes)
        .idempotent(tool.effect.only_reads())
        .open_world(false);
    let mut meta = JsonObject::new();
    if tool.always {
        meta.insert("anthropic/alwaysLoad".to_owned(), json!(true));
    } else {
        meta.insert("anthropic/searchHint".to_owned(), json!(tool.hint));
    }
    Tool::new(tool.name, tool.description, tool.input())
        .with_title(tool.title)
        .with_raw_output_schema(tool.output())
        .with_annotations(annotations)
        .with_meta(MetaObject(meta))
}

/// Refuses a cursor, because every list has one page.
fn refuse_cursor(page: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match page.and_then(|page| page.cursor) {
        None => Ok(()),
        Some(_) => {
            Err(ErrorData::invalid_params("the list has only one page; omit the cursor", None))
        }
    }
}

impl MemoryServer {
    /// Creates a server with this context.
    pub fn new(desk: Arc<ServerContext>) -> Self {
        Self { desk, shelf: Arc::default(), log: log::ClientLogLevel::default() }
    }

    /// Returns the same server for another client, with a separate log level.
    pub(crate) fn for_new_client(&self) -> Self {
        Self { log: log::ClientLogLevel::default(), ..self.clone() }
    }

    /// Closes the open store handles.
    pub(crate) fn close(&self) {
        self.shelf.close_all();
    }

    /// Calls a tool on a blocking thread.
    async fn call(
        &self,
        name: String,
        arguments: Value,
        tool_use: Option<String>,
        is_cancelled: impl Fn() -> bool + Send + 'static,
    ) -> Result<Result<tools::ToolAnswer, tools::ToolRefusal>, ErrorData> {
        let (desk, open) = (Arc::clone(&self.desk), Arc::clone(&self.shelf));
        let done = tokio::task::spawn_blocking(move || {
            // A write is one transaction, so it can only be cancelled before it begins.
            if is_cancelled() {
                return Err(tools::ToolRefusal::Refused("the call was cancelled".to_owned()));
            }
            open.call(&desk, &name, arguments, tool_use.as_deref())
        });
        let done = done.await;
        if self.shelf.claim_cleanup_task() {
            tokio::spawn(close_idle_handles(Arc::clone(&self.shelf)));
        }
        done.map_err(|_| ErrorData::internal_error("the call failed unexpectedly", None))
    }

    /// Calls a tool to fill a resource or a prompt.
    async fn call_for_content(
        &self,
        name: &'static str,
        arguments: Value,
    ) -> Result<tools::ToolAnswer, ErrorData> {
        let answer = self.call(name.to_owned(), arguments, None, || false).await?;
        answer
            .map_err(|refusal| ErrorData::invalid_params(format_field(&refusal.to_string()), None))
    }
}

/// Closes unused store handles periodically, until none is open.
async fn close_idle_handles(shelf: Arc<StorePool>) {
    loop {
        tokio::time::sleep(IDLE_TIMEOUT).await;
        let shelf = Arc::clone(&shelf);
        if !tokio::task::spawn_blocking(move || shelf.close_idle()).await.unwrap_or(false) {
            return;
        }
    }
}

impl ServerHandler for MemoryServer {
    #[expect(deprecated, reason = "clients of the older generation may still ask to be told")]
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_logging()
            .build();
        let about = Implementation::new("rutter", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(about).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        refuse_cursor(page)?;
        Ok(ListToolsResult::with_all_items(describe_tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        TOOLS.iter().find(|tool| tool.name == name).map(describe_tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool_use =
            context.meta.get(TOOL_USE_META_KEY).and_then(Value::as_str).map(str::to_owned);
        let arguments = request.arguments.map_or(Value::Null, Value::Object);
        let name = request.name.into_owned();
        let cancelled = context.ct.clone();
        let is_cancelled = move || cancelled.is_cancelled();
        let called = self.call(name.clone(), arguments, tool_use, is_cancelled).await;
        self.log.log_call(&context, &name, &called).await;
        let result = match called? {
            Ok(answer) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(answer.text)]);
                result.structured_content = Some(answer.structured);
                result
            }
            Err(refusal @ tools::ToolRefusal::Unknown { .. }) => {
                return Err(ErrorData::invalid_params(format_field(&refusal.to_string()), None));
            }
            Err(refusal) => {
                CallToolResult::error(vec![ContentBlock::text(format_field(&refusal.to_string()))])
            }
        };
        Ok(result.into())
    }

    async fn set_level(
        &self,
        request: log::SetLogLevel,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !is_legacy_request(&context) {
            return Err(method_not_found("logging/setLevel"));
        }
        self.log.set(&request);
        Ok(())
    }

    /// Answers a request that the SDK could not parse: an unknown method, or a known one with wrong parameters.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method.as_str();
        if SHARED_METHODS.contains(&method)
            || (LEGACY_METHODS.contains(&method) && is_legacy_request(&context))
        {
            let what = format!("the parameters of {method} are invalid");
            return Err(ErrorData::invalid_params(what, None));
        }
        Err(method_not_found(method))
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        refuse_cursor(page)?;
        let argument = |name: &str, what: &str, required| {
            PromptArgument::new(name).with_description(what).with_required(required)
        };
        Ok(ListPromptsResult::with_all_items(vec![
            Prompt::new(
                "premortem",
                Some("Show earlier failures in work of this kind, and what to watch"),
                Some(vec![
                    argument("domain", "debugging, refactoring, feature, testing, …", true),
                    argument("goal", "The task", false),
                ]),
            ),
            Prompt::new(
                "retrospective",
                Some("Review the predictions of this project and their results"),
                None,
            ),
        ]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let mut arguments = request.arguments.unwrap_or_default();
        let (known, task) = match request.name.as_str() {
            "premortem" => {
                arguments.retain(|_, value| value.as_str() != Some(""));
                let known = self.call_for_content("premortem", Value::Object(arguments)).await?;
                (
                    known.text,
                    "Name the two or three most likely ways in which this work fails for the \
                     same reasons, and an early sign of each. Then call start_ghap with the \
                     riskiest assumption as hypothesis.",
                )
            }
            "retrospective" => {
                let known =
                    self.call_for_content("get_ghap", json!({ "list": true, "limit": 50 })).await?;
                (
                    known.text,
                    "Which hypotheses failed more than once, and why? Store a rule that would \
                     have helped with remember (category workflow or error), and forget \
                     memories that turned out wrong. get_ghap with an id shows one GHAP in full.",
                )
            }
            other => {
                let other = redact_name(other, 60);
                let what = format!(
                    "there is no prompt `{other}`; the prompts are: premortem, \
                             retrospective"
                );
                return Err(ErrorData::invalid_params(what, None));
            }
        };
        let text = format!("From earlier work here ({DATA_LABEL}):\n\n{known}\n\n{task}");
        let messages = vec![PromptMessage::new_text(Role::User, text)];
        Ok(GetPromptResult::new(messages).into())
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        refuse_cursor(page)?;
        let json = |uri: &str, name: &str, what: &str| {
            Resource::new(uri, name).with_description(what).with_mime_type("application/json")
        };
        Ok(ListResourcesResult::with_all_items(vec![
            json(
                ACTIVE_GHAP_URI,
                "active GHAP",
                "The active GHAP, and GHAPs that earlier sessions left open",
            ),
            json(VALUES_URI, "values", "The values: rules that several lessons support"),
        ]))
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        refuse_cursor(page)?;
        let template =
            ResourceTemplate::new(format!("{EXPERIENCE_URI_PREFIX}{{id}}"), "experience")
                .with_description("One GHAP in full")
                .with_mime_type("application/json");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let value = if uri == ACTIVE_GHAP_URI {
            self.call_for_content("get_ghap", json!({})).await?.structured
        } else if uri == VALUES_URI {
            self.call_for_content("list_values", json!({})).await?.structured
        } else if let Some(id) = uri.strip_prefix(EXPERIENCE_URI_PREFIX) {
            let found = self.call_for_content("get_ghap", json!({ "id": id })).await;
            let found = found.map_err(|error| resource_not_found(&uri, error.message))?;
            found.structured["ghap"].clone()
        } else {
            let asked = redact_name(&uri, 200);
            let what = format!(
                "there is no resource {asked}; the resources are: {ACTIVE_GHAP_URI}, \
                 {VALUES_URI}, {EXPERIENCE_URI_PREFIX}ID"
            );
            return Err(resource_not_found(&uri, what));
        };
        let contents =
            ResourceContents::text(value.to_string(), uri).with_mime_type("application/json");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Estimates tokens at four characters each, as the budget does.
    fn tokens(tools: &[&tools::ToolSpec]) -> usize {
        let size = |tool: &&tools::ToolSpec| {
            let told = json!({
                "name": tool.name, "description": tool.description, "inputSchema": *tool.input(),
            });
            told.to_string().chars().count()
        };
        tools.iter().map(size).sum::<usize>().div_ceil(4)
    }

    #[test]
    fn tool_descriptions_fit_token_budget() {
        let all: Vec<_> = TOOLS.iter().collect();
        let always: Vec<_> = TOOLS.iter().filter(|tool| tool.always).collect();
        assert_eq!(always.len(), 3);
        let (always, all) = (tokens(&always), tokens(&all));
        assert!(always <= 900, "{always} tokens are always loaded");
        assert!(all <= 3_500, "{all} tokens in all");
    }
}
