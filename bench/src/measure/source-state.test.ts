import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sourceState } from './source-state.js'

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-source-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

function git(dir: string, ...args: readonly string[]): string {
  const person = ['-c', 'user.name=A Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false']
  const { status, stdout, stderr } = spawnSync('git', [...person, ...args], { cwd: dir, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return stdout.trim()
}

test('a checkout has its commit, and says whether a file that it knows was changed', (t) => {
  const dir = folder(t)
  git(dir, 'init', '--quiet')
  assert.equal(sourceState(dir), null, 'nothing is committed yet')
  writeFileSync(join(dir, 'code'), 'a')
  git(dir, 'add', 'code')
  git(dir, 'commit', '--quiet', '--message', 'first')
  const commit = git(dir, 'rev-parse', 'HEAD')
  writeFileSync(join(dir, 'results'), 'of a run')
  assert.deepEqual(sourceState(dir), { commit, isDirty: false })
  writeFileSync(join(dir, 'code'), 'b')
  assert.deepEqual(sourceState(dir), { commit, isDirty: true })
})

test('what lies in a checkout of somebody else, or in none, has no commit', (t) => {
  const dir = folder(t)
  assert.equal(sourceState(dir), null)
  const installed = join(dir, 'node_modules')
  mkdirSync(installed)
  git(dir, 'init', '--quiet')
  git(dir, 'commit', '--quiet', '--allow-empty', '--message', 'first')
  assert.notEqual(sourceState(dir), null)
  assert.equal(sourceState(installed), null)
})

test('where a hook of git runs us its variables do not name another repository', (t) => {
  const [hooked, dir] = [folder(t), folder(t)]
  for (const each of [hooked, dir]) {
    git(each, 'init', '--quiet')
    git(each, 'commit', '--quiet', '--allow-empty', '--message', each)
  }
  process.env['GIT_DIR'] = join(hooked, '.git')
  t.after(() => {
    delete process.env['GIT_DIR']
  })
  const state = sourceState(dir)
  delete process.env['GIT_DIR']
  assert.equal(state?.commit, git(dir, 'rev-parse', 'HEAD'))
})
