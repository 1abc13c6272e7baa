import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadOrThrow } from '@sluice/config/testing'
import { catalog } from '@sluice/policies'
import { explainRequest } from '../explain/explain-request.js'
import { startGateway } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'

// A route with a condition on the body guards what an open route would admit. A body that the gateway cannot read
// must not fall through to the open route, because the upstream may be able to read it.

const JSON_TYPE = 'application/json'
const XML_TYPE = 'text/xml'
const ADMIN = '{"role":"admin"}'
const UTF16 = Buffer.from(ADMIN, 'utf16le')
const DOCTYPE = '<!DOCTYPE r><r><role>admin</role></r>'

/** Media type (null for none), body, additional headers and status. */
const CASES: readonly (readonly [string, string | Buffer, Record<string, string>, number])[] = [
  [JSON_TYPE, ADMIN, {}, 203],
  [JSON_TYPE, '{"role":"user"}', {}, 200],
  [JSON_TYPE, '', {}, 200],
  [JSON_TYPE, `${ADMIN} x`, {}, 400],
  [JSON_TYPE, `/**/${ADMIN}`, {}, 400],
  [JSON_TYPE, `\ufeff${ADMIN}`, {}, 400],
  [JSON_TYPE, UTF16, {}, 400],
  [JSON_TYPE, '{"role":"admin","n":1e999}', {}, 400],
  [JSON_TYPE, `{"role":"admin","d":${'['.repeat(600)}${']'.repeat(600)}}`, {}, 400],
  [JSON_TYPE, `{"role":"admin","f":"${'x'.repeat(60_000)}"}]`, {}, 400],
  ['application/merge-patch+json', "{'role':'admin'}", {}, 400],
  ['text/plain', '{role:"admin"}', {}, 400],
  ['text/plain', UTF16, {}, 400],
  ['text/plain', ` /*c*/ ${ADMIN}`, {}, 400],
  ['application/x-www-form-urlencoded', `${ADMIN},`, {}, 400],
  ['', '{role:"admin"}', {}, 400],
  ['', '"admin', {}, 400],
  [JSON_TYPE, ADMIN, { 'content-encoding': 'gzip' }, 415],
  ['', '\x1f\x8b', { 'content-encoding': 'gzip' }, 415],
  [`${JSON_TYPE}; charset=utf-7`, '{"role":"+AGEAZABtAGkAbg-"}', {}, 415],
  [XML_TYPE, '<r><role>admin</role></r>', {}, 203],
  [XML_TYPE, '<r><role>user</role></r>', {}, 200],
  [XML_TYPE, DOCTYPE, {}, 400],
  [XML_TYPE, '<r><a/><role', {}, 400],
  ['text/plain', DOCTYPE, {}, 400],
  ['', `\n${DOCTYPE}`, {}, 400],
  [`${XML_TYPE}; charset=utf-7`, '<r><role>admin</role></r>', {}, 415],
  // Bodies of other kinds belong to other routes.
  ['multipart/form-data; boundary=x', '--x\r\n\r\n{"role":"admin"}\r\n--x--', {}, 200],
  ['application/x-www-form-urlencoded', 'role=user', {}, 200],
  ['text/plain', 'hello', {}, 200],
  ['application/octet-stream', '\x00\x01', { 'content-encoding': 'gzip' }, 200],
]

for (const engine of ['uws', 'node'] as const) {
  test(`engine ${engine}: an unreadable body of the declared kind reaches no route`, async (t) => {
    const origin = await httpOrigin(t, (req, res) => void req.resume().on('end', () => res.end()))
    const bundle = loadOrThrow(
      `version: 1
upstreams: { up: { targets: ['${origin.url}'] } }
routes:
  - id: json
    match: { path: /*, when: 'req.body.json("$.role") == "admin"' }
    respond: { status: 203 }
  - id: xml
    match: { path: /*, when: 'req.body.xml("//role") == "admin"' }
    respond: { status: 203 }
  - { id: open, match: { path: '/*' }, upstream: up }
`,
      catalog,
    )
    const upstreams = [{ urls: [origin.url], name: 'up' }]
    const { url } = await startGateway(
      t,
      { upstreams, routes: bundle.plan.routes, listener: { engine } },
      { catalog },
    )
    for (const [type, body, more, status] of CASES) {
      const headers = type === '' ? more : { 'content-type': type, ...more }
      const bytes = Buffer.from(body as string)
      const response = await fetch(url, { method: 'POST', body: bytes, headers })
      await response.arrayBuffer()
      assert.equal(response.status, status, `${type} ${String(body).slice(0, 40)}`)
      const fields = Object.entries(headers)
      const request = { method: 'POST', url: '/', headers: fields, clientIp: '192.0.2.1', body: bytes }
      const explained = await explainRequest(bundle, catalog, request)
      const outcome = explained.route?.id ?? explained.refusal?.status
      const expected =
        status === 200 ? 'open' : status === 203 ? (type === XML_TYPE ? 'xml' : 'json') : status
      assert.equal(outcome, expected, `explained: ${type} ${String(body).slice(0, 40)}`)
    }
  })
}
