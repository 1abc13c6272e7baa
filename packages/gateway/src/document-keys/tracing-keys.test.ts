import assert from 'node:assert/strict'
import type http from 'node:http'
import type { TestContext } from 'node:test'
import { httpOrigin } from '../testing/origin.js'
import { serve, testKeys } from './testing/key-tests.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

/** Returns the fields that an upstream receives, for each of the requests. */
async function received(
  t: TestContext,
  tracing: object,
  requests: readonly Record<string, string>[],
): Promise<readonly http.IncomingHttpHeaders[]> {
  const seen: http.IncomingHttpHeaders[] = []
  const origin = await httpOrigin(t, (req, res) => {
    seen.push(req.headers)
    res.end()
  })
  const gateway = await serve(t, { target: origin.url, tracing })
  for (const headers of requests) await fetch(gateway.url, { headers })
  return seen
}

/** Returns the number of sampled requests. */
function sampledOf(seen: readonly http.IncomingHttpHeaders[]): number {
  return seen.filter(({ traceparent }) => String(traceparent).endsWith('-01')).length
}

testKeys('tracing', {
  propagation: async (t) => {
    const b3 = { b3: `${TRACE}-${SPAN}-1` }
    const [usual] = await received(t, {}, [b3])
    assert.equal(usual!['b3'], b3.b3)
    assert.ok(!String(usual!['traceparent']).includes(TRACE))
    const [other] = await received(t, { propagation: ['b3'] }, [b3])
    assert.match(String(other!['b3']), new RegExp(`^${TRACE}-(?!${SPAN})`))
    assert.equal(other!['traceparent'], undefined)
  },
  'sampling.ratio': async (t) => {
    const requests = Array.from({ length: 200 }, () => ({}))
    assert.equal(sampledOf(await received(t, {}, requests)), 200)
    assert.equal(sampledOf(await received(t, { sampling: { ratio: '0%' } }, requests)), 0)
    // Both are missed once in 10^60 runs.
    const some = sampledOf(await received(t, { sampling: { ratio: '50%' } }, requests))
    assert.ok(some > 0 && some < 200, String(some))
  },
  'sampling.parentBased': async (t) => {
    const request = { traceparent: `00-${TRACE}-${SPAN}-01` }
    const sampling = { ratio: '0%' }
    assert.equal(sampledOf(await received(t, { sampling }, [request])), 1)
    assert.equal(
      sampledOf(await received(t, { sampling: { ...sampling, parentBased: false } }, [request])),
      0,
    )
  },
})
