import assert from 'node:assert/strict'
import http from 'node:http'
import { Duplex } from 'node:stream'
import { test } from 'node:test'
import fc from 'fast-check'
import { SETTINGS } from '../../testing/settings.js'
import { requestsOf, type WholeRequest } from '../testing/fake-listener.js'
import { HeadDecoder } from './head-decoder.js'

// The parser of Node.js is the oracle: what llhttp refuses is never accepted, and where both accept, both see the same
// requests with the same bodies. To refuse more is fine.

const GET = 'GET /a?b HTTP/1.1\r\nHost: a\r\n'
const POST = 'POST /a HTTP/1.1\r\nHost: a\r\n'
const SEEDS = [
  `${GET}\r\n`,
  `${GET}Accept: */*\r\nX-Long-Name: value \t\r\n\r\n`,
  `${GET}Connection: close\r\n\r\n`,
  `${POST}Content-Length: 5\r\n\r\nhello`,
  `${POST}Content-Length: 0\r\n\r\n`,
  `${POST}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc`,
  `${POST}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  `${POST}transfer-encoding: CHUNKED\r\n\r\nA;x="y;z"\r\n0123456789\r\n00\r\nX-T: 1\r\n\r\n`,
  `${POST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  `${POST}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'GET http://b/c HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
  'POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nok',
  'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
  `${POST}Expect: 100-continue\r\nContent-Length: 2\r\n\r\nok`,
  `\r\n\r\n${GET}\r\n`,
]
/** Bytes that parsers treat differently. */
const ODD = [
  '\r',
  '\n',
  '\r\n',
  '\n\n',
  '\r\n\r\n',
  ' ',
  '\t',
  ':',
  ';',
  ',',
  '\0',
  '\x7f',
  '\x80',
  '\xff',
  '\v',
  '0',
  '9',
  'f',
  '"',
  '\\',
  '+',
  '-',
  'HTTP/1.1',
  'chunked',
  'Content-Length: 1\r\n',
  'Transfer-Encoding: chunked\r\n',
]

interface Change {
  readonly at: number
  readonly removed: number
  readonly put: string
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(400),
  removed: fc.nat(3),
  put: fc.oneof(fc.constant(''), fc.constantFrom(...ODD)),
})

function changed(text: string, { at, removed, put }: Change): string {
  const from = at % (text.length + 1)
  return text.slice(0, from) + put + text.slice(from + removed)
}

const stream = fc
  .tuple(
    fc.array(fc.constantFrom(...SEEDS), { minLength: 1, maxLength: 3 }),
    fc.array(change, { maxLength: 3 }),
  )
  .map(([seeds, changes]) => changes.reduce(changed, seeds.join('')))

/** The complete requests that a Node.js server parses from these bytes. */
function oracleRequests(server: http.Server, text: string): Promise<WholeRequest[]> {
  return new Promise((resolve) => {
    const requests: WholeRequest[] = []
    const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done(), emitClose: true })
    Object.assign(socket, { requests })
    server.emit('connection', socket)
    socket.push(Buffer.from(text, 'latin1'))
    // Several turns: bodies and their ends are reported by events.
    let turns = 6
    const turn = (): void => {
      if (turns-- > 0) setImmediate(turn)
      else {
        socket.destroy()
        resolve(requests)
      }
    }
    turn()
  })
}

function openOracle(): http.Server {
  const take: http.RequestListener = (req, res) => {
    const { requests } = req.socket as unknown as { readonly requests: WholeRequest[] }
    let body = ''
    // In the order of their heads.
    const at = requests.push(null as unknown as WholeRequest) - 1
    req.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')))
    req.on('end', () => {
      requests[at] = { method: req.method!, target: req.url!, body }
      res.end()
    })
  }
  const server = http.createServer(take)
  // Refusals that are not made by the parser.
  server.on('checkExpectation', take)
  // Left open, so that earlier requests can still complete.
  server.on('clientError', () => {})
  return server
}

/** Path and query as in the exchange. The host may have come with the target. */
function pathOf({ target, ...rest }: WholeRequest): WholeRequest {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/\?$/, '')
  return { ...rest, target: path.startsWith('/') ? path : `/${path}` }
}

/** llhttp has a list of methods, and this listener accepts any token, so what follows cannot be compared. */
function withKnownMethods(requests: readonly WholeRequest[]): readonly WholeRequest[] {
  const at = requests.findIndex(({ method }) => !http.METHODS.includes(method))
  return at < 0 ? requests : requests.slice(0, at)
}

test('what llhttp refuses is never accepted, and what both accept is parsed alike', async () => {
  const server = openOracle()
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(stream, fc.array(fc.nat(400), { maxLength: 3 }), async (text, cuts) => {
      const bytes = Buffer.from(text, 'latin1')
      const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
      const pieces = places.slice(1).map((to, i) => bytes.subarray(places[i], to))
      const ours = withKnownMethods(requestsOf(pieces, new HeadDecoder(SETTINGS)))
      const whole = withKnownMethods(requestsOf([bytes], new HeadDecoder(SETTINGS)))
      assert.deepEqual(ours, whole, 'the pieces do not matter')
      const theirs = (await oracleRequests(server, text)).filter((each) => each !== null).map(pathOf)
      accepted += ours.length
      assert.deepEqual(ours, theirs.slice(0, ours.length))
    }),
    { numRuns: 20_000, interruptAfterTimeLimit: 8000, markInterruptAsFailure: false },
  )
  assert.ok(accepted > 100, 'the requests are not all refused')
})
