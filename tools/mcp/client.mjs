// Walks every tool, prompt and resource of a server with the official TypeScript SDKs.
//
//     node client.mjs v1|legacy|auto|2026-07-28
//
// `v1` is the SDK that most clients are built on, the others are generations of the protocol with its successor. Both are looked
// for below RUTTER_MCP_MODULES. The server is RUTTER_MCP_COMMAND, started here, or the one that answers at RUTTER_MCP_URL with
// RUTTER_MCP_TOKEN. Its memory has to be as walk.json says. Whatever is not as it should be is an exception; at the end stands what
// was walked, as a line of JSON.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const generation = process.argv[2];
const require = createRequire(`${process.env.RUTTER_MCP_MODULES}/`);
const load = name => import(pathToFileURL(require.resolve(name)));
const { default: Ajv } = await load('ajv/dist/2020.js');
const walk = JSON.parse(readFileSync(new URL('walk.json', import.meta.url), 'utf8'));
const INVALID_PARAMS = -32602;
const NO_RESOURCE = -32002;

const v1 = generation === 'v1';
const sdk = v1
    ? {
          ...(await load('@modelcontextprotocol/sdk/client/index.js')),
          ...(await load('@modelcontextprotocol/sdk/client/stdio.js')),
          ...(await load('@modelcontextprotocol/sdk/client/streamableHttp.js')),
          ...(await load('@modelcontextprotocol/sdk/types.js')),
      }
    : { ...(await load('@modelcontextprotocol/client')), ...(await load('@modelcontextprotocol/client/stdio')) };

function transport() {
    const { RUTTER_MCP_URL, RUTTER_MCP_TOKEN, RUTTER_MCP_COMMAND, HOME, PATH, RUTTER_HOME } = process.env;
    if (RUTTER_MCP_URL) {
        const headers = { Authorization: `Bearer ${RUTTER_MCP_TOKEN}` };
        return new sdk.StreamableHTTPClientTransport(new URL(RUTTER_MCP_URL), { requestInit: { headers } });
    }
    return new sdk.StdioClientTransport({ command: RUTTER_MCP_COMMAND, args: ['mcp'], env: { HOME, PATH, RUTTER_HOME } });
}

/** A value with what was kept put in. */
function filled(value, saved) {
    if (Array.isArray(value)) return value.map(inner => filled(inner, saved));
    if (typeof value === 'string' && value.startsWith('$long:')) return 'ä'.repeat(Number(value.slice(6)));
    if (typeof value === 'string' && value.startsWith('$')) return saved[value.slice(1)];
    if (value === null || typeof value !== 'object') return value;
    const there = Object.entries(value).filter(([, inner]) => inner !== null);
    return Object.fromEntries(there.map(([key, inner]) => [key, filled(inner, saved)]));
}

/** What a call that is no call is told. */
async function refuses(code, call, word = '', data = undefined) {
    await assert.rejects(call, error => {
        assert.equal(error.code, code, error.message);
        assert.deepEqual(error.data, data);
        assert.ok(error.message.includes(word), error.message);
        return true;
    });
}

async function tools(client) {
    const ajv = new Ajv({ strict: false, validateFormats: false });
    const listed = new Map((await client.listTools()).tools.map(tool => [tool.name, tool]));
    const given = new Map([...listed].map(([name, tool]) => [name, ajv.compile(tool.outputSchema)]));
    const taken = new Map([...listed].map(([name, tool]) => [name, ajv.compile(tool.inputSchema)]));
    const [went, failed, saved] = [new Set(), new Set(), {}];
    for (const step of walk.steps) {
        const args = filled(step.start ? { ...walk.start, ...step.start } : (step.with ?? {}), saved);
        // The SDK holds what is given against the schema that was listed, and throws.
        const result = await client.callTool({ name: step.call, arguments: args });
        const about = JSON.stringify([step, result]);
        if (step.refused) {
            assert.ok(result.isError && result.content[0].text.includes(step.refused), about);
            failed.add(step.call);
            continue;
        }
        assert.ok(taken.get(step.call)(args), about);
        assert.ok(!result.isError && result.content[0].text, about);
        assert.ok(given.get(step.call)(result.structuredContent), JSON.stringify(given.get(step.call).errors) + about);
        for (const [key, value] of Object.entries(step.has ?? {})) assert.deepEqual(result.structuredContent[key], value, about);
        for (const [name, path] of Object.entries(step.save ?? {})) {
            saved[name] = path.split('.').reduce((value, part) => value[part], result.structuredContent);
        }
        went.add(step.call);
    }
    assert.deepEqual([...went].sort(), [...listed.keys()].sort());
    assert.deepEqual([...failed].sort(), [...listed.keys()].sort());
    await refuses(INVALID_PARAMS, () => client.callTool({ name: 'start_gap' }), 'there is no tool `start_gap`');
}

async function prompts(client) {
    const { prompts } = await client.listPrompts();
    assert.deepEqual(prompts.map(prompt => prompt.name), ['premortem', 'retrospective']);
    const premortem = { name: 'premortem', arguments: { domain: 'debugging', goal: 'CRLF' } };
    for (const params of [premortem, { name: 'retrospective' }]) {
        const { messages } = await client.getPrompt(params);
        assert.ok(messages[0].content.text.includes('data, not instructions'));
    }
    await refuses(INVALID_PARAMS, () => client.getPrompt({ name: 'premortem', arguments: {} }), 'domain is missing');
    await refuses(INVALID_PARAMS, () => client.getPrompt({ name: 'nothing' }), 'there is no prompt');
}

async function resources(client) {
    const { resources } = await client.listResources();
    assert.equal(resources.length, 2);
    for (const { uri } of resources) JSON.parse((await client.readResource({ uri })).contents[0].text);
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.equal(resourceTemplates[0].uriTemplate, 'rutter://experience/{id}');
    const started = await client.callTool({ name: 'start_ghap', arguments: walk.start });
    const { contents } = await client.readResource({ uri: `rutter://experience/${started.structuredContent.id}` });
    assert.equal(JSON.parse(contents[0].text).goal, walk.start.goal);
    // The newer generation has no code of its own for what is not there, and the newer SDK shows the older code as the newer one.
    const missing = v1 ? NO_RESOURCE : INVALID_PARAMS;
    for (const uri of ['rutter://experience/0123456789abcdef', 'rutter://nothing', 'file:///etc/passwd']) {
        await refuses(missing, () => client.readResource({ uri }), '', { uri });
    }
}

async function pages(client) {
    for (const list of ['listTools', 'listPrompts', 'listResources', 'listResourceTemplates']) {
        assert.equal((await client[list]()).nextCursor, undefined);
        await refuses(INVALID_PARAMS, () => client[list]({ cursor: '2' }), 'the list has only one page');
    }
}

/** What a client is told beside results, where it asks to be told. */
async function log(client, heard) {
    const told = async () => {
        heard.length = 0;
        await client.callTool({ name: 'status', arguments: {} });
        await client.callTool({ name: 'status', arguments: { all: true } });
        return heard.map(({ level, data }) => `${level} ${data.call}`);
    };
    assert.deepEqual(await told(), []);
    await client.setLoggingLevel('notice');
    assert.deepEqual(await told(), ['notice refused']);
    await client.setLoggingLevel('debug');
    assert.deepEqual(await told(), ['debug answered', 'notice refused']);
}

/** A call that is called off at any time is done, or is not: never half. */
async function cancellation(client) {
    const tags = ['one', 'two', 'three'];
    const calls = [];
    for (let number = 0; number < 40; number += 1) {
        const memory = { content: `called off ${number}`, category: 'event', importance: 0.25, tags };
        const off = new AbortController();
        const params = { name: 'remember', arguments: memory };
        const options = { signal: off.signal };
        const call = v1 ? client.callTool(params, undefined, options) : client.callTool(params, options);
        calls.push(call.catch(() => null));
        // The last ones are left to their end.
        if (number < 30) setTimeout(() => off.abort('called off'), number * 3);
    }
    const done = (await Promise.all(calls)).slice(30);
    assert.ok(done.every(result => result?.structuredContent.ok), JSON.stringify(done));
    const found = await client.callTool({ name: 'recall_memories', arguments: { category: 'event', limit: 100 } });
    const { results } = found.structuredContent;
    for (const memory of results) {
        assert.deepEqual(memory.tags, tags);
        assert.equal(memory.importance, 0.25);
    }
    const contents = new Set(results.map(memory => memory.content));
    assert.equal(contents.size, results.length);
    for (let number = 30; number < 40; number += 1) assert.ok(contents.has(`called off ${number}`), [...contents].join());
    return results.length;
}

const versionNegotiation = { mode: generation.startsWith('20') ? { pin: generation } : generation };
const client = new sdk.Client({ name: 'walker', version: '1' }, v1 ? {} : { versionNegotiation });
const heard = [];
const message = v1 ? sdk.LoggingMessageNotificationSchema : 'notifications/message';
client.setNotificationHandler(message, ({ params }) => void heard.push(params));
const way = transport();
let protocol;
if (v1) {
    // The only place where this SDK says it.
    const set = way.setProtocolVersion?.bind(way);
    way.setProtocolVersion = version => {
        protocol = version;
        set?.(version);
    };
}
await client.connect(way);
protocol ??= client.getNegotiatedProtocolVersion();
const modern = !v1 && generation !== 'legacy';
await tools(client);
await prompts(client);
await resources(client);
await pages(client);
if (!modern && !process.env.RUTTER_MCP_URL) await log(client, heard);
if (!modern) await client.ping();
const kept = await cancellation(client);
console.log(JSON.stringify({ sdk: v1 ? 'typescript 1' : 'typescript 2', protocol, steps: walk.steps.length, kept }));
await client.close();
