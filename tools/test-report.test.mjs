import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { TestReport } from './test-report.mjs'

/** Returns a report and the lines that it prints. */
function printedReport(t, programs) {
  const lines = []
  t.mock.method(console, 'log', (text) => lines.push(text))
  return { report: new TestReport(programs), lines }
}

const at = { nesting: 0, file: resolve('packages/a/src/a.test.ts'), line: 7 }
const error = { failureType: 'testCodeFailure', cause: new Error('no answer') }
const FILE = 'packages/a/dist/a.test.js'
const failure = { type: 'test:fail', data: { ...at, name: 'it answers', details: { error } } }
const output = { type: 'test:stderr', data: { file: resolve(FILE), message: 'a warning\n' } }

/** Returns the event at the end of a file. */
function completed(file, ms) {
  const details = { duration_ms: ms, passed: true }
  return { type: 'test:complete', data: { nesting: 0, name: file, file: resolve(file), details } }
}

test('a failure names its file, its test, the reason and the output of the file', (t) => {
  const { report, lines } = printedReport(t)
  for (const event of [failure, output]) report.take(event)
  report.close()
  assert.equal(report.failed, 1)
  const text = lines.slice(lines.indexOf(`\n✖ ${FILE}`)).join('\n')
  assert.match(text, /✖ it answers {2}packages\/a\/src\/a\.test\.ts:7/)
  assert.match(text, /Error: no answer/)
  assert.match(text, /a warning/)
})

test('nothing is printed for tests that pass, until the slowest files at the end', (t) => {
  const { report, lines } = printedReport(t)
  report.take({ type: 'test:pass', data: { ...at, name: 'a', details: {} } })
  report.take(output)
  for (let i = 1; i <= 12; i++) report.take(completed(`packages/a/dist/${i}.test.js`, i * 1000))
  assert.deepEqual(lines, [])
  report.close()
  assert.deepEqual([report.passed, report.failed], [1, 0])
  assert.deepEqual(
    [lines.length, lines[1], lines.at(-1)],
    [11, '  12.0 s  packages/a/dist/12.test.js', '   3.0 s  packages/a/dist/3.test.js'],
  )
})

test('the tests of a file in a group are added up, and a failure shows the output of the group', (t) => {
  const group = 'node_modules/.cache/group-1.mjs'
  const { report, lines } = printedReport(t, new Map([[FILE, group]]))
  const ended = { type: 'test:complete', data: { ...at, name: 'it answers', details: { duration_ms: 2000 } } }
  for (const event of [ended, ended, completed(group, 9000), failure]) report.take(event)
  report.take({ type: 'test:stdout', data: { file: resolve(group), message: 'started\n' } })
  lines.length = 0
  report.close()
  assert.deepEqual(lines.slice(0, 2), ['the slowest files:', `   4.0 s  ${FILE}`])
  assert.match(lines.join('\n'), /output of node_modules\/\.cache\/group-1\.mjs:\n {4}started/)
})

test('skipped tests are counted by their reason', (t) => {
  const { report, lines } = printedReport(t)
  for (const name of ['a', 'b'])
    report.take({ type: 'test:pass', data: { ...at, name, skip: 'needs helm', details: {} } })
  report.close()
  assert.deepEqual([report.skipped, lines.at(-1)], [2, '↷ 2 skipped: needs helm'])
})
