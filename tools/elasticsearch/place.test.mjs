import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { elasticsearchHome, isInstalled, stampFile, wantedStamp } from './place.mjs'

test('an installation counts only when it was made from the archive and the plugin of this tree', (t) => {
  const home = join(scratch(t), 'home')
  assert.equal(isInstalled(home), false)
  mkdirSync(home)
  assert.equal(isInstalled(home), false)
  writeFileSync(stampFile(home), 'of another tree')
  assert.equal(isInstalled(home), false)
  writeFileSync(stampFile(home), wantedStamp())
  assert.equal(isInstalled(home), true)
})

test('SLUICE_CACHE_DIR says where the installation goes', (t) => {
  const before = process.env.SLUICE_CACHE_DIR
  t.after(() => {
    if (before === undefined) delete process.env.SLUICE_CACHE_DIR
    else process.env.SLUICE_CACHE_DIR = before
  })
  const folder = scratch(t)
  process.env.SLUICE_CACHE_DIR = folder
  assert.equal(elasticsearchHome(), join(folder, 'elasticsearch-8.19.21'))
})

function scratch(t) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-place-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
