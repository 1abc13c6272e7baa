import assert from 'node:assert/strict'
import type net from 'node:net'
import { test } from 'node:test'
import { rawOrigin } from '../../testing/origin.js'
import { startLogged } from '../../testing/traffic-records.js'

const OK = 'HTTP/1.1 200 OK\r\n\r\n'

/** A proxy's answer to CONNECT, and the client's response. */
const LIES: Readonly<Record<string, readonly [(socket: net.Socket) => void, string]>> = {
  'nothing, and closes': [(socket) => socket.end(), 'GW_UPSTREAM_REFUSED'],
  'nothing, and resets': [(socket) => socket.resetAndDestroy(), 'GW_UPSTREAM_REFUSED'],
  'nothing at all': [() => {}, 'GW_UPSTREAM_TIMEOUT'],
  garbage: [(socket) => socket.write('nonsense\r\n\r\n'), 'GW_UPSTREAM_REFUSED'],
  '407 with a body': [
    (socket) => socket.write('HTTP/1.1 407 No\r\nContent-Length: 4\r\n\r\nbody'),
    'GW_UPSTREAM_REFUSED',
  ],
  '200, and an answer of its own': [
    (socket) => socket.write(`${OK}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlies`),
    'GW_UPSTREAM_REFUSED',
  ],
  '100 before 200': [(socket) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${OK}`), 'GW_UPSTREAM_REFUSED'],
  'a head without an end': [
    (socket) => {
      const pump = (): void => {
        while (!socket.destroyed && socket.write('x: 1\r\n'.repeat(1000)));
      }
      socket.write('HTTP/1.1 200 OK\r\n')
      socket.on('drain', pump)
      pump()
    },
    'GW_UPSTREAM_REFUSED',
  ],
}

for (const [name, [answer, code]] of Object.entries(LIES)) {
  test(`a proxy that answers ${name} costs one request, which was not sent, and reveals no password`, async (t) => {
    const proxy = await rawOrigin(t, (socket) => socket.once('data', () => answer(socket)))
    const gateway = await startLogged(t, {
      upstreams: [
        {
          urls: ['http://orders.internal'],
          proxy: { url: proxy.url, username: 'operator', password: 'hunter2' },
          timeouts: { connectMs: 300, headersMs: 10_000, idleMs: 10_000, totalMs: 10_000 },
        },
      ],
    })
    const response = await fetch(gateway.url, { method: 'POST', body: 'once' })
    const text = await response.text()
    assert.equal(response.headers.get('x-gw-error'), code, text)
    const all = text + JSON.stringify(await gateway.records())
    assert.doesNotMatch(all, /hunter2|b3BlcmF0b3I6aHVudGVyMg|operator/)
  })
}
