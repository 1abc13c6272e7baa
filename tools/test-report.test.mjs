import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { TestReport } from './test-report.mjs'

/** A report of a file with one failure, of a test that `place` has called `test` for. */
function reportOf(place, files) {
  const report = new TestReport()
  const error = { failureType: 'testCodeFailure', cause: new Error('no') }
  for (const file of files) {
    const at = { nesting: 0, file: resolve(place) }
    report.take({ type: 'test:fail', data: { ...at, name: 'a', details: { duration_ms: 1, error } } })
    const ended = { nesting: 0, name: file, file: resolve(file), details: { duration_ms: 1, passed: false } }
    report.take({ type: 'test:complete', data: ended })
  }
  return report
}

test('the file that runs once more is the one that failed, though a helper calls test for it', () => {
  const report = reportOf('packages/a/src/helper.ts', ['packages/a/dist/a.test.js'])
  assert.deepEqual(report.failedFiles, ['packages/a/dist/a.test.js'])
  report.forgive('packages/a/dist/a.test.js')
  assert.deepEqual([report.failed, report.flaky], [0, 1])
})

test('what helpers called test for stays a failure until every file has passed', () => {
  const [first, second] = ['packages/a/dist/a.test.js', 'packages/a/dist/b.test.js']
  const report = reportOf('packages/a/src/helper.ts', [first, second])
  report.forgive(first)
  assert.deepEqual([report.failed, report.flaky], [2, 0])
  report.forgive(second)
  assert.deepEqual([report.failed, report.flaky], [0, 2])
})

test('the failure of a test stands under its own file', () => {
  const report = reportOf('packages/a/src/a.test.ts', ['packages/a/dist/a.test.js'])
  report.forgive('packages/a/dist/a.test.js')
  assert.deepEqual([report.failed, report.flaky, report.failedFiles], [0, 1, []])
})
