import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { MatchPlan } from '@sluice/config'
import { until } from '../../testing/gateway.js'
import { rawOrigin } from '../../testing/origin.js'
import { testEngines } from '../testing/engines.js'

// Clients that read a response only after sending the whole request get an early response too.

const SIZE = 8 * 1024 * 1024
const PYTHON = `
import http.client, sys
port, method, path, coding, closes = int(sys.argv[1]), *sys.argv[2:6]
size = ${SIZE}
pieces = (b'x' * 65536 for _ in range(size // 65536))
connection = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
headers = {'Connection': 'close'} if closes == 'close' else {}
if coding == 'length':
    headers['Content-Length'] = str(size)
else:
    headers['Transfer-Encoding'] = 'chunked'
connection.request(method, path, body=pieces, headers=headers, encode_chunked=coding == 'chunked')
response = connection.getresponse()
print(response.status, len(response.read()))
`

/** Result of an upload of 8 MB with Python's `http.client`: status and body size, or the error. */
async function pythonUpload(port: number, ...args: readonly string[]): Promise<string> {
  const child = spawn('python3', ['-c', PYTHON, String(port), ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await once(child, 'close')
  return said.trim().split('\n').at(-1)!
}

/** Result of the same upload with `fetch` of Node.js. */
async function fetchUpload(port: number, ...args: readonly string[]): Promise<string> {
  const [method = '', path, coding] = args
  const piece = new Uint8Array(65_536)
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let sent = 0; sent < SIZE; sent += piece.length) yield piece
  }
  const body = coding === 'length' ? new Uint8Array(SIZE) : pieces()
  const options = { method, body, duplex: 'half' } as unknown as RequestInit
  const response = await fetch(`http://127.0.0.1:${port}${path}`, options)
  return `${response.status} ${(await response.arrayBuffer()).byteLength}`
}

const BIG = 200_000
const ROUTES = [
  {
    path: '/refused',
    action: { kind: 'respond', status: 401, headers: [], body: 'no key' },
    expected: '401 6',
  },
  { path: '/empty', action: { kind: 'respond', status: 403, headers: [], body: '' }, expected: '403 0' },
  { path: '/bodiless', action: { kind: 'respond', status: 204, headers: [], body: '' }, expected: '204 0' },
  {
    path: '/big',
    action: { kind: 'respond', status: 403, headers: [], body: 'b'.repeat(BIG) },
    expected: `403 ${BIG}`,
  },
  { path: '/known', action: null, expected: `200 ${BIG}` },
  { path: '/unknown', action: null, expected: `200 ${BIG}` },
] as const

for (const [client, upload] of [
  ['http.client', pythonUpload],
  ['fetch', fetchUpload],
] as const) {
  for (const { path, expected } of [...ROUTES, { path: '/large', expected: /^413 [1-9]/ }]) {
    testEngines(`${client} gets ${expected} for an upload of 8 MB to ${path}`, async (t, start) => {
      const origin = await rawOrigin(t, (socket) => {
        socket.once('data', (head) => {
          socket.resume()
          if (head.includes('/large')) return
          const body = 'b'.repeat(BIG)
          socket.write('HTTP/1.1 200 OK\r\n')
          if (head.includes('/unknown'))
            socket.write(`Transfer-Encoding: chunked\r\n\r\n${BIG.toString(16)}\r\n${body}\r\n0\r\n\r\n`)
          else socket.write(`Content-Length: ${BIG}\r\n\r\n${body}`)
        })
      })
      const match = (text: string): MatchPlan => ({
        hosts: [],
        path: { text, kind: 'exact', segments: [{ kind: 'literal', text: text.slice(1) }] },
        methods: [],
        headers: [],
        query: [],
        when: null,
      })
      const gateway = await start(t, {
        upstreams: [{ urls: [origin.url] }],
        routes: [
          ...ROUTES.map((route) => ({
            id: route.path,
            match: match(route.path),
            ...(route.action === null ? {} : { action: route.action }),
          })),
          { id: 'large', match: match('/large') },
        ],
        // As large as a piece: the read that exceeds it is also the one that pauses the body.
        listener: { limits: { bodyBytes: path === '/large' ? 65_536 : 2 * SIZE } },
      })
      for (const coding of ['length', 'chunked']) {
        for (const closes of client === 'fetch' ? [''] : ['', 'close']) {
          const got = await upload(gateway.port, 'POST', path, coding, closes)
          const shown = `${coding} ${closes}: ${got}`
          if (typeof expected === 'string') assert.equal(got, expected, shown)
          else assert.match(got, expected, shown)
        }
      }
      await until(() => gateway.plane.inFlight === 0)
    })
  }
}
