import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Progress } from './progress.js'

const CLEAR = '\r\u001b[K'

function shown(isTTY: boolean, use: (progress: Progress) => void, columns = 80): string {
  let text = ''
  use(new Progress({ isTTY, columns, write: (piece) => (text += piece) }))
  return text
}

function threeSteps(progress: Progress): void {
  progress.step(0, 2, 'W1 GET, 1 of 2', 130)
  progress.note('warning: not quiet')
  progress.step(1, 2, 'W1 GET, 2 of 2', 0.2)
  progress.step(2, 2, 'reports', 0)
  progress.end()
}

test('without a terminal, each step and remark is a separate line', () => {
  assert.equal(
    shown(false, threeSteps),
    '1/2 W1 GET, 1 of 2, 2m 10s left\nwarning: not quiet\n2/2 W1 GET, 2 of 2, 1s left\n2/2 reports\n',
  )
})

test('on a terminal, one line is updated below the remarks and removed at the end', () => {
  assert.equal(
    shown(true, threeSteps),
    [
      `${CLEAR}1/2 W1 GET, 1 of 2, 2m 10s left`,
      `${CLEAR}warning: not quiet\n1/2 W1 GET, 1 of 2, 2m 10s left`,
      `${CLEAR}2/2 W1 GET, 2 of 2, 1s left`,
      `${CLEAR}2/2 reports`,
      CLEAR,
    ].join(''),
  )
})

test('the line never wraps and contains no control characters', () => {
  const text = shown(true, (progress) => progress.step(0, 1, 'a\u001b[2Jb'.repeat(20), 5), 20)
  const line = text.slice(CLEAR.length)
  assert.equal([...line].length, 19)
  assert.ok(line.endsWith('…') && !line.includes('\u001b'))
})

test('a silent progress writes nothing', () => {
  threeSteps(new Progress(null))
})
