import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { LogIdentity } from '@sluice/core'
import { assertIdentity } from '@sluice/core/testing'
import { type RunningGateway, scratch, startGateway, statusOf, until } from './testing.js'

/** A receiver of records that refuses them until it is asked to take them, and counts what it has taken. */
async function receiver(t: TestContext) {
  const state = { isUp: false, records: 0, url: '' }
  const server = http.createServer((req, res) => {
    let text = ''
    req.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    req.on('end', () => {
      if (state.isUp) state.records += text.trimEnd().split('\n').length
      res.writeHead(state.isUp ? 200 : 503).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return state
}

const documentWith = (log: string): string => `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 2
routes: [{ id: all, match: { path: /* }, respond: { status: 200 } }]
log: ${log}
`

/** Reads the counters of the log again and again, and keeps every one that went backwards. */
class CounterWatch {
  readonly fallen: string[] = []
  readonly #gateway: RunningGateway
  readonly #last = new Map<string, number>()

  constructor(gateway: RunningGateway) {
    this.#gateway = gateway
  }

  async look(): Promise<void> {
    const text = await (await fetch(`${this.#gateway.admin}/metrics`)).text()
    for (const [, series = '', value] of text.matchAll(/^(gw_\w+_total\S*) (\S+)$/gm)) {
      const before = this.#last.get(series) ?? 0
      if (Number(value) < before) this.fallen.push(`${series}: ${before}, then ${value}`)
      this.#last.set(series, Number(value))
    }
    for (const series of this.#last.keys())
      if (!text.includes(`\n${series} `)) this.fallen.push(`${series} is gone`)
  }

  async until(condition: (log: LogIdentity) => boolean | Promise<boolean>): Promise<void> {
    let log: LogIdentity | null = null
    await until(
      async () => {
        await this.look()
        log = (await (await fetch(`${this.#gateway.admin}/v1/log`)).json()) as LogIdentity
        assertIdentity(log)
        return condition(log)
      },
      () => JSON.stringify(log),
    )
  }
}

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
  target.isUp = true
  await watch.until(({ received, indexed }) => received === 30 && indexed === 30)
  assert.equal(target.records, 30)
  assert.deepEqual(watch.fallen, [])
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
  target.isUp = true
  await watch.until(({ received, indexed }) => received === 12 && indexed === 12)
  assert.deepEqual(watch.fallen, [])
})
