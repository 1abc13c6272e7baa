import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratchDir } from '../testing.js'
import { adoptOrphans } from './orphans.js'

test('directories that are no spool, such as that of the dead letters, stay where they are', () => {
  const root = scratchDir()
  for (const [dir, file] of [
    ['dead', 'a-0.ndjson'],
    ['traffic', 'traffic-0.ndjson'],
  ] as const) {
    mkdirSync(join(root, dir))
    writeFileSync(join(root, dir, file), '{}\n')
  }
  assert.deepEqual(adoptOrphans(root, 'me', Date.now()), { segments: [], damaged: 0, lost: 0, problem: '' })
  assert.deepEqual(readdirSync(root).sort(), ['dead', 'traffic'])
})
