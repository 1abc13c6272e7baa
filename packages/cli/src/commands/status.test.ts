import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { gwInProcess } from '../testing/in-process.js'
import { scratch, startGateway, until } from '../testing.js'

const LOGGED = 'traffic log: 1 received, 1 delivered, 0 waiting, 0 refused, 0 lost\n'

test('the log counts of gw status include workers that were killed', async (t) => {
  const gateway = await startGateway(
    t,
    `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 1
routes: [{ id: a, respond: { status: 204 } }]
log: { sink: file, file: { dir: ${join(scratch(t), 'traffic')} } }
`,
  )
  const status = async (...args: string[]): Promise<string> =>
    (await gwInProcess(['status', '--server', gateway.admin, ...args], { env: { GW_TOKEN: '' } })).stdout
  const worker = async () =>
    (JSON.parse(await status('-o', 'json')) as { workers: { pid: number | null; state: string }[] })
      .workers[0]!
  await fetch(gateway.url)
  await until(async () => (await status()).includes(LOGGED))
  const { pid } = await worker()
  process.kill(pid!, 'SIGKILL')
  await until(async () => {
    const now = await worker()
    return now.pid !== null && now.pid !== pid && now.state === 'ready'
  })
  const text = await status()
  assert.ok(text.includes(LOGGED), text)
})
