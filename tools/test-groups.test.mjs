import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { programsOf } from './test-groups.mjs'

/** Writes test files with the given texts. Returns their paths and a folder for the groups. */
function written(t, texts) {
  const temporary = mkdtempSync(join(tmpdir(), 'groups-'))
  t.after(() => rmSync(temporary, { recursive: true }))
  const folder = join(temporary, 'packages/core/dist')
  mkdirSync(folder, { recursive: true })
  const files = texts.map((_, i) => join(folder, `${i}.test.js`))
  for (const [i, file] of files.entries()) writeFileSync(file, texts[i])
  return { files, folder: join(temporary, 'groups') }
}

test('files that start no process share one', (t) => {
  const { files, folder } = written(t, Array(13).fill("import assert from 'node:assert/strict'"))
  const programs = programsOf(files, folder)
  const [first, last] = [programs.get(files[0]), programs.get(files[12])]
  assert.equal(programs.get(files[11]), first)
  assert.notEqual(last, first)
  assert.equal(readFileSync(first, 'utf8').match(/^import/gm).length, 12)
})

test('files that start processes or change their own run alone', (t) => {
  const { files, folder } = written(t, [
    "import { spawn } from 'node:child_process'",
    "process.env['A'] = '1'",
    "import { startElasticsearch } from './testing.js'",
  ])
  const programs = programsOf(files, folder)
  for (const file of files) assert.equal(programs.get(file), file)
})
