import assert from 'node:assert/strict'
import type http from 'node:http'
import { type TestContext, test } from 'node:test'
import { STEERED_BODY } from '../contestant/steered-body.js'
import type { Trial, TrialPlan } from '../model/trial.js'
import { chaos } from '../suite/chaos.js'
import { soak } from '../suite/soak.js'
import { type Deed, nothingMore } from './deed.js'
import { DEEDS } from './deeds/deeds.js'
import { NOTHING_LOST } from './judgement.js'
import { answerWell, type SmallStage, smallStage } from './testing/small-stage.js'
import { runTrial } from './trial-run.js'

type Listener = (stage: SmallStage, request: http.IncomingMessage, response: http.ServerResponse) => void

const TIMES = { warmUpSeconds: 0.1, beforeSeconds: 0.3, duringSeconds: 0.5, afterSeconds: 0.6 }
const PLANS = [...chaos.trials!, ...soak.trials!]
/** Of a busy machine, which answers the rest in time. */
const LOAD = { saturationPerSecond: 1000, perSecond: 300 }
const IDLE: Deed = { begin: nothingMore, end: nothingMore, expects: () => NOTHING_LOST }

async function tried(t: TestContext, listener: Listener, deed = IDLE, id = 'target-change'): Promise<Trial> {
  const stage = await smallStage(t, listener)
  return triedOn(stage, deed, id)
}

function triedOn(stage: SmallStage, deed = IDLE, id = 'target-change'): Promise<Trial> {
  const plan: TrialPlan = { ...PLANS.find((one) => one.id === id)!, connections: 8 }
  return runTrial({ plan, deed, stage, times: TIMES, ...LOAD })
}

test('a gateway that answers all requests well passes', async (t) => {
  const { failures, statuses, requests } = await tried(t, (_, __, response) => answerWell(response))
  assert.deepEqual([failures, statuses], [[], { '200': requests }])
})

for (const id of ['target-change', 'elasticsearch-slow', 'soak'])
  test(`a gateway that ends kept connections with a request on them fails in ${id}`, async (t) => {
    const listener: Listener = (stage, request, response) => {
      if (stage.asked % 50 === 0) request.socket.end()
      else answerWell(response)
    }
    const stage = await smallStage(t, listener)
    // It may even be that the origin has not heard of them.
    Object.defineProperty(stage, 'reached', { get: () => stage.asked - Math.floor(stage.asked / 50) })
    const { failures } = await triedOn(stage, DEEDS.get(id)!(), id)
    assert.match(
      failures.join('\n'),
      /^\d+ requests on kept connections ended without an answer and were sent again, 0 may be$/m,
    )
  })

const FAULTS: readonly (readonly [string, Listener, RegExp])[] = [
  [
    'another body',
    (_, __, response) => response.end(STEERED_BODY.replace('f', 'g')),
    /^\d+ answers had another body than the origin sends$/,
  ],
  [
    'two answers to one request',
    (stage, _, response) => {
      answerWell(response)
      if (stage.asked === 20) response.socket!.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    },
    /^bytes that no request had asked for came 1 times$/,
  ],
  [
    'another good status',
    (stage, _, response) => {
      if (stage.asked === 20) response.statusCode = 202
      answerWell(response)
    },
    /^1 answers had the status 202, which none was to have$/,
  ],
]

for (const [what, listener, failure] of FAULTS)
  test(`a gateway that gives ${what} fails`, async (t) => {
    const { failures } = await tried(t, listener)
    assert.match(failures.join('\n'), failure)
  })

test('an origin that saw fewer requests than it has answered fails', async (t) => {
  const stage = await smallStage(t, (_, __, response) => answerWell(response))
  stage.reached = 10
  const { failures } = await triedOn(stage)
  assert.match(failures.join('\n'), /^\d+ answers of the origin arrived, which got 10 requests$/)
})

test('a trial whose load was not held, or that was stopped, is no result', async (t) => {
  const slow = await tried(t, (_, __, response) => void setTimeout(() => answerWell(response), 100))
  assert.deepEqual(slow.failures, [])
  assert.match(
    slow.invalid!.join(),
    /^only \d+ of 300 requests\/s were sent before it,.* during it,.* after it$/,
  )
  const stop = new AbortController()
  const stage = await smallStage(t, (_, __, response) => answerWell(response))
  const stopping: Deed = { ...IDLE, begin: async () => stop.abort() }
  const stopped = await triedOn({ ...stage, signal: stop.signal, origin: stage.origin }, stopping)
  assert.match(stopped.invalid!.join(), /^it was stopped after 0 of 1 s$/)
})

test('clients are well from when on they notice nothing to the end, not once they do for a while', async (t) => {
  let end = 0
  const since = (): number => (end === 0 ? 0 : performance.now() - end)
  const stage = await smallStage(t, (_, __, response) => {
    // The second of the windows of half a second.
    if (since() > 600 && since() < 900) response.statusCode = 503
    answerWell(response)
  })
  const ending: Deed = {
    ...IDLE,
    end: async () => {
      end = performance.now()
    },
  }
  const times = { ...TIMES, afterSeconds: 2.2 }
  const plan: TrialPlan = { ...PLANS[0]!, connections: 8 }
  const { recoveredSeconds } = await runTrial({ plan, deed: ending, stage, times, ...LOAD })
  assert.ok(recoveredSeconds! > 0.5, `well after ${recoveredSeconds} s, though it was not at 0.6 s`)
})

/** Loses requests on purpose, and is forgiven those of its time. */
const COSTLY: Deed = {
  ...IDLE,
  leadSeconds: 0.1,
  begin: () => new Promise((resolve) => setTimeout(resolve, 200)),
  expects: ({ connections }) => ({
    ...NOTHING_LOST,
    lostRequests: connections,
    sentAgain: connections,
    moreRequests: connections,
  }),
}

for (const [where, isForgiven] of [
  ['/before', false],
  ['/around', true],
  ['/after', false],
] as const)
  test(`what is lost of the requests for ${where} ${isForgiven ? 'may be' : 'has nothing to do with what is done'}`, async (t) => {
    let asked = 0
    const { failures, aside } = await tried(
      t,
      (_, request, response) => {
        if (request.url === where) asked++
        // Neither the first ones, whose connections are new, nor the last one.
        if (request.url === where && asked === 20) request.socket.end()
        else answerWell(response)
      },
      COSTLY,
    )
    const failure =
      '1 requests that had nothing to do with what was done ended without an answer and were sent again'
    assert.deepEqual(failures, isForgiven ? [] : [failure])
    assert.deepEqual(aside, { unanswered: 0, cutOff: isForgiven ? 0 : 1, missing: 0 })
  })
