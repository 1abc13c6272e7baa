import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogIdentity } from '@sluice/core'
import { killPod, startPod, stopPod } from './testing/pods.js'
import { RecordReceiver } from './testing/record-receiver.js'
import { closedPort, scratch, until } from './testing.js'

// What becomes of records that wait for their target when the pod of their gateway goes, where pods share the volume of
// their spools, and where each is flushed within its grace period.

const CALLS = 30

function documentFor(port: number, spool: string): string {
  return `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 1
routes: [{ id: all, match: { path: /* }, respond: { status: 200 } }]
log:
  sink: webhook
  webhook: { url: "http://127.0.0.1:${port}/", spool: { dir: "${spool}", maxBytes: 64mb } }
`
}

async function call(url: string, from: number): Promise<void> {
  for (let id = from; id < from + CALLS; id++) await (await fetch(`${url}/r/${id}`)).arrayBuffer()
}

const identityOf = async (admin: string): Promise<LogIdentity> =>
  (await (await fetch(`${admin}/v1/log`)).json()) as LogIdentity

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i)
/** The numbers of the requests whose records have come. */
const numbersAt = ({ lines }: RecordReceiver): number[] =>
  lines.map((line) => Number(/"path":"\/r\/(\d+)"/.exec(line)?.[1])).sort((a, b) => a - b)

test('pods deliver the records of deleted pods on a shared volume', async (t) => {
  const [spool, port] = [scratch(t), await closedPort()]
  const document = documentFor(port, spool)
  const [killed, ended, left] = await Promise.all([1, 2, 3].map(() => startPod(t, document)))
  await call(killed!.url, 0)
  await call(ended!.url, CALLS)
  await until(async () => (await identityOf(killed!.admin)).onDisk >= CALLS)
  assert.equal(await stopPod(ended!), 0)
  await killPod(killed!)
  await call(left!.url, 2 * CALLS)
  const receiver = await RecordReceiver.start(t, port)
  await until(() => receiver.lines.length >= 3 * CALLS)
  assert.deepEqual(numbersAt(receiver), upTo(3 * CALLS))
  // What a pod has just recorded is delivered before it ends.
  await call(left!.url, 3 * CALLS)
  assert.equal(await stopPod(left!), 0)
  assert.deepEqual(numbersAt(receiver), upTo(4 * CALLS))
})
