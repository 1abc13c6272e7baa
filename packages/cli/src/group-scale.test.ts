import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { test } from 'node:test'
import { GatewayGroup } from './testing/gateway-group.js'
import { until } from './testing.js'

/** Numbers of gateways, clients of the protocol and routes. `SLUICE_GROUP_SIZE=10,90,5000` measures a large group. */
const [GATEWAYS = 0, CLIENTS = 0, ROUTES = 0] = (process.env['SLUICE_GROUP_SIZE'] ?? '3,20,500')
  .split(',')
  .map(Number)

/** Returns a document. @param changed value in one of the routes */
function documentOf(changed: string): string {
  const routes = Array.from({ length: ROUTES }, (_, i) => {
    const body = i === Math.floor(ROUTES / 2) ? changed : `route ${i}`
    return `  - { id: r${i}, match: { path: /r/${i}, methods: [GET] }, respond: { status: 200, body: ${body} } }\n`
  })
  const addresses = "listeners: [{ address: '127.0.0.1:0' }]\nadmin: { address: '127.0.0.1:0' }\n"
  return `version: 1\n${addresses}log: { sink: none }\nroutes:\n${routes.join('')}`
}

/** Maximum size of a process so far, in megabytes. */
function peakMb(pid: number): number {
  return Math.round(Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
}

test('a group takes a document and a change of one route', async (t) => {
  const group = await GatewayGroup.start(t, { gateways: GATEWAYS, clients: CLIENTS })
  const timesOf = async (document: string): Promise<string> => {
    const begunMono = performance.now()
    const times = new Map<string, number>()
    const onStep: Parameters<GatewayGroup['deploy']>[2] = ({ event = 'end', member = '' }) =>
      void times.set(`${event} ${member.replace(/-\d+$/, '')}`, performance.now() - begunMono)
    const { digest, detail } = await group.deploy(document, { deadlineMs: 270_000 }, onStep)
    assert.equal(detail, undefined)
    await until(async () =>
      (await group.fleet()).every((one) => one.status === 'inSync' && one.digest === digest),
    )
    const started = times.get('started ')!
    const shown = [...times].map(([step, ms]) => `${step} ${Math.round(ms - started)} ms`)
    return `validation ${Math.round(started)} ms; last ${shown.join(', ')}`
  }
  for (const changed of ['first', 'second', 'third']) t.diagnostic(await timesOf(documentOf(changed)))
  t.diagnostic(
    `controller ${peakMb(group.controller.process.pid!)} MB at most, load ${loadavg()[0]!.toFixed(1)}`,
  )
  for (const { journal } of group.clients)
    assert.deepEqual(
      journal.map((order) => order.split(' ')[0]),
      Array(3).fill(['prepare', 'activate', 'serve']).flat(),
    )
  const middle = Math.floor(ROUTES / 2)
  for (const { port } of group.gateways)
    assert.equal(await (await fetch(`http://127.0.0.1:${port}/r/${middle}`)).text(), 'third')
})
