import assert from 'node:assert/strict'
import type http from 'node:http'
import { test } from 'node:test'
import { type Answer, type CacheBench, cacheBench, type SeenRequest } from '../testing/caching-gateway.js'
import { type CaseStep, storingCases } from '../testing/storing-cases.js'
import { validatingCases } from '../testing/validating-cases.js'

// Requirements of the public HTTP cache test suite for shared caches, and some of its optional checks, by its names.

const CASES = new Map([...storingCases, ...validatingCases])

/** A permissive configuration, because these tests check HTTP rules. */
const CONFIG = { heuristic: true, allow: { authorization: true, cookies: true, setCookie: true } }
const PAUSE_MS = 3000

/** An origin that plays the steps in turn. */
class Player {
  step: CaseStep = {}
  id = ''
  /** Response of the previous step, to recognize it in a condition. */
  #etag: string | undefined
  #modified: string | undefined

  begin(id: string, step: CaseStep): void {
    this.id = id
    this.step = step
  }

  answer(req: http.IncomingMessage, res: http.ServerResponse): void {
    const { step } = this
    if (step.isCut === true) {
      req.socket.destroy()
      return
    }
    const isSame =
      (step.expect === 'etag' && req.headers['if-none-match'] === this.#etag) ||
      (step.expect === 'lm' && req.headers['if-modified-since'] === this.#modified)
    res.statusCode = isSame ? 304 : (step.status ?? 200)
    res.sendDate = false
    for (const [name, value] of step.reply ?? []) {
      res.appendHeader(name, typeof value === 'string' ? value : dateIn(value))
    }
    this.#etag = res.getHeader('etag')?.toString() ?? this.#etag
    this.#modified = res.getHeader('last-modified')?.toString() ?? this.#modified
    res.end(isSame || res.statusCode === 204 ? undefined : (step.body ?? this.id))
  }
}

function dateIn(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toUTCString()
}

/** Returns what is wrong with a response, or null. */
function mistakeOf(step: CaseStep, answer: Answer, asked: readonly SeenRequest[]): string | null {
  const isAsked = asked.length > 0
  if (step.expect === 'hit' && isAsked) return 'does not come from the cache'
  if (step.expect === 'miss' && !isAsked) return 'comes from the cache'
  if (step.expect === 'etag' && asked[0]?.headers['if-none-match'] === undefined) return 'was not validated'
  if (step.expect === 'lm' && asked[0]?.headers['if-modified-since'] === undefined) return 'was not validated'
  const status =
    step.wantStatus ?? (step.expect === 'etag' || step.expect === 'lm' ? 200 : (step.status ?? 200))
  if (answer.status !== status) return `has status ${answer.status}, not ${status}`
  for (const [name, value] of step.want ?? []) {
    const got = [answer.headers[name]].flat().join(', ')
    if (got !== value) return `has ${name}: ${got}, not ${value}`
  }
  for (const name of step.missing ?? []) {
    const got = answer.headers[name]
    // The listener sets some of these itself.
    if (got !== undefined && String(got) !== 'keep-alive') return `has ${name}: ${String(got)}`
  }
  const age = Number(answer.headers.age ?? -1)
  if (step.minAge !== undefined && !(age > step.minAge)) return `has age ${age}`
  if (step.wantStatus === 206 && answer.text !== step.body) return `has body ${answer.text}`
  return null
}

test('cases of the public HTTP cache test suite', async (t) => {
  const player = new Player()
  const bench: CacheBench = await cacheBench(t, (req, res) => player.answer(req, res), CONFIG)
  // Moves only the clock that the cache reads. Timers and deadlines continue normally.
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const failed: string[] = []
  for (const [id, steps] of CASES) {
    for (const [i, step] of steps.entries()) {
      player.begin(id, step)
      const before = bench.seen.length
      const { method = 'GET', path = `/${id}`, send = {} } = step
      const headers = Object.fromEntries(
        Object.entries(send).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
      )
      const body = method === 'GET' ? {} : { body: 'abc' }
      const answer = await bench.ask(path, { method, headers, ...body })
      const mistake = mistakeOf(step, answer, bench.seen.slice(before))
      if (mistake !== null) {
        failed.push(`${id}: response ${i + 1} ${mistake}`)
        break
      }
      if (step.waits === true) t.mock.timers.tick(PAUSE_MS)
    }
  }
  assert.deepEqual(failed, [])
  assert.ok(CASES.size >= 252)
})
