import assert from 'node:assert/strict'
import http from 'node:http'
import { test } from 'node:test'
import { startGateway, until } from '../../testing/gateway.js'
import { httpOrigin } from '../../testing/origin.js'
import { connectRaw } from '../../testing/raw-connection.js'
import type { DataPlane } from '../../worker/data-plane.js'
import { connectHttp2, FRAME, type RawHttp2Client, request } from '../node/http2/testing/raw-client.js'
import { testEngines } from '../testing/engines.js'

const RESPOND = {
  action: { kind: 'respond' as const, status: 200, headers: [], body: 'hi' },
  timeouts: null,
}
const HEALTH = { health: true }

interface Answer {
  readonly status: number
  readonly connection: string
  readonly text: string
  /** It arrived on the connection of an earlier request. */
  readonly isReused: boolean
}

const usedSockets = new WeakSet<object>()

function call(url: string, agent: http.Agent | false): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = http.get(url, { agent }, (res) => {
      const isReused = usedSockets.has(res.socket)
      usedSockets.add(res.socket)
      let text = ''
      res.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      res.on('end', () => {
        const { connection = '' } = res.headers
        resolve({ status: res.statusCode!, connection, text, isReused })
      })
    })
    sent.on('error', reject)
  })
}

testEngines(
  'a gateway that is no longer ready keeps serving, and closes connections after their next response',
  async (t, start) => {
    const { url, plane } = await start(t, { routes: [{ id: 'hi', ...RESPOND }], listener: HEALTH })
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    t.after(() => agent.destroy())
    assert.equal((await call(`${url}/-/readyz`, agent)).status, 200)
    assert.equal((await call(url, agent)).connection, '')
    plane.setReady(false)
    // The kept connection, a new one after it, and one of a probe.
    const kept = await call(url, agent)
    const fresh = await call(url, agent)
    assert.deepEqual([kept.status, kept.connection, kept.isReused], [200, 'close', true])
    assert.deepEqual([fresh.status, fresh.connection, fresh.isReused], [200, 'close', false])
    const probe = await call(`${url}/-/readyz`, agent)
    assert.deepEqual([probe.status, probe.connection], [503, 'close'])
    assert.equal((await call(`${url}/-/healthz`, agent)).status, 200)
    await plane.drain(5000)
    await assert.rejects(call(url, agent), /ECONNREFUSED/)
  },
)

testEngines('a response that starts after the drain has begun closes its connection', async (t, start) => {
  const responses: http.ServerResponse[] = []
  const origin = await httpOrigin(t, (_, res) => void responses.push(res))
  const { url, plane } = await start(t, { upstreams: [{ urls: [origin.url] }] })
  const late = call(url, new http.Agent({ keepAlive: true }))
  await until(() => responses.length > 0)
  plane.setReady(false)
  responses[0]!.end('late')
  assert.equal((await late).connection, 'close')
})

testEngines(
  'a client whose response ends during the drain may send one more request on its connection',
  async (t, start) => {
    let end = (): void => {}
    const origin = await httpOrigin(t, (req, res) => {
      if (req.url !== '/stream') return void res.end('next')
      res.write('begun')
      end = () => void res.end()
    })
    const { port, plane } = await start(t, { upstreams: [{ urls: [origin.url] }] })
    const client = await connectRaw(t, port)
    client.send('GET /stream HTTP/1.1\r\nhost: a\r\n\r\n')
    // A response head that is sent after the drain has begun would close the connection.
    await until(() => client.text.includes('begun'))
    let hasSentNext = false
    const polls = countPolls(plane, (idlePolls) => {
      // Late enough to need the wait of a drain, which is 13 idle polls.
      if (hasSentNext || idlePolls < 3) return
      hasSentNext = true
      client.send('GET /next HTTP/1.1\r\nhost: a\r\n\r\n')
    })
    const drained = plane.drain(600_000)
    // An idle drain would have ended by then.
    await until(() => polls() > 15)
    end()
    assert.equal(await drained, 0)
    await until(() => client.isClosed)
    const [stream, next, ...rest] = client.text.split(/(?=HTTP\/1\.1 )/)
    assert.doesNotMatch(stream!, /^connection:/im)
    assert.match(next ?? '', /^HTTP\/1\.1 200 .*^connection: close\r\n.*next/ims)
    assert.deepEqual(rest, [])
  },
)

testEngines('idle connections are closed at the end of a drain', async (t, start) => {
  const { url, plane } = await start(t, { routes: [{ id: 'hi', ...RESPOND }] })
  const agent = new http.Agent({ keepAlive: true })
  await call(url, agent)
  const [idle] = Object.values(agent.freeSockets)[0]!
  const closed = new Promise((resolve) => idle!.once('close', resolve))
  await plane.drain(5000)
  await closed
})

test('HTTP/2: connections close after their next request once a gateway is no longer ready', async (t) => {
  const gateway = await startGateway(t, {
    routes: [{ id: 'hi', ...RESPOND }],
    listener: { engine: 'node', http2: { alpn: true, priorKnowledge: true, streams: 100 } },
  })
  const [kept, idle] = [await connectHttp2(t, gateway.port), await connectHttp2(t, gateway.port)]
  gateway.plane.setReady(false)
  for (const client of [kept, await connectHttp2(t, gateway.port)]) {
    assert.equal(client.goaway, null)
    client.send(request(1))
    await until(() => hasBody(client, 1) && client.isClosed)
    // Node.js says it twice.
    assert.deepEqual(new Set(lastStreams(client)), new Set([1]))
  }
  assert.equal(idle.isClosed, false)
  await gateway.plane.drain(5000)
  await until(() => idle.isClosed)
  assert.equal(idle.goaway, 0)
})

/**
 * Counts how often a drain polls the requests in flight, so that a test does not depend on how long polls take.
 * @param onIdle called on every poll without requests in flight, with the number of such polls in a row.
 * @returns a function that returns the total number of polls.
 */
function countPolls(plane: DataPlane, onIdle: (idlePolls: number) => void): () => number {
  const prototype: object = Object.getPrototypeOf(plane)
  const readInFlight = Object.getOwnPropertyDescriptor(prototype, 'inFlight')!.get!
  let [polls, idlePolls] = [0, 0]
  const get = (): number => {
    polls++
    const inFlight: number = readInFlight.call(plane)
    idlePolls = inFlight > 0 ? 0 : idlePolls + 1
    if (idlePolls > 0) onIdle(idlePolls)
    return inFlight
  }
  Object.defineProperty(plane, 'inFlight', { get })
  return () => polls
}

function hasBody(client: RawHttp2Client, stream: number): boolean {
  return client.frames.some((frame) => frame.type === FRAME.data && frame.stream === stream)
}

/** Last stream id in each GOAWAY (RFC 9113 section 6.8). */
function lastStreams(client: RawHttp2Client): number[] {
  return client.frames
    .filter(({ type }) => type === FRAME.goaway)
    .map(({ payload }) => payload.readUInt32BE(0))
}
