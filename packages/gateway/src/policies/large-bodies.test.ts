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

test('a large body is evaluated once on a worker thread and routed by its content', async (t) => {
  const policies = [
    {
      id: 'report',
      use: 'report',
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
  let reported = 0
  const report: Policy = {
    name: 'report',
    summary: 'Test.',
    schema: {} as Policy['schema'],
    compile: () => ({
      name: 'report',
      onRequest() {
        reported++
        return null
      },
    }),
  }
  const catalog = Object.assign(new Map([['report', report]]), {
    bodies: { json: watched, xml: watched },
    bodyWork: bodyWork!,
  })
  const { url, plane } = await startGateway(t, { upstreams: [{ urls: [origin.url] }], routes }, { catalog })
  const large = (symbol: string) => JSON.stringify({ filling: 'x'.repeat(100_000), symbol, buyer: 'acme' })
  assert.equal(await post(url, large('IBM')), 200)
  assert.equal(await post(url, large('SUN')), 201)
  assert.equal(await post(url, `{${large('SUN')}`), 400)
  assert.equal(reported, 1)
  assert.deepEqual(here, [])
  assert.equal(await post(url, '{"symbol":"SUN"}'), 201)
  assert.deepEqual(here, ['$.symbol', '$.symbol'])
  assert.equal(plane.inFlight, 0)
})

test('a route is chosen by the beginning of an XML body, and a policy decides by all of it', async (t) => {
  const symbol = 'req.body.xml("/order/symbol")'
  const policies = [
    { id: 'report', use: 'report', with: {}, when: `${symbol} == "SUN"`, onError: 'fail' as const },
  ]
  const routes = [
    { id: 'ibm', match: when(`${symbol} == "IBM"`) },
    { id: 'sun', match: when(`${symbol} == "SUN"`), policies },
  ]
  const origin = await httpOrigin(t, (req, res) => {
    req.resume()
    req.on('end', () => res.end())
  })
  const report: Policy = {
    name: 'report',
    summary: 'Test.',
    schema: {} as Policy['schema'],
    compile: () => ({ name: 'report' }),
  }
  // This work does not exist, so everything sent to a worker thread fails.
  const catalog = Object.assign(new Map([['report', report]]), {
    bodies: policyCatalog.bodies!,
    bodyWork: new URL('no-such-work.js', import.meta.url),
  })
  const { url } = await startGateway(t, { upstreams: [{ urls: [origin.url] }], routes }, { catalog })
  const order = (each: string, rest: string) => `<order><symbol>${each}</symbol>${rest}</order>`
  assert.equal(await post(url, order('IBM', '')), 200)
  assert.equal(await post(url, order('IBM', '</open>')), 200)
  assert.equal(await post(url, order('IBM', 'x'.repeat(100_000))), 200)
  assert.equal(await post(url, order('SUN', '')), 200)
  assert.equal(await post(url, order('SUN', '</open>')), 400)
  assert.equal(await post(url, order('DEC', '</open>')), 404)
  assert.equal(await post(url, `<!DOCTYPE order>${order('IBM', '')}`), 400)
})
