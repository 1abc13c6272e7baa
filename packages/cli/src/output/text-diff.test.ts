import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { unifiedDiff } from './text-diff.js'

const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 }).map((lines) => lines.join('\n'))

/** Applies a diff as `patch` does. */
function patched(before: string, diff: readonly string[]): string {
  const [old, result] = [before.split('\n'), [] as string[]]
  let next = 0
  for (const line of diff.slice(2)) {
    const from = /^@@ -(\d+),/.exec(line)?.[1]
    if (from !== undefined) while (next < Number(from) - 1) result.push(old[next++]!)
    else if (line.startsWith('+')) result.push(line.slice(1))
    else {
      assert.equal(line.slice(1), old[next])
      if (line.startsWith(' ')) result.push(line.slice(1))
      next++
    }
  }
  return [...result, ...old.slice(next)].join('\n')
}

test('the differences turn one text into the other', () => {
  fc.assert(
    fc.property(text, text, (before, after) =>
      assert.equal(patched(before, unifiedDiff(before, after, 'f')), after),
    ),
  )
})

test('equal texts have no differences, and very long ones are replaced', () => {
  assert.deepEqual(unifiedDiff('a', 'a', 'f'), [])
  const [before, after] = ['x\n'.repeat(3000), 'y\n'.repeat(3000)]
  assert.equal(patched(before, unifiedDiff(before, after, 'f')), after)
})
