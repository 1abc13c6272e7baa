import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Exchange, PHASE } from '@sluice/core'
import { httpOrigin } from '../../testing/origin.js'
import { startLogged } from '../../testing/traffic-records.js'
import { OVER, TRANSPORTS } from '../../testing/transports.js'
import { attributeOpening, Opening } from './opening.js'
import { Resolver } from './resolver.js'

const LOOKUP_MS = 40

for (const transport of TRANSPORTS) {
  test(`${transport}: the record shows the time to open a new connection, and none for a reused one`, async (t) => {
    const origin = await httpOrigin(t, (_, res) => res.end('here'))
    const resolver = new Resolver((_, __, done) => {
      setTimeout(done, LOOKUP_MS, null, [{ address: '127.0.0.1', family: 4 }])
    })
    const gateway = await startLogged(
      t,
      { upstreams: [{ ...OVER[transport], urls: [`http://shop.test:${origin.port}`] }] },
      {},
      { network: { lookup: resolver.lookup, maxConnectionAgeMs: 3_600_000 } },
    )
    for (let i = 0; i < 2; i++) assert.equal(await (await fetch(gateway.url)).text(), 'here')
    const [first, second] = await gateway.records()
    assert.ok(first!.t['up_dns']! >= LOOKUP_MS - 5, JSON.stringify(first!.t))
    assert.ok(first!.t['up_tcp']! > 0, JSON.stringify(first!.t))
    assert.ok(first!.t['up_queue']! < first!.t['up_dns']!, JSON.stringify(first!.t))
    for (const phase of ['up_dns', 'up_tcp', 'up_tls'])
      assert.equal(second!.t[phase], undefined, JSON.stringify(second!.t))
  })
}

/** An opening whose steps were completed at these times. */
function openingAt(resolvedMono: number, connectedMono: number, securedMono: number): Opening {
  return Object.assign(new Opening(), { beganMono: 100, resolvedMono, connectedMono, securedMono })
}

/** The phases of an exchange that waits for a connection since then, and has it at 200. */
function phasesOf(since: number, opening: Opening): number[] {
  const x = new Exchange()
  x.times.keep()
  x.times.phase = PHASE.upstreamQueue
  x.times.sinceMono = since
  attributeOpening(x, opening)
  x.times.enter(PHASE.upstreamFirstByte, 200)
  const { upstreamQueue, upstreamName, upstreamTcp, upstreamTls } = PHASE
  return [upstreamQueue, upstreamName, upstreamTcp, upstreamTls].map((phase) => x.times.ms[phase]!)
}

test('the wait for a connection is divided into its steps, and they add up', () => {
  assert.deepEqual(phasesOf(90, openingAt(130, 150, 190)), [20, 30, 20, 40])
  assert.deepEqual(phasesOf(100, openingAt(0, 150, 0)), [50, 0, 50, 0])
})

test('an exchange that joins a half-open connection waits only for the rest', () => {
  assert.deepEqual(phasesOf(140, openingAt(130, 150, 190)), [10, 0, 10, 40])
  assert.deepEqual(phasesOf(195, openingAt(130, 150, 190)), [5, 0, 0, 0])
})
