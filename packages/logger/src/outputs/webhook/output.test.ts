import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeCertificates } from '../../testing/make-certificates.js'
import { assertIdentity, scratchDir, until } from '../../testing.js'
import { deadLetters } from '../testing/dead-letters.js'
import { sampleShipment } from '../testing/sample-shipment.js'
import { type Shipping, shipTo } from '../testing/shipping.js'
import {
  acceptAll,
  answering,
  type Responder,
  type WebhookReceiver,
  webhookReceiver,
} from '../testing/webhook-receiver.js'
import type { WebhookOptions } from './options.js'
import { WebhookOutput } from './output.js'

const OPTIONS: Omit<WebhookOptions, 'url'> = {
  headers: {},
  auth: null,
  format: 'ndjson',
  compress: false,
  timeoutMs: 20_000,
  signature: null,
  tls: { caFile: null, insecure: false },
}

function shipToWebhook(t: TestContext, url: string, changes: Partial<WebhookOptions> = {}): Shipping {
  return shipTo(t, { kind: 'webhook', ...OPTIONS, url, ...changes })
}

/** Waits until all records are delivered, and checks the accepted records and the counts. */
async function assertTaken(
  { sink, problems }: Shipping,
  receivers: WebhookReceiver[],
  ids: readonly string[],
) {
  await until(() => sink.identity().indexed === ids.length, `all are taken; ${problems.join('; ')}`, 300_000)
  assert.deepEqual(receivers.flatMap(({ accepted }) => accepted).sort(), [...ids].sort())
  assertIdentity(sink.identity())
  const { received, onDisk, inMemory } = sink.identity()
  assert.deepEqual([received, onDisk, inMemory], [ids.length, 0, 0])
}

test('records are posted one per line, with an idempotency key', async (t) => {
  const receiver = await webhookReceiver(t)
  const shipping = shipToWebhook(t, receiver.url)
  await assertTaken(shipping, [receiver], shipping.log(3000))
  const { headers } = receiver.posts[0]!
  assert.equal(headers['content-type'], 'application/x-ndjson')
  assert.match(String(headers['idempotency-key']), /^[0-9a-f]{32}$/)
})

test('requests have the configured headers, signature and compression', async (t) => {
  const receiver = await webhookReceiver(t)
  const output = new WebhookOutput({
    ...OPTIONS,
    url: receiver.url,
    headers: { 'X-Tenant': 'acme', 'Content-Type': 'text/plain' },
    auth: { username: 'gw', password: 'pa:ss' },
    format: 'array',
    compress: true,
    signature: { secret: 'k3y', header: 'X-Sum' },
  })
  t.after(() => output.close())
  const delivery = await output.deliver(sampleShipment(['{"id":"a"}', '{"id":"b"}']))
  assert.deepEqual(delivery, { kind: 'answered', refused: [], again: [] })
  const { headers, body, ids } = receiver.posts[0]!
  assert.deepEqual(ids, ['a', 'b'])
  assert.equal(headers['x-tenant'], 'acme')
  assert.equal(headers['content-type'], 'application/json')
  assert.equal(headers['authorization'], `Basic ${Buffer.from('gw:pa:ss').toString('base64')}`)
  assert.equal(headers['x-sum'], `sha256=${createHmac('sha256', 'k3y').update(body).digest('hex')}`)
  const bearer = new WebhookOutput({ ...OPTIONS, url: receiver.url, auth: { token: 't0k' } })
  t.after(() => bearer.close())
  await bearer.deliver(sampleShipment(['{"id":"c"}']))
  assert.equal(receiver.posts[1]?.headers['authorization'], 'Bearer t0k')
})

test('the certificate of an https receiver is verified, and a missing CA file is an outage', async (t) => {
  const dir = scratchDir()
  const caFile = makeCertificates(dir)
  const bodies: string[] = []
  const server = createServer(
    { key: readFileSync(join(dir, 'node.key')), cert: readFileSync(join(dir, 'node.pem')) },
    (request, response) => {
      request.setEncoding('utf8').on('data', (chunk: string) => bodies.push(chunk))
      request.on('end', () => response.writeHead(204).end())
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const kinds: string[] = []
  for (const tls of [
    { caFile, insecure: false },
    { caFile: null, insecure: true },
    { caFile: null, insecure: false },
    { caFile: '/nowhere/ca.pem', insecure: false },
  ]) {
    const output = new WebhookOutput({ ...OPTIONS, url, tls })
    t.after(() => output.close())
    kinds.push((await output.deliver(sampleShipment(['{"id":"a"}']))).kind)
  }
  assert.deepEqual(kinds, ['answered', 'answered', 'failed', 'failed'])
  assert.deepEqual(bodies, ['{"id":"a"}\n', '{"id":"a"}\n'])
})

const reset: Responder = (_, __, request) => request.socket.resetAndDestroy()
const half: Responder = (_, response, request) => {
  response.writeHead(500, { 'content-length': '100' })
  response.write('half', () => request.socket.resetAndDestroy())
}
const silent: Responder = () => {}

for (const [failure, responders] of [
  ['500', [answering(500)]],
  ['503 and 408', [answering(503), answering(408)]],
  ['401', [answering(401)]],
  ['a redirect', [answering(302, { location: '/elsewhere' })]],
  ['a reset instead of an answer', [reset]],
  ['a reset within an answer', [half]],
] as const) {
  test(`after ${failure} the same request comes again`, async (t) => {
    const receiver = await webhookReceiver(t, responders)
    const shipping = shipToWebhook(t, receiver.url)
    await assertTaken(shipping, [receiver], shipping.log(40))
    const keys = receiver.posts.map(({ headers }) => headers['idempotency-key'])
    assert.ok(keys.length > responders.length)
    // An overloaded receiver, or one that cuts connections, may get smaller requests.
    if (responders[0] !== reset && failure !== '503 and 408') assert.equal(keys[0], keys[responders.length])
    assert.match(shipping.problems[0]!, /delivery is paused: the webhook/)
  })
}

test('a request that times out is retried', async (t) => {
  const receiver = await webhookReceiver(t, [silent])
  const shipping = shipToWebhook(t, receiver.url, { timeoutMs: 300 })
  await assertTaken(shipping, [receiver], shipping.log(10))
  assert.match(shipping.problems[0]!, /no response within 300 ms/)
})

test('429 is retried after Retry-After', async (t) => {
  const receiver = await webhookReceiver(t, [answering(429, { 'retry-after': '2' })])
  const shipping = shipToWebhook(t, receiver.url)
  await assertTaken(shipping, [receiver], shipping.log(10))
  const [first, second] = receiver.posts
  assert.ok(second!.atMono - first!.atMono >= 1900, `${second!.atMono - first!.atMono} ms`)
})

test('413 splits the records until they fit, and only a record that never fits is a dead letter', async (t) => {
  const responders: Responder[] = Array.from({ length: 200 }, () => (posted, response, request) => {
    const tooLarge = posted.ids.length > 10 || posted.ids.includes(poison)
    ;(tooLarge ? answering(413) : acceptAll)(posted, response, request)
  })
  const receiver = await webhookReceiver(t, responders)
  const shipping = shipToWebhook(t, receiver.url)
  const ids = shipping.log(60)
  const poison = ids[30]!
  const { sink, dir } = shipping
  await until(() => sink.identity().indexed + sink.identity().dead === 60, 'all are settled', 300_000)
  assert.deepEqual([sink.identity().indexed, sink.identity().dead], [59, 1])
  assert.deepEqual(receiver.accepted.sort(), ids.filter((id) => id !== poison).sort())
  assert.deepEqual(
    deadLetters(dir).map(({ record, status }) => [record.id, status]),
    [[poison, 413]],
  )
})

test('400 turns the records into dead letters, and later ones are delivered', async (t) => {
  const receiver = await webhookReceiver(t, [answering(400)])
  const { sink, dir, log } = shipToWebhook(t, receiver.url)
  const refused = log(20)
  await until(() => sink.identity().dead === 20, 'they are dead')
  const taken = log(5)
  await until(() => sink.identity().indexed === 5, 'the others are taken')
  assert.deepEqual(receiver.accepted.sort(), taken.sort())
  const letters = deadLetters(dir)
  assert.deepEqual(letters.map(({ record }) => record.id).sort(), refused.sort())
  assert.match(letters[0]!.reason, /the webhook responded with 400: no: 400/)
  assertIdentity(sink.identity())
})

test('404 is retried until the receiver is available', async (t) => {
  const receiver = await webhookReceiver(t, [answering(404), answering(404)])
  const shipping = shipToWebhook(t, receiver.url)
  await assertTaken(shipping, [receiver], shipping.log(20))
  assert.match(
    shipping.problems[0]!,
    /temporarily refuses 20 of 20 records \(404 request_refused: .*responded with 404/,
  )
})

test('a response that echoes the request shows operators neither credentials nor records', async (t) => {
  const echo: Responder = ({ headers, body }, response) => {
    const { authorization, 'x-key': key } = headers
    response.writeHead(503).end(`no room; you sent ${authorization} ${key} ${JSON.stringify(String(body))}`)
  }
  const headers = { 'x-key': 'key-of-ours' }
  for (const auth of [{ token: 'token-of-ours' }, { username: 'ann', password: 'word-of-ours' }]) {
    const { url } = await webhookReceiver(t, [echo])
    const shipping = shipToWebhook(t, url, { auth, headers })
    shipping.log(3)
    await until(() => shipping.problems.length > 0, 'it is reported')
    assert.match(
      shipping.problems[0]!,
      /responded with 503: no room; you sent (Bearer|Basic) \*\*\* \*\*\* "…$/,
    )
  }
})

test('records logged during an outage are delivered afterwards', async (t) => {
  const first = await webhookReceiver(t)
  const shipping = shipToWebhook(t, first.url)
  const ids = shipping.log(50)
  await assertTaken(shipping, [first], ids)
  await first.stop()
  ids.push(...shipping.log(700))
  await until(
    () => shipping.problems.some((problem) => problem.includes('delivery is paused')),
    'the outage is reported',
  )
  const { onDisk, inMemory } = shipping.sink.identity()
  assert.equal(onDisk + inMemory, 700)
  const second = await webhookReceiver(t, [], first.port)
  ids.push(...shipping.log(50))
  await assertTaken(shipping, [first, second], ids)
})
