import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { startLogSink } from './log-sink.js'

test('a sink counts the records of bulks and webhooks, compressed or not', async (t) => {
  const sink = await startLogSink(0, '127.0.0.1:0')
  t.after(() => sink.stop())
  const record = '{"create":{}}\n{"a":1}\n'
  const answer = await fetch(`${sink.url}/logs/_bulk`, { method: 'POST', body: record + record })
  assert.equal(((await answer.json()) as { items: unknown[] }).items.length, 2)
  const headers = { 'content-encoding': 'gzip' }
  await fetch(`${sink.url}/_bulk`, { method: 'POST', body: gzipSync(record), headers })
  await fetch(`${sink.url}/hook`, { method: 'POST', body: '{"a":1}\r\n\n{"a":2}' })
  assert.deepEqual([sink.totals.requests, sink.totals.records], [3, 5])
  assert.deepEqual(await (await fetch(`${sink.url}/_sink`)).json(), sink.totals)
  await assert.rejects(
    startLogSink(0, sink.url.replace('http://', '')),
    /cannot listen on .* \(address in use\)/,
  )
})
