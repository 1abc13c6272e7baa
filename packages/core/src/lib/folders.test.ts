import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeFolders } from './folders.js'

test('directories are created with their parents, with private mode, and only once', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'sluice-folders-'))
  t.after(() => rmSync(root, { recursive: true }))
  const folder = join(root, 'a', 'b', 'c')
  makeFolders(folder)
  makeFolders(folder)
  for (const one of [folder, join(root, 'a')]) assert.equal(statSync(one).mode & 0o777, 0o700)
  writeFileSync(join(root, 'file'), '')
  assert.throws(() => makeFolders(join(root, 'file')), { code: 'EEXIST' })
  assert.throws(() => makeFolders(join(root, 'file', 'a')), { code: 'ENOTDIR' })
})

test('a directory that cannot be created is an error', {
  skip: process.platform !== 'linux' && 'it has no /proc',
}, () => {
  assert.throws(() => makeFolders('/proc/sluice/data'), { code: 'ENOENT' })
})
