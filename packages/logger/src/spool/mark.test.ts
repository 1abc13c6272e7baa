import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratchDir, until } from '../testing.js'
import { Mark, takeLost } from './mark.js'

const OWNER = '0123abcd-m0-1-abcdef'

test('the last of several counts of the request path is what an heir finds', async () => {
  const root = scratchDir()
  const mark = new Mark(root, OWNER, false)
  mark.set(3, 3)
  for (const encoded of [5, 7, 9]) mark.noteEncoded(encoded)
  await until(() => encodedIn(root) === 9, 'the last count is there')
  mark.close()
  assert.equal(takeLost(root, OWNER), 6)
  assert.equal(takeLost(root, OWNER), 0)
})

test('a mark that is let go while a count is written takes no more of them', async () => {
  const root = scratchDir()
  const mark = new Mark(root, OWNER, false)
  mark.noteEncoded(5)
  mark.close()
  mark.noteEncoded(9)
  await until(() => encodedIn(root) === 5, 'what was under way is there')
  assert.equal(takeLost(root, OWNER), 5)
})

function encodedIn(root: string): number {
  const bytes = readFileSync(join(root, `${OWNER}.mark`))
  return bytes.length < 24 ? 0 : bytes.readDoubleLE(16)
}
