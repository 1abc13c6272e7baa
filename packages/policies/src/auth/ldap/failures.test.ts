import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Step } from '@sluice/core'
import { closedPort } from '@sluice/core/testing'
import { exchange, testEnv } from '../../testing.js'
import { ldap } from './policy.js'
import type { LdapConfig } from './schema.js'

/** What a directory does with a request, by the number of requests that came before it on the connection. */
type Answer = (socket: net.Socket, request: Buffer, before: number) => void

interface Fake {
  readonly url: string
  connections: number
  requests: number
}

/** A server that reads whole messages, as this client sends them, and answers as it likes. */
async function fake(t: TestContext, answer: Answer): Promise<Fake> {
  const seen: Fake = { url: '', connections: 0, requests: 0 }
  const sockets = new Set<net.Socket>()
  const server = net.createServer((socket) => {
    seen.connections++
    sockets.add(socket)
    let before = 0
    socket.on('error', () => {})
    socket.on('data', (request: Buffer) => {
      seen.requests++
      answer(socket, request, before++)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return Object.assign(seen, { url: `ldap://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

function tlv(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag, 0x82, content.length >> 8, content.length & 255]), content])
}

/** The number of a request, which its answer repeats. */
function idOf(request: Buffer): Buffer {
  const at = request[1]! < 128 ? 2 : 2 + (request[1]! & 127)
  return request.subarray(at, at + 2 + request[at + 1]!)
}

const text = (value: string): Buffer => tlv(4, Buffer.from(value))
const reply = (request: Buffer, tag: number, code: number): Buffer =>
  tlv(0x30, idOf(request), tlv(tag, Buffer.from([10, 1, code]), text(''), text('why')))
const entry = (request: Buffer, uid: string): Buffer => {
  const attribute = tlv(0x30, text('uid'), tlv(0x31, text(uid)))
  return tlv(0x30, idOf(request), tlv(0x64, text(`uid=${uid},dc=x`), tlv(0x30, attribute)))
}

/** Lets everybody in as `ann`. */
const friendly: Answer = (socket, request) => {
  const isBind = request.includes(Buffer.from([0x80]), 8) && request.includes('secret')
  if (isBind) socket.write(reply(request, 0x61, 0))
  else socket.write(Buffer.concat([entry(request, 'ann'), reply(request, 0x65, 0)]))
}

function stepOf(url: string | readonly string[], more: Partial<LdapConfig> = {}): Step {
  const timeouts = { connect: '60s', operation: '60s' }
  const config = { urls: [url].flat(), userDn: 'uid={{username}},dc=x', timeouts, ...more }
  return ldap.compile(config as LdapConfig, testEnv()) as Step
}

async function login(step: Step, name = 'ann'): Promise<string> {
  const value = Buffer.from(`${name}:secret`).toString('base64')
  const x = exchange({ headers: ['authorization', `Basic ${value}`] })
  const outcome = await step.onRequest!(x)
  return outcome?.problem?.code ?? x.consumer!.id
}

test('a directory that is down is 503, and a moment later refused without a try', async (t) => {
  const step = stepOf(`ldap://127.0.0.1:${await closedPort()}`)
  const x = exchange({ headers: ['authorization', `Basic ${Buffer.from('a:b').toString('base64')}`] })
  const outcome = await step.onRequest!(x)
  assert.deepEqual([outcome?.status, outcome?.problem?.code], [503, 'GW_AUTH_UNAVAILABLE'])
  assert.ok(outcome!.headers.includes('retry-after'))
  const silent = await fake(t, (socket) => socket.destroy())
  const other = stepOf(silent.url)
  assert.equal(await login(other), 'GW_AUTH_UNAVAILABLE')
})

/** For what never comes. */
const SOON = { timeouts: { connect: '5s', operation: '150ms' } }

test('answers that are late, nonsense, half or endless are 503 and end the connection', async (t) => {
  const endless = tlv(0x30, Buffer.from([2, 1, 2]), tlv(0x73, text('ldap://x'.repeat(1000))))
  const answers: Record<string, Answer> = {
    nothing: () => {},
    'another protocol': (socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
    'random bytes': (socket) => void socket.write(Buffer.from('ff00ff3084ffffffff', 'hex')),
    'half an answer': (socket, request) => void socket.end(reply(request, 0x61, 0).subarray(0, 9)),
    'half an answer, held open': (socket, request) =>
      void socket.write(reply(request, 0x61, 0).subarray(0, 9)),
    'a message of 2 GB': (socket) => void socket.write(Buffer.from([0x30, 0x84, 0x7f, 0xff, 0xff, 0xff])),
    'an answer for somebody else': (socket) =>
      void socket.write(
        tlv(0x30, Buffer.from([2, 1, 99]), tlv(0x61, Buffer.from([10, 1, 0]), text(''), text(''))),
      ),
    // The client library would read such a value for ever.
    'a value longer than its entry': (socket, request) =>
      void socket.write(
        tlv(
          0x30,
          idOf(request),
          tlv(0x64, text('x'), tlv(0x30, tlv(0x30, text('uid'), tlv(0x31, Buffer.from([4, 100, 65]))))),
        ),
      ),
    'too much': (socket) => {
      const more = (): void => {
        if (!socket.destroyed && socket.write(endless)) setImmediate(more)
      }
      socket.on('drain', more)
      more()
    },
  }
  for (const [what, answer] of Object.entries(answers)) {
    const directory = await fake(t, answer)
    const step = stepOf(directory.url, SOON)
    assert.equal(await login(step), 'GW_AUTH_UNAVAILABLE', what)
    assert.equal(directory.connections, 1, what)
  }
})

test('many small messages in one piece do no harm', async (t) => {
  const directory = await fake(t, (socket, request, before) => {
    const many = Buffer.alloc(20_000, 0)
    const one = reply(Buffer.from([0x30, 3, 2, 1, 77]), 0x61, 0)
    const count = Math.floor(many.length / one.length)
    socket.write(Buffer.concat(Array.from({ length: count }, () => one)))
    friendly(socket, request, before)
  })
  assert.equal(await login(stepOf(directory.url)), 'ann')
})

test('codes of a bind are a refusal, or trouble of the directory', async (t) => {
  for (const [code, expected] of [
    [49, 'GW_AUTH_INVALID'],
    [32, 'GW_AUTH_INVALID'],
    [53, 'GW_AUTH_INVALID'],
    [51, 'GW_AUTH_UNAVAILABLE'],
    [52, 'GW_AUTH_UNAVAILABLE'],
    [10, 'GW_AUTH_UNAVAILABLE'],
    [8, 'GW_AUTH_UNAVAILABLE'],
  ] as const) {
    const directory = await fake(t, (socket, request) => void socket.write(reply(request, 0x61, code)))
    assert.equal(await login(stepOf(directory.url)), expected, String(code))
  }
})

test('a login whose entry cannot be read is refused', async (t) => {
  const directory = await fake(
    t,
    (socket, request, before) => void socket.write(reply(request, before === 0 ? 0x61 : 0x65, 0)),
  )
  assert.equal(await login(stepOf(directory.url)), 'GW_AUTH_INVALID')
})

test('the next directory is asked where one cannot be reached', async (t) => {
  const directory = await fake(t, friendly)
  const step = stepOf([`ldap://127.0.0.1:${await closedPort()}`, directory.url])
  assert.equal(await login(step), 'ann')
})

test('a connection closed while idle is replaced', async (t) => {
  const sockets: net.Socket[] = []
  const directory = await fake(t, (socket, request, before) => {
    sockets.push(socket)
    if (before > 1) socket.destroy()
    else friendly(socket, request, before)
  })
  const step = stepOf(directory.url, { cache: { ttl: '0s' } })
  assert.equal(await login(step), 'ann')
  assert.equal(await login(step), 'ann')
  assert.equal(directory.connections, 2)
})

test('an unused connection is closed after pool.idle', async (t) => {
  let ended = 0
  const directory = await fake(t, (socket, request, before) => {
    if (before === 0) socket.on('close', () => ended++)
    friendly(socket, request, before)
  })
  assert.equal(await login(stepOf(directory.url, { pool: { idle: '20ms' } })), 'ann')
  const deadline = performance.now() + 10_000
  while (ended === 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(ended, 1)
})

test('pool.max limits connections, and logins that wait too long are told to retry', async (t) => {
  const directory = await fake(t, () => {})
  const step = stepOf(directory.url, { ...SOON, pool: { max: 2 } })
  const codes = await Promise.all(Array.from({ length: 300 }, (_, i) => login(step, `user${i}`)))
  assert.ok(directory.connections <= 4)
  assert.ok(codes.includes('GW_AUTH_OVERLOADED'))
  assert.ok(codes.every((code) => /^GW_AUTH_(OVERLOADED|UNAVAILABLE)$/.test(code)))
})

test('a cached login is accepted while the directory is down, for staleIfError', async (t) => {
  let isDown = false
  const directory = await fake(t, (socket, request, before) => {
    if (isDown) socket.destroy()
    else friendly(socket, request, before)
  })
  const cache = { ttl: '1ms', staleIfError: '1h' }
  const [kept, strict] = [stepOf(directory.url, { cache }), stepOf(directory.url, { cache: { ttl: '1ms' } })]
  for (const step of [kept, strict]) assert.equal(await login(step), 'ann')
  isDown = true
  await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(await login(kept), 'ann')
  assert.equal(await login(strict), 'GW_AUTH_UNAVAILABLE')
  assert.equal(await login(kept, 'bob'), 'GW_AUTH_UNAVAILABLE')
})

test('cleartext data received before TLS does not count as received over TLS', async (t) => {
  const startTls = reply(Buffer.from([0x30, 3, 2, 1, 1]), 0x78, 0)
  for (const answer of [
    (socket) => void socket.write(Buffer.concat([startTls, reply(Buffer.from([0x30, 3, 2, 1, 2]), 0x61, 0)])),
    (socket) => void socket.write(reply(Buffer.from([0x30, 3, 2, 1, 1]), 0x78, 52)),
    (socket) => void socket.write(reply(Buffer.from([0x30, 3, 2, 1, 1]), 0x61, 0)),
    (socket, _, before) => void socket.write(before === 0 ? startTls : 'no TLS'),
    (socket) => void socket.end(),
  ] as Answer[]) {
    const directory = await fake(t, answer)
    assert.equal(
      await login(stepOf(directory.url, { timeouts: { connect: '1s' }, tls: { startTls: true } })),
      'GW_AUTH_UNAVAILABLE',
    )
  }
})
