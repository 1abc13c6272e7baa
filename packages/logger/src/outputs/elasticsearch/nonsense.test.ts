import assert from 'node:assert/strict'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Delivery } from '../output.js'
import { sampleShipment } from '../testing/sample-shipment.js'
import { ElasticsearchOutput } from './output.js'

// A server in place of Elasticsearch may send any response.

const TWO_RECORDS = sampleShipment(['{"n":1}', '{"n":2}'])
const HEADERS = { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' }

async function deliveryTo(t: TestContext, answer: RequestListener): Promise<Delivery> {
  const server = createServer((req, res) => req.on('end', () => answer(req, res)).resume())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const nodes = [`http://127.0.0.1:${(server.address() as AddressInfo).port}`]
  const output = new ElasticsearchOutput(
    {
      ...{ nodes, auth: null, caFile: null, insecure: false, compress: false },
      ...{ dataStream: 'logs-nonsense', retentionDays: null, replicas: 0, manage: false },
    },
    () => {},
  )
  t.after(async () => {
    await output.close()
    server.closeAllConnections()
    server.close()
  })
  return output.deliver(TWO_RECORDS)
}

test('a record counts as delivered only if the response says so', async (t) => {
  for (const answer of [
    '{"errors":false,"items":[{},{}]}',
    '{"errors":false,"items":[{"create":{"status":"200"}},{"create":{"status":1}}]}',
    '{"items":[{"create":{"status":429}},{"create":{"status":500}}]}',
  ]) {
    const delivery = await deliveryTo(t, (_, res) => res.writeHead(200, HEADERS).end(answer))
    assert.deepEqual(delivery, { kind: 'answered', refused: [], again: [0, 1] }, answer)
  }
  for (const answer of [
    '',
    'null',
    '1',
    '{}',
    '{"errors":false,"items":"ab"}',
    '{"items":[1,null]}',
    '{"it',
  ]) {
    const delivery = await deliveryTo(t, (_, res) => res.writeHead(200, HEADERS).end(answer))
    assert.equal(delivery.kind, 'failed', answer)
  }
})

test('a request is unfit only if Elasticsearch itself rejects it', async (t) => {
  const proxy = await deliveryTo(t, (_, res) =>
    res.writeHead(400).end('a plain HTTP request to an HTTPS port'),
  )
  assert.equal(proxy.kind, 'failed')
  const node = await deliveryTo(t, (_, res) => res.writeHead(400, HEADERS).end('{"status":400}'))
  assert.equal(node.kind, 'unfit')
  const large = await deliveryTo(t, (_, res) => res.writeHead(413).end())
  assert.equal(large.kind, 'unfit')
})

test('an endless response is aborted before it exhausts memory', async (t) => {
  let sent = 0
  const block = Buffer.alloc(1024 ** 2, 'x')
  const sendOn = (res: ServerResponse): void => {
    if (res.destroyed) return
    sent += block.length
    res.write(block, () => sendOn(res))
  }
  const delivery = await deliveryTo(t, (_, res) => sendOn(res.writeHead(200, HEADERS)))
  assert.equal(delivery.kind, 'failed')
  assert.ok(sent < 64 * 1024 ** 2, `${sent} bytes`)
})
