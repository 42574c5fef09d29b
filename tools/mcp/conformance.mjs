// Runs the official conformance suite against the server at RUTTER_MCP_URL with RUTTER_MCP_TOKEN.
//
//     node conformance.mjs 2025-11-25|2026-07-28
//
// The suite, below RUTTER_MCP_MODULES, brings no token. So it speaks to a way in, which adds the token and passes everything else on
// as it is: hosts and origins that are not the way's own reach the server as they were sent. conformance-VERSION.yaml lists what is
// expected to fail; what fails beside it, or is listed and passes, is a failure here. Needs Node 22.

import { spawn } from 'node:child_process';
import http from 'node:http';

const { RUTTER_MCP_URL, RUTTER_MCP_TOKEN, RUTTER_MCP_MODULES } = process.env;
const server = new URL(RUTTER_MCP_URL);

const way = http.createServer((request, response) => {
    const own = `127.0.0.1:${way.address().port}`;
    const named = value => value?.replace(own, server.host).replace(`localhost:${way.address().port}`, server.host);
    const headers = { ...request.headers, host: named(request.headers.host), authorization: `Bearer ${RUTTER_MCP_TOKEN}` };
    if (headers.origin) headers.origin = named(headers.origin);
    const { method, url: path } = request;
    const onward = http.request({ host: server.hostname, port: server.port, method, path, headers }, answer => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
});
await new Promise(ready => way.listen(0, '127.0.0.1', ready));

const version = process.argv[2];
// What the newer generation asks for is frozen in a suite that is not released yet.
const [suite, which] = version === '2026-07-28' ? ['conformance-next', ['--requirements', version]] : ['conformance', []];
const program = `${RUTTER_MCP_MODULES}/@modelcontextprotocol/${suite}/dist/index.js`;
const url = `http://127.0.0.1:${way.address().port}${server.pathname}`;
const expected = new URL(`conformance-${version}.yaml`, import.meta.url).pathname;
const args = [program, 'server', '--url', url, ...which, '--expected-failures', expected];
const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
child.on('close', code => process.exit(code ?? 1));
