import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeBundle } from '../testing/fake-plan.js'
import { type Assignment, type Participant, type Refusal, rollOut } from './rollout.js'

const assignment: Assignment = { epoch: 7, bundle: fakeBundle(), ports: {} }

/** A worker that records its calls, and refuses those that it is told to refuse. */
function participant(worker: number, journal: string[], refusals: Readonly<Record<string, string>> = {}) {
  const step = (name: string) => async (): Promise<Refusal> => {
    journal.push(`${worker} ${name}`)
    return refusals[name] ?? null
  }
  const fake: Participant = {
    worker,
    prepare: step('prepare'),
    activate: step('activate'),
    discard: step('discard'),
    kill: (reason) => journal.push(`${worker} kill: ${reason}`),
    exited: Promise.resolve(),
  }
  return fake
}

test('no worker activates before every worker has prepared', async () => {
  const journal: string[] = []
  const result = await rollOut(assignment, [participant(1, journal), participant(2, journal)])
  assert.deepEqual(result, { kind: 'activated' })
  assert.deepEqual(journal, ['1 prepare', '2 prepare', '1 activate', '2 activate'])
})

test('one refusal discards the bundle everywhere and says who refused and why', async () => {
  const journal: string[] = []
  const refusing = participant(2, journal, { prepare: 'certificate not readable' })
  const result = await rollOut(assignment, [participant(1, journal), refusing])
  assert.deepEqual(result, {
    kind: 'rolled-back',
    objections: [{ worker: 2, reason: 'certificate not readable' }],
  })
  assert.deepEqual(journal, ['1 prepare', '2 prepare', '1 discard', '2 discard'])
})

test('a worker that cannot discard a refused bundle is replaced', async () => {
  const journal: string[] = []
  const stuck = participant(1, journal, { discard: 'no answer' })
  await rollOut(assignment, [stuck, participant(2, journal, { prepare: 'no' })])
  assert.equal(journal.at(-1), '1 kill: no answer')
})

test('a worker that fails to activate after the vote is replaced, and the bundle stays active', async () => {
  const journal: string[] = []
  const broken = participant(2, journal, { activate: 'exited' })
  const result = await rollOut(assignment, [participant(1, journal), broken])
  assert.deepEqual(result, { kind: 'activated' })
  assert.deepEqual(journal.at(-1), '2 kill: exited')
})

test('a rollout without workers fails', async () => {
  assert.equal((await rollOut(assignment, [])).kind, 'rolled-back')
})
