import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BodyLanguage, Policy } from '@sluice/core'
import { catalog as policyCatalog } from '@sluice/policies'
import { startGateway } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'

function when(text: string) {
  const path = { text: '/*', kind: 'prefix' as const, segments: [] }
  return { hosts: [], path, methods: [], headers: [], query: [], when: text }
}

async function post(url: string, body: string): Promise<number> {
  const answer = await fetch(url, { method: 'POST', body })
  await answer.arrayBuffer()
  return answer.status
}

test('a large body is asked on a thread, once for all that ask it, and routed by what it says', async (t) => {
  const policies = [
    {
      id: 'tell',
      use: 'tell',
      with: {},
      when: 'req.body.json("$.buyer") == "acme"',
      onError: 'fail' as const,
    },
  ]
  const routes = [
    { id: 'ibm', match: when('req.body.json("$.symbol") == "IBM"'), policies },
    {
      id: 'sun',
      match: when('req.body.json("$.symbol") == "SUN"'),
      action: { kind: 'respond' as const, headers: [], body: '', status: 201 },
      timeouts: null,
    },
  ]
  const origin = await httpOrigin(t, (req, res) => {
    req.resume()
    req.on('end', () => res.end())
  })
  const { bodies, bodyWork } = policyCatalog
  const here: string[] = []
  const watched: BodyLanguage = {
    ...bodies!.json,
    compile(path, names) {
      const read = bodies!.json.compile(path, names)
      return (x) => {
        here.push(path)
        return read(x)
      }
    },
  }
  let told = 0
  const tell: Policy = {
    name: 'tell',
    summary: 'Tells.',
    schema: {} as Policy['schema'],
    compile: () => ({
      name: 'tell',
      onRequest() {
        told++
        return null
      },
    }),
  }
  const catalog = Object.assign(new Map([['tell', tell]]), {
    bodies: { json: watched, xml: watched },
    bodyWork: bodyWork!,
  })
  const { url, plane } = await startGateway(t, { upstreams: [{ urls: [origin.url] }], routes }, { catalog })
  const large = (symbol: string) => JSON.stringify({ filling: 'x'.repeat(100_000), symbol, buyer: 'acme' })
  assert.equal(await post(url, large('IBM')), 200)
  assert.equal(await post(url, large('SUN')), 201)
  assert.equal(await post(url, `{${large('SUN')}`), 404)
  assert.equal(told, 1)
  assert.deepEqual(here, [])
  assert.equal(await post(url, '{"symbol":"SUN"}'), 201)
  assert.deepEqual(here, ['$.symbol', '$.symbol'])
  assert.equal(plane.inFlight, 0)
})
