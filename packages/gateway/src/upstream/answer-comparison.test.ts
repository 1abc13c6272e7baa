import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerComparison, type AnswerDifference, type AnswerSide } from './answer-comparison.js'
import { ReceivedHead } from './transport/received-head.js'

const PLAN = { headers: [], json: true, maxBodyBytes: 1_000_000 }

interface Bench {
  readonly comparison: AnswerComparison
  readonly found: (AnswerDifference | null)[]
}

function bench(timeoutMs = 60_000): Bench {
  const found: (AnswerDifference | null)[] = []
  return { comparison: new AnswerComparison(PLAN, timeoutMs, (one) => found.push(one)), found }
}

function answer(side: AnswerSide, body: string): void {
  side.setHead(new ReceivedHead(200, ['content-type', 'application/json']))
  side.add(Buffer.from(body))
  side.end()
}

/** The paths where two bodies differ. */
function pathsOf(mine: string, other: string): readonly string[] {
  const { comparison, found } = bench()
  answer(comparison.delivered, mine)
  answer(comparison.mirrored, other)
  assert.equal(found.length, 1)
  return found[0]?.body ?? []
}

test('paths are few and short, whatever the keys are', () => {
  assert.deepEqual(pathsOf('{"a/b~":1,"c":[1,2]}', '{"a/b~":2,"c":[1,3,4]}'), ['/a~1b~0', '/c/1', '/c/2'])
  assert.deepEqual(pathsOf('{"__proto__":{"a":1}}', '{}'), ['/__proto__'])
  const keys = (value: number) =>
    JSON.stringify(Object.fromEntries([...'abcdefghijklmnop'].map((key) => [key.repeat(10_000), value])))
  const paths = pathsOf(keys(1), keys(2))
  assert.equal(paths.length, 10)
  for (const path of paths) assert.ok(path.length <= 201)
})

test('bodies that are deep or wide are compared without an error', () => {
  const deep = (last: string) => '['.repeat(400_000) + last + ']'.repeat(400_000)
  assert.deepEqual(pathsOf(deep('1'), deep('2')), [])
  const wide = (last: string) => `[${'1,'.repeat(400_000)}${last}]`
  assert.deepEqual(pathsOf(wide('1'), wide('2')), ['/400000'])
})

test('the comparison ends once if one response fails', () => {
  for (const side of ['delivered', 'mirrored'] as const) {
    const { comparison, found } = bench()
    comparison[side].fail()
    answer(comparison.delivered, '1')
    answer(comparison.mirrored, '2')
    assert.deepEqual(found, [null])
  }
})

test('the comparison ends after its timeout, even if a client is gone', async () => {
  const found = await new Promise((resolve) => {
    const comparison = new AnswerComparison(PLAN, 1, resolve)
    answer(comparison.mirrored, '1')
    setTimeout(() => {}, 60_000).unref()
  })
  assert.equal(found, null)
})
