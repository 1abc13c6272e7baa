import assert from 'node:assert/strict'
import type http from 'node:http'
import { type TestContext, test } from 'node:test'
import type { Trial, TrialPlan } from '../model/trial.js'
import { FAULT_ORIGIN_BODY } from '../servers/fault-origin.js'
import { chaos, soak } from '../suite/trials.js'
import { answerWell, type SmallSetup, smallSetup } from '../testing/small-setup.js'
import type { Fault } from './fault.js'
import { FAULTS } from './faults.js'
import { runTrial } from './trial-run.js'

type Listener = (setup: SmallSetup, request: http.IncomingMessage, response: http.ServerResponse) => void

const TIMES = { warmUpSeconds: 0.1, seconds: 1.5 }
const PLANS = [...chaos.trials!, ...soak.trials!]
const STOP = new AbortController()
/** Of a busy machine, which answers the rest in time. */
const LOAD = { saturationPerSecond: 1000, perSecond: 300 }
const IDLE: Fault = { begin: async () => {} }

async function tried(t: TestContext, listener: Listener, fault = IDLE, id = 'target-change'): Promise<Trial> {
  const setup = await smallSetup(t, listener)
  return triedOn(setup, fault, id)
}

function triedOn(setup: SmallSetup, fault = IDLE, id = 'target-change', times = TIMES): Promise<Trial> {
  const plan: TrialPlan = { ...PLANS.find((one) => one.id === id)!, connections: 8 }
  return runTrial({ plan, fault, setup, signal: STOP.signal, ...times, ...LOAD })
}

test('a gateway that answers all requests well passes', async (t) => {
  const { failures, statuses, requests } = await tried(t, (_, __, response) => answerWell(response))
  assert.deepEqual([failures, statuses], [[], { '200': requests }])
})

for (const id of ['target-change', 'elasticsearch-slow', 'soak'])
  test(`a gateway that ends kept connections with a request on them fails in ${id}`, async (t) => {
    const listener: Listener = (setup, request, response) => {
      if (setup.asked % 50 === 0) request.socket.end()
      else answerWell(response)
    }
    const setup = await smallSetup(t, listener)
    // It may even be that the origin has not heard of them.
    Object.defineProperty(setup, 'reached', { get: () => setup.asked - Math.floor(setup.asked / 50) })
    const { failures } = await triedOn(setup, FAULTS[id]!(), id)
    assert.match(
      failures.join('\n'),
      /^\d+ requests on kept-alive connections had no response and were sent again, 0 are allowed$/m,
    )
  })

const WRONG: readonly (readonly [string, Listener, RegExp])[] = [
  [
    'another body',
    (_, __, response) => response.end(FAULT_ORIGIN_BODY.replace('f', 'g')),
    /^\d+ responses had an unexpected body$/,
  ],
  [
    'two answers to one request',
    (setup, _, response) => {
      answerWell(response)
      if (setup.asked === 20) response.socket!.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    },
    /^unexpected bytes arrived 1 times$/,
  ],
  [
    'another good status',
    (setup, _, response) => {
      if (setup.asked === 20) response.statusCode = 202
      answerWell(response)
    },
    // On a busy machine it may also come behind the warm-up, which is a failure more.
    /^1 responses had the unexpected status 202$/m,
  ],
]

for (const [what, listener, failure] of WRONG)
  test(`a gateway that gives ${what} fails`, async (t) => {
    const { failures } = await tried(t, listener)
    assert.match(failures.join('\n'), failure)
  })

test('an origin that saw fewer requests than it has answered fails', async (t) => {
  const setup = await smallSetup(t, (_, __, response) => answerWell(response))
  setup.reached = 10
  const { failures } = await triedOn(setup)
  assert.match(failures.join('\n'), /^\d+ responses of the origin arrived for 10 requests$/)
})

test('a trial whose load was not held, or that was stopped, is no result', async (t) => {
  const slow = await tried(t, (_, __, response) => void setTimeout(() => answerWell(response), 100))
  assert.deepEqual(slow.failures, [])
  assert.match(
    slow.invalid.join(),
    /^only \d+ of 300 requests\/s were sent before it,.* during it,.* after it$/,
  )
  const stop = new AbortController()
  const setup = await smallSetup(t, (_, __, response) => answerWell(response))
  const stopping: Fault = { begin: async () => stop.abort() }
  const plan: TrialPlan = { ...PLANS[0]!, connections: 8 }
  const options = { plan, fault: stopping, setup, signal: stop.signal, ...TIMES, ...LOAD }
  assert.match((await runTrial(options)).invalid.join(), /^it was stopped after 0 s$/)
})
