import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Asked, ask, wireTo } from '../../testing/asking.js'
import { until } from '../../testing/gateway.js'
import { type ScriptedConnection, scriptedOrigin } from '../../testing/scripted-origin.js'

// Whatever a target answers, in whatever pieces, and whichever requests are abandoned or paused: no request gets bytes
// of another, and every request that is not abandoned completes.

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 100)
const REQUESTS = 24

/** Framing of a response. The body says which request it belongs to. */
const FRAMINGS: Readonly<Record<string, (body: string) => string>> = {
  length: (body) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  chunked: (body) =>
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n${body.slice(0, 3)}\r\n` +
    `${(body.length - 3).toString(16)}\r\n${body.slice(3)}\r\n0\r\nX-Sum: 1\r\n\r\n`,
  hinted: (body) =>
    `HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  empty: () => 'HTTP/1.1 304 Not Modified\r\n\r\n',
  closing: (body) => `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  cut: (body) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length + 1}\r\n\r\n${body}`,
  garbage: () => 'garbage\r\n\r\n',
}
const ENDING = new Set(['closing', 'cut', 'garbage'])

/** Mostly valid responses: a target that always lies is soon not asked any more. */
const framing = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('length', 'chunked', 'hinted', 'empty') },
  { weight: 1, arbitrary: fc.constantFrom('closing', 'cut', 'garbage') },
)

const story = fc.record({
  framings: fc.array(framing, { minLength: 16, maxLength: 64 }),
  cuts: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 8, maxLength: 32 }),
  sizes: fc.array(fc.constantFrom(10, 40, 3000, 40_000), { minLength: 4, maxLength: 8 }),
  givenUp: fc.array(fc.nat(REQUESTS - 1), { maxLength: 5 }),
  paused: fc.array(fc.nat(REQUESTS - 1), { maxLength: 5 }),
  connections: fc.integer({ min: 1, max: 3 }),
})

/** The body that belongs to a path, and to no other. */
function bodyOf(path: string, size: number): string {
  return `${path};`.repeat(Math.ceil(size / (path.length + 1)))
}

/** Writes responses in pieces, one by one, and stops after one that closes. */
class Answers {
  readonly #cuts: readonly number[]
  readonly #waiting: { connection: ScriptedConnection; text: string; isLast: boolean }[] = []
  #isWriting = false
  #pieces = 0

  constructor(cuts: readonly number[]) {
    this.#cuts = cuts
  }

  add(connection: ScriptedConnection, text: string, isLast: boolean): void {
    this.#waiting.push({ connection, text, isLast })
    if (!this.#isWriting) void this.#write()
  }

  async #write(): Promise<void> {
    this.#isWriting = true
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const { socket } = next.connection
      const cut = this.#cuts[this.#pieces++ % this.#cuts.length]!
      if (socket.writable) socket.write(next.text.slice(0, cut))
      await new Promise((resolve) => setImmediate(resolve))
      if (socket.writable) socket.write(next.text.slice(cut))
      if (next.isLast) socket.end()
    }
    this.#isWriting = false
  }
}

test('no request gets bytes of another, and every request completes', async (t) => {
  await fc.assert(
    fc.asyncProperty(story, async ({ framings, cuts, sizes, givenUp, paused, connections }) => {
      const answers = new Answers(cuts)
      let answered = 0
      const origin = await scriptedOrigin(t, (connection, path) => {
        const nth = answered++
        const name = framings[nth % framings.length]!
        const body = bodyOf(path, sizes[nth % sizes.length]!)
        answers.add(connection, FRAMINGS[name]!(body), ENDING.has(name))
      })
      const transport = wireTo(t, origin.port, { connections })
      const asked: Asked[] = []
      for (let i = 0; i < REQUESTS; i++) {
        asked.push(ask(transport, `/${i}`))
        if (i % 7 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      for (const i of paused) {
        asked[i]!.onPiece = () => {
          asked[i]!.attempt!.pause()
          setImmediate(() => asked[i]!.attempt!.resume())
        }
      }
      for (const [order, i] of givenUp.entries()) {
        if (order % 2 === 0) asked[i]!.onPiece = () => asked[i]!.attempt!.abort()
        else setImmediate(() => asked[i]!.attempt!.abort())
      }
      await until(() => asked.every(({ end }, i) => end !== 'not yet' || givenUp.includes(i)), 20_000)
      for (const { path, body, end, status } of asked) {
        const whole = bodyOf(path, 50_000)
        assert.ok(whole.startsWith(body), `${path} got ${body.slice(0, 60)}`)
        if (end === 'complete' && status === 200) assert.ok(body.endsWith(';'), `${path} is cut`)
      }
      await transport.close()
      origin.stop()
    }),
    { numRuns: RUNS },
  )
})
