import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { LogSink } from '@sluice/core'
import { closedPort } from '@sluice/core/testing'
import type { LogOutputOptions } from '../shipper/open-output.js'
import { openFileSink } from '../sinks/file-sink.js'
import { openShippingSink } from '../sinks/shipping-sink.js'
import type { SinkOptions } from '../sinks/sink-options.js'
import { assertIdentity, sampleExchange, scratchDir, segmentLines, until } from '../testing.js'
import { options, rule } from './testing.js'

const MIB = 1024 ** 2
const MAIL = 'zoe.unlikely@example.com'
const COMMON: SinkOptions = {
  fields: 'full',
  worker: 0,
  version: '0.1.0',
  configDigest: () => 'abc',
  onProblem: (message) => assert.fail(message),
  privacy: options(rule({ type: 'email' }, { do: 'encrypt' }), rule({ names: ['page'] }, { do: 'delete' })),
}

function recordMany(sink: LogSink, count: number): void {
  for (let i = 0; i < count; i++) {
    const x = sampleExchange({ id: `r-${i}`, query: `page=2&to=${encodeURIComponent(MAIL)}` })
    x.setVar('mail', MAIL)
    sink.record(x)
  }
}

test('files hold only what the rules leave, and every record is counted', async () => {
  const dir = scratchDir()
  const sink = openFileSink({ ...COMMON, dir, maxBytes: 64 * MIB, segmentBytes: MIB })
  recordMany(sink, 1000)
  await sink.close(20_000)
  assertIdentity(sink.identity())
  assert.equal(sink.identity().indexed, 1000)
  const lines = segmentLines(dir)
  assert.equal(lines.length, 1000)
  for (const line of lines) {
    const { url, vars, privacy } = JSON.parse(line)
    assert.match(url.query, /^to=~enc~k1~[\w-]+~$/)
    assert.match(vars.mail, /^~enc~k1~[\w-]+~$/)
    assert.deepEqual(privacy, { rules: ['page', 'email'], detected: ['email'] })
    assert.ok(!line.includes('unlikely'))
  }
})

test('records are redacted before they are spooled, and their account stays right', async () => {
  const dir = scratchDir()
  const output: LogOutputOptions = {
    kind: 'elasticsearch',
    nodes: [`http://127.0.0.1:${await closedPort()}`],
    dataStream: 'logs-a-b',
    auth: null,
    caFile: null,
    insecure: false,
    compress: false,
    retentionDays: null,
    replicas: 0,
    manage: false,
  }
  const spool = { dir, maxBytes: 64 * MIB, whenFull: 'drop-oldest' } as const
  const sink = openShippingSink({ ...COMMON, onProblem: () => {}, spool, output })
  recordMany(sink, 500)
  await until(() => sink.identity().onDisk === 500, 'all records are spooled')
  assertIdentity(sink.identity())
  await sink.close(2000)
  assertIdentity(sink.identity())
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const text = files.map((file) => readFileSync(join(file.parentPath, file.name), 'latin1')).join('')
  assert.equal(text.split('~enc~k1~').length - 1, 1000)
  assert.ok(!text.includes('unlikely'))
})

test('invalid rules are an error when the log is opened', () => {
  const withoutKey = { keys: [], rules: [rule({ names: ['a'] }, { do: 'hash' })] }
  const open = () =>
    openFileSink({ ...COMMON, privacy: withoutKey, dir: scratchDir(), maxBytes: MIB, segmentBytes: MIB })
  assert.throws(open, /the privacy rule 'a' needs a key/)
})
