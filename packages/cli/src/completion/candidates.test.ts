import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createProgram } from '../program.js'
import { gwInProcess } from '../testing/in-process.js'
import { candidates } from './candidates.js'

function texts(...words: readonly string[]): string[] {
  return candidates(createProgram(), words).map(({ text }) => text)
}

test('the first word is a command, and hidden ones are not offered', () => {
  assert.deepEqual(texts('sta'), ['start', 'status'])
  assert.ok(texts('').includes('validate'))
  assert.deepEqual(texts('__'), [])
})

test('commands have commands, also under another name', () => {
  assert.deepEqual(texts('routes', 's'), ['show'])
  assert.deepEqual(texts('route', 's'), ['show'])
  assert.deepEqual(texts('logs', 's'), ['search', 'show', 'stats'])
})

test('options are those of the command and of the program', () => {
  assert.deepEqual(texts('drain', '--'), [
    '--yes',
    '--help',
    '--version',
    '--server',
    '--token-file',
    '--quiet',
  ])
})

test('an option that waits for its value is offered its values', () => {
  assert.deepEqual(texts('start', '--tier', ''), ['W1', 'W2', 'W4', 'W8'])
  assert.deepEqual(texts('start', '--log-sink', 'f'), ['file'])
  assert.deepEqual(texts('validate', '-c', ''), [])
})

test('arguments with fixed values are offered them', () => {
  assert.deepEqual(texts('completion', ''), ['bash', 'zsh', 'fish'])
  assert.deepEqual(texts('completion', 'bash', ''), [])
  assert.deepEqual(texts('log-setup', 'e'), ['es', 'elasticsearch'])
})

test('every shell has a script', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await gwInProcess(['completion', shell])
    assert.equal(code, 0)
    assert.match(stdout, /gw __complete -- /)
  }
  assert.equal((await gwInProcess(['completion', 'tcsh'])).code, 64)
})

const hasBash = spawnSync('bash', ['-c', ':']).status === 0

test('bash completes with the script', { skip: !hasBash }, () => {
  const binary = fileURLToPath(new URL('../../bin/gw.mjs', import.meta.url))
  const script = `gw() { "$NODE" "$GW" "$@"; }
    source <(gw completion bash)
    complete -p gw
    COMP_WORDS=(gw start --tier W); COMP_CWORD=3; _gw_complete
    printf '%s\\n' "\${COMPREPLY[@]}"`
  const env = { ...process.env, NODE: process.execPath, GW: binary }
  const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8', env })
  assert.equal(stdout, 'complete -o default -F _gw_complete gw\nW1\nW2\nW4\nW8\n', stderr)
})
