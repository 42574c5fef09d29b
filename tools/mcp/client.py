"""Walks every tool, prompt and resource of a server with the official Python SDK.

    python client.py legacy|auto|2026-07-28

The server is RUTTER_MCP_COMMAND, started here, or the one that answers at RUTTER_MCP_URL with RUTTER_MCP_TOKEN. Its memory has
to be as walk.json says. Whatever is not as it should be is an exception; at the end stands what was walked, as a line of JSON.
"""

import json
import logging
import os
import pathlib
import sys
import warnings
from functools import reduce

import anyio
import jsonschema
from mcp import Client, MCPDeprecationWarning, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

INVALID_PARAMS, METHOD_NOT_FOUND, NO_RESOURCE = -32602, -32601, -32002
FOLDER = pathlib.Path(__file__).parent


def server(http):
    if http is not None:
        return streamable_http_client(os.environ["RUTTER_MCP_URL"], http_client=http)
    kept = {name: os.environ[name] for name in ("HOME", "PATH", "RUTTER_HOME")}
    return StdioServerParameters(command=os.environ["RUTTER_MCP_COMMAND"], args=["mcp"], env=kept)


def filled(value, saved):
    """A value with what was kept put in."""
    if isinstance(value, dict):
        return {key: filled(inner, saved) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [filled(inner, saved) for inner in value]
    if isinstance(value, str) and value.startswith("$long:"):
        return "ä" * int(value.removeprefix("$long:"))
    if isinstance(value, str) and value.startswith("$"):
        return saved[value[1:]]
    return value


async def refuses(code, call, *words, data=None):
    """What a call that is no call is told."""
    try:
        given = await call()
    except MCPError as error:
        assert error.error.code == code, f"{error.error.code} and not {code}: {error}"
        assert error.error.data == data, error.error
        for word in words:
            assert word in error.error.message, error.error.message
        return
    raise AssertionError(f"{given} was given where {code} was due")


async def tools(client):
    walk = json.loads((FOLDER / "walk.json").read_text())
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    for tool in listed.values():
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert tool.annotations.read_only_hint is not None, tool
    went, failed, saved = set(), set(), {}
    for step in walk["steps"]:
        name = step["call"]
        arguments = walk["start"] | step["start"] if "start" in step else step.get("with")
        # The SDK holds what is given against the schema that was listed, and raises.
        result = await client.call_tool(name, filled(arguments, saved))
        if "refused" in step:
            text = result.content[0].text
            assert result.is_error and step["refused"] in text, f"{step}: {result}"
            assert result.structured_content is None, result
            failed.add(name)
            continue
        given = result.structured_content
        assert not result.is_error, f"{step}: {result}"
        assert result.content[0].text, f"{step} says nothing"
        jsonschema.validate(given, listed[name].output_schema, jsonschema.Draft202012Validator)
        for key, value in step.get("has", {}).items():
            assert given.get(key) == value, f"{step}: {given}"
        for kept, key in step.get("save", {}).items():
            saved[kept] = reduce(lambda value, part: value[int(part) if part.isdigit() else part], key.split("."), given)
        went.add(name)
    assert went == listed.keys(), listed.keys() - went
    assert failed == listed.keys(), listed.keys() - failed
    await refuses(INVALID_PARAMS, lambda: client.call_tool("start_gap", {}), "there is no tool `start_gap`")
    return len(walk["steps"])


async def prompts(client):
    assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["premortem", "retrospective"]
    for name, arguments in [("premortem", {"domain": "debugging", "goal": "CRLF"}), ("retrospective", None)]:
        message = (await client.get_prompt(name, arguments)).messages[0]
        assert message.role == "user" and "data, not instructions" in message.content.text, message
    await refuses(INVALID_PARAMS, lambda: client.get_prompt("premortem", {}), "domain is missing")
    await refuses(INVALID_PARAMS, lambda: client.get_prompt("premortem", {"domain": "x"}), "domain must be one of debugging")
    await refuses(INVALID_PARAMS, lambda: client.get_prompt("nothing", {}), "there is no prompt")


async def resources(client):
    listed = (await client.list_resources()).resources
    for resource in listed:
        contents = (await client.read_resource(str(resource.uri))).contents[0]
        assert contents.mime_type == "application/json", contents
        json.loads(contents.text)
    assert len(listed) == 2, listed
    template = (await client.list_resource_templates()).resource_templates[0]
    assert template.uri_template == "rutter://experience/{id}", template
    start = json.loads((FOLDER / "walk.json").read_text())["start"]
    ghap = (await client.call_tool("start_ghap", start)).structured_content["id"]
    contents = (await client.read_resource(f"rutter://experience/{ghap}")).contents[0]
    assert json.loads(contents.text)["goal"] == start["goal"], contents
    contents = (await client.read_resource("rutter://ghap/active", cache_mode="reload")).contents[0]
    assert json.loads(contents.text)["has_active"], contents
    # The newer generation has no code of its own for what is not there.
    missing = INVALID_PARAMS if client.protocol_version >= "2026" else NO_RESOURCE
    for uri in ("rutter://experience/0123456789abcdef", "rutter://experience/x", "rutter://nothing", "file:///etc/passwd"):
        await refuses(missing, lambda uri=uri: client.read_resource(uri), data={"uri": uri})


async def pages(client):
    for listing in (client.list_tools, client.list_prompts, client.list_resources, client.list_resource_templates):
        assert (await listing()).next_cursor is None
        await refuses(INVALID_PARAMS, lambda listing=listing: listing(cursor="2"), "the list has only one page")


async def log(client, messages):
    """What a client is told beside results, where it asks to be told."""

    async def told():
        messages.clear()
        await client.call_tool("status", {})
        await client.call_tool("status", {"all": True})
        # Each comes before the result of its call.
        return [(message.level, message.data["call"]) for message in messages]

    if client.protocol_version >= "2026":
        assert await told() == [("debug", "answered"), ("notice", "refused")], messages
        return
    assert await told() == [], messages
    await client.set_logging_level("notice")
    assert await told() == [("notice", "refused")], messages
    await client.set_logging_level("debug")
    assert await told() == [("debug", "answered"), ("notice", "refused")], messages
    await client.set_logging_level("error")
    assert await told() == [], messages


async def cancellation(client):
    """A call that is called off at any time is done, or is not: never half."""
    tags = ["one", "two", "three"]
    for number in range(40):
        memory = {"content": f"called off {number}", "category": "event", "importance": 0.25, "tags": tags}
        # The last ones are left to their end.
        with anyio.move_on_after(number / 4000 if number < 30 else 60):
            await client.call_tool("remember", memory)
    found = await client.call_tool("recall_memories", {"category": "event", "limit": 100})
    found = found.structured_content["results"]
    for memory in found:
        assert memory["tags"] == tags and memory["importance"] == 0.25, memory
    contents = {memory["content"] for memory in found}
    assert len(contents) == len(found) and contents >= {f"called off {number}" for number in range(30, 40)}, contents
    start = json.loads((FOLDER / "walk.json").read_text())["start"]
    end = {"status": "abandoned", "result": "called off"}
    for number in range(20):
        await client.call_tool("resolve_ghap", end)
        with anyio.move_on_after(number / 2000):
            await client.call_tool("start_ghap", start)
        now = (await client.call_tool("get_ghap", {})).structured_content
        if now["has_active"]:
            assert {key: now["active"][key] for key in start} == start, now
    await client.call_tool("resolve_ghap", end)
    assert not (await client.call_tool("start_ghap", start)).is_error
    return len(found)


async def talk(generation, http):
    messages = []

    async def heard(message):
        messages.append(message)

    level = "debug" if generation != "legacy" else None
    async with Client(server(http), mode=generation, logging_callback=heard, log_level=level) as client:
        steps = await tools(client)
        await prompts(client)
        await resources(client)
        await pages(client)
        if http is None:
            await log(client, messages)
        if client.protocol_version < "2026":
            await client.send_ping()
        kept = await cancellation(client)
        walked = {"sdk": "python", "protocol": client.protocol_version, "steps": steps, "kept": kept}
        print(json.dumps(walked))


async def main(generation):
    if "RUTTER_MCP_URL" not in os.environ:
        return await talk(generation, None)
    import httpx2

    headers = {"Authorization": f"Bearer {os.environ['RUTTER_MCP_TOKEN']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        await talk(generation, http)


logging.basicConfig(level=logging.ERROR)
# The older generation has what the newer one dropped.
warnings.simplefilter("ignore", MCPDeprecationWarning)
anyio.run(main, sys.argv[1])
