import assert from 'node:assert/strict'
import { request } from 'node:http'
import type { LookupFunction } from 'node:net'
import { test } from 'node:test'
import { closedPort } from '../../testing/origin.js'
import { systemNetwork } from '../../upstream/transport/network.js'
import { callee, callResults, gatewayCalling, json } from '../testing/calling-gateway.js'

/** Sends a request with a path that `fetch` would normalize. */
function statusOf(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { path, headers }, (response) => {
      response.resume()
      resolve(response.statusCode!)
    })
      .on('error', reject)
      .end()
  })
}

test('values of the request stay values, wherever they stand in a call', async (t) => {
  const other = await callee(t, json({}))
  const call = {
    ...{ name: 'c', url: `${other.url}/users/{{inputs.id}}?q={{inputs.id}}`, method: 'POST' },
    ...{ headers: { 'x-id': '{{inputs.id}}' }, body: { id: '{{inputs.id}}' } },
  }
  const gateway = await gatewayCalling(t, {
    uses: [{ inputs: { id: 'req.query["id"]' }, calls: [call] }],
  })
  const sent = async (id: string) => {
    other.calls.length = 0
    const status = await statusOf(gateway.url, `/?id=${id}`)
    return [status, ...other.calls.map(({ url }) => url)]
  }
  for (const id of ['', '.', '..', '%2e%2e', '%2E.']) assert.deepEqual(await sent(id), [502], id)
  const values = [
    '../a',
    'a/b',
    '?x=1',
    '#x',
    '%252e%252e',
    '@evil',
    '%0d%0aX:%201',
    '%00',
    '//evil/',
    '{{vars.x}}',
  ]
  for (const value of values) {
    const id = encodeURIComponent(decodeURIComponent(value))
    assert.deepEqual(await sent(id), [200, `/users/${id}?q=${id}`], value)
    assert.deepEqual(JSON.parse(other.calls[0]!.body), { id: decodeURIComponent(value) })
    assert.equal(other.calls[0]!.headers['x'], undefined)
  }
  const long = { name: 'c', url: `${other.url}/?${'{{req.header.x-a}}'.repeat(9)}` }
  const repeating = await gatewayCalling(t, { uses: [{ calls: [long] }] })
  assert.equal(await statusOf(repeating.url, '/', { 'x-a': 'a'.repeat(900) }), 200)
  assert.equal(await statusOf(repeating.url, '/', { 'x-a': 'a'.repeat(1000) }), 502)
  assert.deepEqual(callResults(gateway), { ok: values.length, input: 5 })
})

test('a host from the request can reach only the listed servers, in any spelling', async (t) => {
  const good = await callee(t, json({}))
  const secret = await callee(t, json({}))
  const call = { name: 'c', url: `http://{{inputs.host}}:${good.port}/`, origins: [good.url] }
  const gateway = await gatewayCalling(t, {
    uses: [{ inputs: { host: 'req.query["host"]' }, calls: [call] }],
  })
  const status = (host: string) => statusOf(gateway.url, `/?host=${encodeURIComponent(host)}`)
  assert.equal(await status('127.0.0.1'), 200)
  // Different spellings of the same address are the same server.
  for (const host of ['2130706433', '0x7f.1', '0177.0.0.1']) assert.equal(await status(host), 200, host)
  const before = good.calls.length
  const others = [
    '127.0.0.2',
    'localhost',
    '2130706434',
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    'evil.test',
  ]
  const broken = [
    '127.0.0.1@evil.test',
    `127.0.0.1:${secret.port}/`,
    '[::ffff:7f00:1]',
    '127.0.0.1#',
    '',
    'a b',
    '127。0。0。1',
  ]
  for (const host of [...others, ...broken]) assert.equal(await status(host), 502, host)
  assert.deepEqual([good.calls.length, secret.calls.length], [before, 0])
})

test('a name may resolve to non-public addresses only if they are listed, checked per connection', async (t) => {
  const other = await callee(t, (res) => res.writeHead(200, { connection: 'close' }).end('{}'))
  let address = '127.0.0.1'
  const lookup: LookupFunction = (_, __, done) =>
    done(null, [{ address, family: address.includes(':') ? 6 : 4 }])
  const network = { ...systemNetwork(), lookup }
  const call = { name: 'c', url: `http://crm.test:${other.port}/` }
  const strict = await gatewayCalling(t, { uses: [{ calls: [call] }] }, { network })
  for (address of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1', '0.0.0.0'])
    assert.equal((await fetch(strict.url)).status, 502, address)
  assert.equal(other.calls.length, 0)
  const open = await gatewayCalling(
    t,
    { uses: [{ calls: [{ ...call, allowAddresses: ['private'] }] }] },
    { network },
  )
  address = '127.0.0.1'
  assert.equal((await fetch(open.url)).status, 200)
  address = '169.254.169.254'
  assert.equal((await fetch(open.url)).status, 502)
  assert.equal(other.calls.length, 1)
})

test('request loops through the gateway end', async (t) => {
  const port = await closedPort()
  const call = { name: 'self', url: `http://127.0.0.1:${port}/`, coalesce: false }
  const gateway = await gatewayCalling(t, { uses: [{ calls: [call] }] }, { port })
  assert.equal((await fetch(gateway.url)).status, 502)
  // The sixth request is refused before it calls.
  assert.deepEqual(callResults(gateway), { unexpected: 5 })
  const loops = gateway.plane.samples().find(({ labels }) => labels.includes('code="GW_CALL_LOOP"'))
  assert.equal(loops?.value, 1)
})

test('deep, wide or hostile JSON in an answer does no harm', async (t) => {
  const other = await callee(t, () => {})
  const up = await callee(t, (res) => res.end())
  const save = [
    { from: '$.a', to: 'header.x-a' },
    { from: '$["__proto__"]', to: 'header.x-proto' },
    { from: 'body', to: 'json.all', default: 'none' },
  ]
  const gateway = await gatewayCalling(t, {
    uses: [{ calls: [{ name: 'c', url: other.url, save }] }],
    target: up.url,
  })
  const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"x":1}' }
  for (const text of [
    '['.repeat(100_000),
    '{"a":1e999}',
    '{"a":"\\ud800"}',
    '\u0000',
    '{"__proto__":{"a":1}}',
    '{"a":"\\r\\n"}',
  ]) {
    other.answer = (res) => res.end(text)
    assert.equal((await fetch(gateway.url, options)).status, 200, text.slice(0, 20))
    const { headers, body } = up.calls.pop()!
    assert.equal(JSON.parse(body).x, 1)
    assert.equal(headers['x-a']?.includes('\n') ?? false, false)
  }
  // As a number it would equal the previous one, which may belong to another user.
  for (const a of ['9007199254740993', '[1,9007199254740993]', '{"id":-9007199254740993}']) {
    other.answer = (res) => res.end(`{"a":${a}}`)
    assert.equal((await fetch(gateway.url, { ...options, headers: { 'x-a': 'forged' } })).status, 200)
    const { headers, body } = up.calls.pop()!
    assert.deepEqual([headers['x-a'], body.includes(a)], [undefined, true])
  }
  assert.equal(({} as { a?: unknown }).a, undefined)
})

test('configuration errors are reported for the document and reveal no secret', async (t) => {
  const url = 'http://127.0.0.1:1/'
  const mistakes: readonly (readonly [object, RegExp])[] = [
    [{ url: 'ftp://a/' }, /not a valid URL/],
    [{ url: 'http://a/b c' }, /not a valid URL/],
    [{ url: 'http://user@a/' }, /not a valid host/],
    [{ url: 'http://169.254.169.254/latest' }, /calls to 169\.254\.169\.254 are not allowed/],
    [{ url: 'http://[fd00:ec2::254]/latest' }, /are not allowed/],
    [{ url: 'http://0xa9fea9fe/' }, /are not allowed/],
    [{ url: 'http://{{vars.h}}/' }, /origins/],
    [{ url: 'http://{{vars.h}}/', origins: ['http://a/b'] }, /not a valid host/],
    [{ url, origins: ['http://a'] }, /remove it/],
    [{ url: `${url}{{vers.a}}` }, /unknown variable/],
    [{ url, headers: { host: 'a' } }, /host/],
    [{ url, method: 'HEAD', body: 'a' }, /HEAD/],
    [{ url, body: 'a', forwardBody: true }, /remove one/],
    [{ url, timeout: '1m' }, /20s/],
    [{ url, cache: { ttl: '2d' } }, /longer than 86400 s/],
    [{ url, cache: {}, coalesce: false }, /coalesce/],
    [{ url, oneWay: true, save: [{ from: 'body', to: 'vars.a' }] }, /oneWay/],
    [{ url, onError: 'respond' }, /write both/],
    [{ url, save: [{ from: 'bodi', to: 'vars.a' }] }, /does not name a part of a response/],
    [{ url, save: [{ from: 'body', to: 'header.content-length' }] }, /content-length/],
    [{ url, expect: { when: 'res.status == 1' } }, /reads the response/],
    [{ url, allowAddresses: ['intern'] }, /not an address/],
    [{ url, headers: { authorization: 'top-secret\n' } }, /line break/],
  ]
  for (const [call, message] of mistakes) {
    const error = await gatewayCalling(t, { uses: [{ calls: [{ name: 'c', ...call }] }] }).then(
      () => 'it compiles',
      (problem: Error) => problem.message,
    )
    assert.match(error, message, JSON.stringify(call))
    assert.ok(!error.includes('top-secret'), error)
  }
  const twice = {
    calls: [
      { name: 'c', url },
      { name: 'c', url },
    ],
  }
  await assert.rejects(gatewayCalling(t, { uses: [twice] }), /two calls are named/)
})
