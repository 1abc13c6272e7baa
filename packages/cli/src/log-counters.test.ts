import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { CounterWatch } from './testing/counter-watch.js'
import { RecordReceiver } from './testing/record-receiver.js'
import { type RunningGateway, scratch, startGateway, statusOf, until } from './testing.js'

/** A receiver of records that refuses them until its mode is 'works'. */
async function receiver(t: TestContext): Promise<RecordReceiver> {
  const target = await RecordReceiver.start(t)
  target.mode = 503
  return target
}

const documentWith = (log: string): string => `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 2
routes: [{ id: all, match: { path: /* }, respond: { status: 200 } }]
log: ${log}
`

async function call(gateway: RunningGateway, times: number): Promise<void> {
  for (let i = 0; i < times; i++)
    await (await fetch(gateway.url, { headers: { connection: 'close' } })).arrayBuffer()
}

async function deploy(gateway: RunningGateway, text: string): Promise<void> {
  const headers = { 'content-type': 'application/yaml' }
  const answer = await fetch(`${gateway.admin}/v1/config`, { method: 'PUT', headers, body: text })
  assert.equal(answer.status, 200, await answer.text())
}

async function killWorkers(gateway: RunningGateway): Promise<void> {
  const { workers } = await statusOf(gateway.admin)
  const pids = new Set(workers.map(({ pid }) => pid))
  for (const pid of pids) process.kill(pid!, 'SIGKILL')
  await until(async () =>
    (await statusOf(gateway.admin)).workers.every(({ state, pid }) => state === 'ready' && !pids.has(pid)),
  )
}

test('no counter decreases during log outages, settings changes and worker crashes', async (t) => {
  const target = await receiver(t)
  const spool = join(scratch(t), 'spool')
  const logWith = (slow: string): string =>
    documentWith(
      `{ sink: webhook, slowAfter: ${slow}, webhook: { url: "${target.url}", spool: { dir: ${spool} } } }`,
    )
  const gateway = await startGateway(t, logWith('1s'))
  const watch = new CounterWatch(gateway)
  await call(gateway, 20)
  await watch.until(({ onDisk }) => onDisk === 20)
  await deploy(gateway, logWith('2s'))
  await call(gateway, 5)
  await watch.until(({ received, onDisk }) => received === 25 && onDisk === 25)
  await killWorkers(gateway)
  await watch.look()
  await killWorkers(gateway)
  await call(gateway, 5)
  await watch.until(({ received, onDisk }) => received === 30 && onDisk === 30)
  target.mode = 'works'
  await watch.until(({ received, indexed }) => received === 30 && indexed === 30)
  assert.equal(target.lines.length, 30)
  assert.deepEqual([...watch.fallen], [])
})

test('records waiting for a removed log target are still counted', async (t) => {
  const target = await receiver(t)
  const dir = scratch(t)
  const shipped = documentWith(
    `{ sink: webhook, webhook: { url: "${target.url}", spool: { dir: ${join(dir, 's')} } } }`,
  )
  const gateway = await startGateway(t, shipped)
  const watch = new CounterWatch(gateway)
  await call(gateway, 8)
  await watch.until(({ onDisk }) => onDisk === 8)
  await deploy(gateway, documentWith(`{ sink: file, file: { dir: ${join(dir, 'files')} } }`))
  await call(gateway, 4)
  await watch.until(({ received, indexed, onDisk }) => received === 12 && indexed === 4 && onDisk === 8)
  await deploy(gateway, shipped)
  target.mode = 'works'
  await watch.until(({ received, indexed }) => received === 12 && indexed === 12)
  assert.deepEqual([...watch.fallen], [])
})
