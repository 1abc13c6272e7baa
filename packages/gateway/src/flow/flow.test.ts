import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Catalog,
  type Exchange,
  type Outcome,
  type Policy,
  type Step,
  setHeader,
  substitute,
} from '@sluice/core'
import { startGateway, TIMEOUTS, until } from '../testing/gateway.js'
import { h2Origin } from '../testing/h2-origin.js'
import { httpOrigin } from '../testing/origin.js'
import { sendRaw, statusesOf } from '../testing/raw-client.js'
import { connectRaw } from '../testing/raw-connection.js'
import { scriptedOrigin } from '../testing/scripted-origin.js'
import { startLogged } from '../testing/traffic-records.js'

const POLICIES = [{ id: 'slow', use: 'slow', with: {}, when: null, onError: 'fail' as const }]

/** A policy decision made by the test. */
class Decision {
  isAsked = false
  make: () => void = () => {}
  readonly #made = new Promise<void>((resolve) => {
    this.make = resolve
  })

  async ask(): Promise<Outcome> {
    this.isAsked = true
    await this.#made
    return null
  }
}

function catalogOf(step: Omit<Step, 'name'>): Catalog {
  const slow: Policy = {
    name: 'slow',
    summary: 'Waits.',
    schema: {} as Policy['schema'],
    compile: () => ({ name: 'slow', ...step }),
  }
  return new Map([['slow', slow]])
}

test('a response to HEAD that ended while a policy processed its head still reaches the client', async (t) => {
  const origin = await httpOrigin(t, (_, res) => res.writeHead(200, { 'content-length': '5' }).end())
  const decision = new Decision()
  const catalog = catalogOf({ onResponse: () => decision.ask() })
  const overrides = { upstreams: [{ urls: [origin.url] }], routes: [{ id: 'all', policies: POLICIES }] }
  const gateway = await startGateway(t, overrides, { catalog })
  const request = 'HEAD /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
  const answer = sendRaw(gateway.port, [request], { waitMs: 5000 })
  const active = () => gateway.plane.samples().find(({ name }) => name === 'gw_upstream_active')?.value
  await until(() => decision.isAsked && active() === 0)
  decision.make()
  const { text } = await answer
  assert.deepEqual(statusesOf(text), [200])
  assert.match(text, /content-length: 5/i)
})

test('a refusal whose policies wait is not started by the head of the response that it replaces', async (t) => {
  const broken = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n'
  const origin = await scriptedOrigin(t, ({ socket }) => void socket.write(broken))
  let calls = 0
  const onResponse = async (x: Exchange): Promise<Outcome> => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    x.responseHeaders.push('x-seen', String(++calls))
    return null
  }
  const overrides = {
    upstreams: [{ urls: [`http://127.0.0.1:${origin.port}`] }],
    routes: [{ id: 'all', policies: POLICIES }],
  }
  const gateway = await startGateway(t, overrides, { catalog: catalogOf({ onResponse }) })
  const request = 'GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
  const { text } = await sendRaw(gateway.port, [request], { waitMs: 5000 })
  assert.deepEqual(statusesOf(text), [502])
  assert.match(text, /^content-type: application\/problem\+json\r$/im)
  assert.match(text, /^x-request-id: /im)
  assert.match(text, /^x-seen: 2\r$/im)
  assert.doesNotMatch(text, /x-seen: 1|transfer-encoding/i)
})

test('an upload that exceeds the total timeout is reported as such, and not as paused', async (t) => {
  const origin = await httpOrigin(t, (req, res) => req.resume().on('end', () => res.end()))
  const timeouts = { ...TIMEOUTS, totalMs: 300 }
  const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url], timeouts }] })
  const head = 'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n'
  const { text } = await sendRaw(gateway.port, [head, 'x', 'x'], { waitMs: 5000 })
  assert.deepEqual(statusesOf(text), [408])
  assert.match(text, /before timeouts\.total expired/)
})

test('a policy that decides after its request was refused has no effect', async (t) => {
  let seen = 0
  const origin = await httpOrigin(t, (_, res) => {
    seen++
    res.end()
  })
  const attempt = new Decision()
  const response = new Decision()
  let behind = 0
  const count: Policy = {
    name: 'count',
    summary: 'Counts.',
    schema: {} as Policy['schema'],
    compile: () => ({
      name: 'count',
      onAttempt() {
        behind++
        return null
      },
    }),
  }
  const slow = catalogOf({ onAttempt: () => attempt.ask(), onResponse: () => response.ask() })
  const catalog = new Map([...slow, ['count', count]])
  const policies = [...POLICIES, { ...POLICIES[0]!, id: 'count', use: 'count' }]
  const timeouts = { ...TIMEOUTS, totalMs: 100 }
  const gateway = await startGateway(
    t,
    { upstreams: [{ urls: [origin.url], timeouts }], routes: [{ id: 'all', policies, timeouts }] },
    { catalog },
  )
  const request = 'GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
  const answer = sendRaw(gateway.port, [request], { waitMs: 5000 })
  await until(() => response.isAsked)
  attempt.make()
  await new Promise((resolve) => setImmediate(resolve))
  response.make()
  const { text } = await answer
  assert.deepEqual(statusesOf(text), [500])
  assert.match(text, /GW_POLICY_ERROR/)
  assert.deepEqual([seen, behind], [0, 0])
  await until(() => gateway.plane.inFlight === 0)
})

test('time taken by a policy does not count against a client whose body arrives then', async (t) => {
  const origin = await httpOrigin(t, (req, res) => req.resume().on('end', () => res.end()))
  const catalog = catalogOf({
    onRequest: () => {
      const until = performance.now() + 600
      while (performance.now() < until);
      return null
    },
  })
  const overrides = {
    upstreams: [{ urls: [origin.url] }],
    routes: [{ id: 'all', policies: POLICIES }],
    listener: { limits: { bodyIdleMs: 500 } },
  }
  const gateway = await startGateway(t, overrides, { catalog })
  const head = 'POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
  const client = await connectRaw(t, gateway.port)
  client.send(head)
  // After the policy, and well before the body is due.
  await new Promise((resolve) => setTimeout(resolve, 800))
  client.send('2\r\nok\r\n0\r\n\r\n')
  await until(() => client.isClosed)
  assert.deepEqual(statusesOf(client.text), [200])
})

test('a substitute counts as a success, and only the steps before it see it', async (t) => {
  const seen: string[] = []
  const stepOf = (name: string): Step => ({
    name,
    onRequest: () => {
      seen.push(`${name} request`)
      return name === 'second' ? substitute(404, ['content-type', 'text/plain'], Buffer.from('kept')) : null
    },
    onResponse: (x) => {
      seen.push(`${name} response ${x.status}`)
      return null
    },
    onResponseBody: (x, body) => {
      x.responseBody = Buffer.from(`${name}(${Buffer.from(body)})`)
      return null
    },
  })
  const names = ['first', 'second', 'third']
  const catalog: Catalog = new Map(
    names.map((name) => {
      const schema = {} as Policy['schema']
      return [name, { name, summary: 'Says what it saw.', schema, compile: () => stepOf(name) }]
    }),
  )
  const policies = names.map((id) => ({ id, use: id, with: {}, when: null, onError: 'fail' as const }))
  const origin = await httpOrigin(t, (_, res) => res.end('not asked'))
  const overrides = { upstreams: [{ urls: [origin.url] }], routes: [{ id: 'all', policies }] }
  const gateway = await startLogged(t, overrides, {}, { catalog })
  const answer = await fetch(`${gateway.url}/a`)
  assert.equal(answer.status, 404)
  assert.equal(await answer.text(), 'first(kept)')
  assert.deepEqual(seen, ['first request', 'second request', 'first response 404'])
  const [record] = await gateway.records()
  assert.equal(record!.result, 'success')
})

/** Too long to arrive at once, so the connection of the rejected response is closed. */
const REFUSAL = 'refused'.repeat(100_000)

for (const transport of ['undici', 'wire'] as const) {
  test(`${transport}: a policy with other credentials gets a rejected request sent once more, and only once`, async (t) => {
    const seen: string[] = []
    const origin = await httpOrigin(t, (req, res) => {
      seen.push(String(req.headers['x-try']))
      res.writeHead(Number(req.headers['x-answer'])).end(REFUSAL)
    })
    let tries = 0
    const renewed: number[] = []
    const catalog = catalogOf({
      onAttempt(x) {
        setHeader(x.headers, 'x-try', String(++tries))
        return null
      },
      onRejected(_, { status }) {
        renewed.push(status)
        if (status === 418) throw new Error('no')
        return true
      },
    })
    const overrides = {
      upstreams: [{ urls: [origin.url], transport }],
      routes: [{ id: 'all', policies: POLICIES }],
    }
    const gateway = await startGateway(t, overrides, { catalog })
    const send = async (answer: string): Promise<number> => {
      const response = await fetch(gateway.url, { headers: { 'x-answer': answer } })
      assert.equal(await response.text(), REFUSAL)
      return response.status
    }
    assert.deepEqual([await send('401'), seen.splice(0), renewed.splice(0)], [401, ['1', '2'], [401]])
    assert.deepEqual([await send('418'), seen.splice(0), renewed.splice(0)], [418, ['3'], [418]])
    assert.ok(gateway.events.some(({ event }) => event === 'policy_failed'))
    assert.deepEqual([await send('500'), seen.splice(0), renewed.splice(0)], [500, ['4'], []])
  })
}

test('over HTTP/2 too, beside other streams of the connection', async (t) => {
  const seen: string[] = []
  const { port } = await h2Origin(t, (stream, headers) => {
    seen.push(String(headers['x-try']))
    stream.respond({ ':status': headers['x-try'] === '1' ? 401 : 200 })
    stream.end(REFUSAL)
  })
  let tries = 0
  const catalog = catalogOf({
    onAttempt(x) {
      setHeader(x.headers, 'x-try', String(++tries))
      return null
    },
    onRejected: () => true,
  })
  const upstream = { urls: [`http://127.0.0.1:${port}`], http2: { alpn: false, priorKnowledge: true } }
  const routes = [{ id: 'all', policies: POLICIES }]
  const gateway = await startGateway(t, { upstreams: [upstream], routes }, { catalog })
  const response = await fetch(gateway.url)
  assert.deepEqual([response.status, (await response.text()).length], [200, REFUSAL.length])
  assert.deepEqual(seen, ['1', '2'])
})
