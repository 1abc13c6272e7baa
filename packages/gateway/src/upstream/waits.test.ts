import assert from 'node:assert/strict'
import { type TestGateway, until } from '../testing/gateway.js'
import { ok, scriptedOrigin } from '../testing/scripted-origin.js'
import { startOver, testOver } from '../testing/transports.js'

// The number of requests that wait for a connection to their target, for operators.

for (const transport of ['undici', 'wire'] as const) {
  const test = testOver(transport)
  const startGateway = startOver(transport)

  function waitsOf({ plane }: TestGateway): number {
    return plane.samples().find(({ name }) => name === 'gw_upstream_waits_total')!.value
  }

  test('requests that find all connections in use are counted once each, and others never', async (t) => {
    const asked: { readonly answer: () => void }[] = []
    const origin = await scriptedOrigin(t, ({ socket }, path) => {
      asked.push({ answer: () => socket.write(ok(path)) })
    })
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url], connections: 2 }] })
    const answers = [1, 2, 3, 4, 5].map((i) => fetch(`${gateway.url}/${i}`))
    await until(() => asked.length === 2 && gateway.plane.inFlight === 5)
    assert.equal(waitsOf(gateway), 3, 'two have a connection of their own')
    for (let i = 0; i < 5; i++) {
      await until(() => asked.length > i)
      asked[i]!.answer()
    }
    for (const answer of answers) assert.equal((await answer).status, 200)
    const last = fetch(`${gateway.url}/6`)
    await until(() => asked.length === 6)
    asked[5]!.answer()
    assert.equal((await last).status, 200)
    assert.equal(waitsOf(gateway), 3, 'a connection was free')
    assert.equal(origin.opened.length, 2)
  })
}
