import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createOperationLog } from '../telemetry/operation-log.js'
import type { StepTraceSession } from '../worker/messages.js'
import { type StepTraceEnd, StepTraces } from './step-traces.js'

const REQUEST = { route: null, when: null, count: 2, forMs: 600_000 }

/** Starts a session on workers of the test, of which one does not answer and the other has lost three requests. */
function started(t: TestContext) {
  const published: number[][] = []
  const workers = {
    setStepTraces: async (sessions: readonly StepTraceSession[]) => {
      published.push(sessions.map(({ id }) => id))
      return sessions.length === 0 ? [null, [[1, 3] as const]] : [null, []]
    },
    onStepTrace: (_session: number, _trace: string): void => {},
  }
  const traces = new StepTraces(workers, createOperationLog({ write: () => {} }))
  t.after(() => traces.close())
  const received: string[] = []
  let isSlow = false
  let onEnd: (end: StepTraceEnd) => void = () => {}
  const ended = new Promise<StepTraceEnd>((resolve) => {
    onEnd = resolve
  })
  const armed = new Promise<() => void>((resolve) => {
    const stop = traces.start(REQUEST, 'test', {
      onArmed: () => resolve(stop),
      onTrace: (trace) => {
        if (!isSlow) received.push(trace)
        return !isSlow
      },
      onEnd,
    })
  })
  const setSlow = (value: boolean): void => {
    isSlow = value
  }
  return { workers, traces, published, received, ended, armed, setSlow }
}

test('a session ends with its count, and tells what was lost', async (t) => {
  const { workers, received, ended, armed, setSlow, published } = started(t)
  await armed
  workers.onStepTrace(1, 'a')
  setSlow(true)
  workers.onStepTrace(1, 'b')
  setSlow(false)
  workers.onStepTrace(7, 'of another session')
  workers.onStepTrace(1, 'c')
  workers.onStepTrace(1, 'd')
  assert.deepEqual(await ended, { reason: 'count', traces: 2, lost: 4 })
  assert.deepEqual(received, ['a', 'c'])
  assert.deepEqual(published, [[1], []])
})

test('a stopped session disarms the workers once and has no end', async (t) => {
  const { workers, received, armed, traces, published } = started(t)
  const stop = await armed
  stop()
  stop()
  workers.onStepTrace(1, 'a')
  assert.deepEqual([received, published, traces.hasRoom], [[], [[1], []], true])
})

test('sessions end when the gateway stops', async (t) => {
  const { traces, ended, armed } = started(t)
  await armed
  traces.close()
  assert.equal((await ended).reason, 'stopped')
})
