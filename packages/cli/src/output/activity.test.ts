import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { showActivity } from './activity.js'

const MODULE = new URL('./activity.js', import.meta.url).href

/** Blocks its only thread until the line was written, as the check of a large document does. */
const BLOCKED = `import('${MODULE}').then(({ showActivity }) => {
  const activity = showActivity('checking a\\u001b[2Jb', 0)
  while (activity.lines() < 2);
  activity.end()
  process.stdout.write('result')
})`

const hasTerminal = spawnSync('script', ['--version']).status === 0
const skip =
  !hasTerminal && process.env['CI'] !== 'true' && 'script is not installed (apt-get install bsdutils)'

test('a terminal shows a line while the process is blocked, and the line is removed', { skip }, () => {
  const { stdout } = spawnSync('script', ['-qec', '"$NODE" -e "$CODE"', '/dev/null'], {
    encoding: 'utf8',
    env: { ...process.env, NODE: process.execPath, CODE: BLOCKED },
  })
  assert.match(stdout, /^(\r\u001b\[Kchecking a\\u\{1b\}\[2Jb, \ds){2,}\r\u001b\[Kresult/)
})

test('without a terminal, nothing is written', () => {
  const activity = showActivity('checking', 0)
  assert.equal(activity.lines(), 0)
  activity.end()
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', BLOCKED.replace(/ {2}while.*;\n/, '')], {
    encoding: 'utf8',
  })
  assert.deepEqual([stdout, stderr], ['result', ''])
})
