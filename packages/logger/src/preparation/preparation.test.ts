import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openShippingSink } from '../sinks/shipping-sink.js'
import { assertIdentity, closeWhole, sampleExchange, scratchDir, until } from '../testing.js'
import { checkedPreparation, openPreparation } from './preparation.js'

test('without rules and locations, lines are written unchanged', () => {
  const options = checkedPreparation({ privacy: { keys: [], rules: [] } })
  const preparation = openPreparation(options, assert.fail)
  const lines = Buffer.from('{"client":{"ip":"203.0.113.7"}}\n')
  assert.equal(preparation.prepared(lines).lines, lines)
  preparation.close()
})

test('records are prepared before they are on the disk of a spool, with places first', async (t) => {
  const dir = scratchDir()
  const sink = openShippingSink({
    ...{ fields: 'full', worker: 1, version: 'test', configDigest: () => 'd' },
    spool: { dir, maxBytes: 64 * 1024 ** 2, whenFull: 'drop-oldest' },
    // No process listens on this port.
    output: {
      ...{ kind: 'elasticsearch', nodes: ['http://127.0.0.1:1'], auth: null, caFile: null, insecure: false },
      ...{ compress: false, dataStream: 'logs-a-b', retentionDays: null, replicas: 0, manage: true },
    },
    geo: { file: join(import.meta.dirname, '../../samples/places.mmdb') },
    privacy: {
      keys: [],
      rules: [
        { id: 'r', find: { names: ['page'] }, in: ['query'], do: 'mask', shape: { kind: 'whole', count: 0 } },
      ],
    },
  })
  t.after(() => closeWhole(sink, 1000))
  await sink.opened
  sink.record(sampleExchange({ clientIp: '203.0.113.7' }))
  await until(() => sink.identity().onDisk === 1, 'the record is spooled')
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
  const spooled = files.filter((file) => /\.(open|seg)$/.test(file))
  const text = spooled.map((file) => readFileSync(join(dir, file), 'latin1')).join('')
  assert.match(
    text,
    /"client":\{"ip":"203\.0\.113\.7","country":"TR","geo":\{"lat":41\.0138,"lon":28\.9497\}/,
  )
  assert.match(text, /"query":"page=\*\*\*/)
  assertIdentity(sink.identity())
})
