import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { RoutedExchange } from '@sluice/core'
import type { Route } from '../../flow/route.js'
import type { ClientStream } from '../../listen/listener.js'
import { Admission } from './admission.js'
import { WaitingRequest } from './waiting-request.js'

const PLAN = { maxLoopDelayMs: 100, maxInFlight: null, retryAfterMs: 1000 }
const [LOW, NORMAL, CRITICAL] = [0, 1, 2]
/** With it, the clients of these tests have different lanes. */
const SEED = 0.5

interface Asked {
  readonly client?: string
  readonly criticality?: number
  readonly bodyBytes?: number
  /** Processor time for serving it. */
  readonly costMs?: number
}

/** An admission with a test clock. Serving takes time, and so does refusing. */
class Trial {
  readonly admission: Admission
  readonly requests: WaitingRequest[] = []
  served: string[] = []
  refused: string[] = []
  dropped = 0
  #mono = 1000
  #cpuMs = 0

  constructor(t: TestContext, { maxLoopDelayMs = 100 } = {}) {
    t.mock.method(performance, 'now', () => this.#mono)
    this.admission = new Admission(() => ({ mono: this.#mono, cpuMs: this.#cpuMs }), SEED)
    this.admission.configure({ ...PLAN, maxLoopDelayMs })
    this.check()
  }

  work(ms: number): void {
    this.#mono += ms
    this.#cpuMs += ms
  }

  wait(ms: number): void {
    this.#mono += ms
  }

  check(): void {
    this.admission.onLoopCheck()
  }

  /** Makes the worker busy with requests of one millisecond each. */
  overload(): void {
    for (let i = 0; i < 41; i++) {
      assert.equal(this.ask(`early ${i}`), 'served')
      this.work(1)
    }
    this.check()
  }

  ask(name: string, { client = '', criticality = NORMAL!, bodyBytes = 0, costMs = 1 }: Asked = {}): string {
    const route = { id: 'all', criticality } as Route
    if (!this.admission.mustWait(route, this.#mono)) return 'served'
    const before = this.refused.length
    const x = { clientIp: client, contentLength: bodyBytes, startedMono: this.#mono } as RoutedExchange
    const stream = { owner: null, pauseBody() {}, resumeBody() {} } as unknown as ClientStream
    const request = new WaitingRequest(
      {
        serveWaiting: () => {
          this.served.push(name)
          this.work(costMs)
        },
        refuseWaiting: () => {
          this.refused.push(name)
          this.work(0.05)
        },
        dropWaiting: () => this.dropped++,
      },
      { route, x, client: stream, lease: { release() {} } },
    )
    this.requests.push(request)
    this.admission.add(request)
    return this.refused.length > before ? 'refused' : 'waits'
  }

  /** Runs turns of the event loop until nothing waits. */
  async run(): Promise<void> {
    while (this.admission.waiting > 0) await turn()
  }
}

test('requests are served at once, until a turn of the event loop is long', (t) => {
  const trial = new Trial(t)
  for (let i = 0; i < 39; i++) {
    assert.equal(trial.ask('a'), 'served')
    trial.work(1)
  }
  trial.check()
  assert.equal(trial.ask('b'), 'served')
  trial.work(41)
  assert.equal(trial.ask('c'), 'waits', 'the check itself is late')
})

test('waiting for a CPU does not make a process busy', (t) => {
  const trial = new Trial(t)
  for (let i = 0; i < 5; i++) {
    trial.wait(500)
    trial.work(20)
    assert.equal(trial.ask('a'), 'served')
    trial.check()
  }
})

test('waiting requests are served in slices, and clients take turns', async (t) => {
  const trial = new Trial(t)
  trial.overload()
  for (let i = 0; i < 40; i++) trial.ask(`a${i}`, { client: '10.0.0.1' })
  for (let i = 0; i < 3; i++) trial.ask(`b${i}`, { client: '10.0.0.2' })
  await turn()
  assert.ok(trial.served.length >= 3 && trial.served.length <= 16, String(trial.served))
  assert.deepEqual(trial.served.slice(0, 6), ['a0', 'b0', 'a1', 'b1', 'a2', 'b2'])
  await trial.run()
  assert.equal(trial.served.length, 43)
  assert.deepEqual(trial.refused, [])
})

test('a request that would wait for longer than maxLoopDelay is refused, sooner with low criticality', async (t) => {
  const trial = new Trial(t)
  trial.overload()
  const outcomes = (criticality: number, count: number): string[] =>
    Array.from({ length: count }, () => trial.ask('a', { criticality }))
  // A request costs 1 ms.
  assert.deepEqual(new Set(outcomes(NORMAL!, 79)), new Set(['waits']))
  assert.equal(trial.ask('low', { criticality: LOW! }), 'waits')
  trial.ask('low', { criticality: LOW! })
  trial.ask('low', { criticality: LOW! })
  outcomes(NORMAL!, 25)
  assert.equal(trial.ask('critical', { criticality: CRITICAL! }), 'served')
  await trial.run()
  assert.deepEqual(trial.refused.sort(), ['a', 'a', 'a', 'a', 'a', 'low'])
  assert.equal(trial.served.length, 101)
})

test('a client with few requests is served although others have filled the queue', async (t) => {
  const trial = new Trial(t)
  trial.overload()
  for (let i = 0; i < 150; i++) trial.ask('a', { client: '10.0.0.1' })
  assert.equal(trial.ask('b', { client: '10.0.0.2' }), 'waits')
  await trial.run()
  assert.equal(trial.served.indexOf('b'), 1)
  assert.equal(trial.refused.includes('b'), false)
})

test('refusals use a small share of the time while requests wait', async (t) => {
  const trial = new Trial(t)
  trial.overload()
  for (let i = 0; i < 1100; i++) trial.ask('a')
  const refusedAtOnce = trial.refused.length
  assert.ok(refusedAtOnce <= 1, `${refusedAtOnce} were refused at once`)
  while (trial.served.length < 90) await turn()
  // A refusal costs 0.1 ms, of which half is measured.
  assert.ok(trial.refused.length <= 150, `${trial.refused.length} were refused`)
  assert.ok(trial.refused.length >= 80, `${trial.refused.length} were refused`)
  await trial.run()
  assert.equal(trial.served.length + trial.refused.length, 1100)
})

test('a refusal counts more if its body has to be read', async (t) => {
  const trial = new Trial(t)
  trial.overload()
  for (let i = 0; i < 1100; i++) trial.ask('a', { bodyBytes: 50_000 })
  while (trial.served.length < 90) await turn()
  assert.ok(trial.refused.length < 80, `${trial.refused.length} were refused`)
})

test('a body that is not read does not delay refusals', async (t) => {
  const trial = new Trial(t)
  trial.overload()
  for (let i = 0; i < 1100; i++) trial.ask('a', { bodyBytes: 10 ** 15 })
  while (trial.served.length < 90) await turn()
  assert.ok(trial.refused.length >= 80, `${trial.refused.length} were refused`)
})

test('few requests of a worker that is busy with other work are not refused', async (t) => {
  const trial = new Trial(t)
  trial.overload()
  for (let i = 0; i < 20; i++) {
    trial.work(60)
    trial.ask('a')
    await turn()
  }
  for (let i = 0; i < 10; i++) assert.equal(trial.ask('b'), 'waits', String(i))
  await trial.run()
  assert.equal(trial.served.length, 30)
  assert.equal(trial.refused.length, 0)
})

test('an IPv6 client gets no more turns by using many addresses', async (t) => {
  const trial = new Trial(t)
  trial.overload()
  for (let i = 0; i < 60; i++) trial.ask(`a${i}`, { client: `2001:db8::${i.toString(16)}` })
  trial.ask('b', { client: '10.0.0.2' })
  await trial.run()
  assert.ok(trial.served.indexOf('b') <= 1, String(trial.served))
})

test('work during a time without limits does not count', (t) => {
  const trial = new Trial(t)
  trial.admission.configure({ ...PLAN, maxLoopDelayMs: 0 })
  trial.ask('a')
  trial.work(500)
  trial.check()
  trial.admission.configure(PLAN)
  trial.check()
  assert.equal(trial.ask('b'), 'served')
})

test('a client that leaves while it waits is neither served nor refused', async (t) => {
  const trial = new Trial(t)
  trial.overload()
  for (let i = 0; i < 150; i++) trial.ask(String(i))
  for (const i of [3, 140]) trial.requests[i]!.onClientAbort()
  await trial.run()
  assert.equal(trial.dropped, 2)
  assert.equal(trial.served.includes('3'), false)
  assert.equal(trial.refused.includes('140'), false)
  assert.equal(trial.served.length + trial.refused.length, 148)
})

test('requests no longer wait after a second in which each turn had time for all of them', async (t) => {
  const trial = new Trial(t)
  trial.overload()
  for (let i = 0; i < 100; i++) {
    trial.wait(11)
    trial.check()
    assert.equal(trial.ask('a', { costMs: 0 }), i < 90 ? 'waits' : 'served', String(i))
    await trial.run()
  }
})

test('maxLoopDelay 0 turns the queue off', (t) => {
  const trial = new Trial(t, { maxLoopDelayMs: 0 })
  for (let i = 0; i < 5; i++) {
    trial.work(1000)
    trial.check()
    assert.equal(trial.ask('a'), 'served')
  }
})

test('requests that wait count towards maxInFlight', (t) => {
  const trial = new Trial(t)
  trial.admission.configure({ ...PLAN, maxInFlight: 10 })
  trial.overload()
  for (let i = 0; i < 4; i++) trial.ask('a')
  const isRefused = (inFlight: number): boolean =>
    trial.admission.refusalOf({ criticality: NORMAL, cpuBudget: null } as Route, inFlight, 0) !== null
  assert.deepEqual([isRefused(5), isRefused(6)], [false, true])
})
