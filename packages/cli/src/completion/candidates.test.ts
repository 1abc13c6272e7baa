import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProgram } from '../program.js'
import { candidates, placeOf, takesFiles } from './candidates.js'

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
    '--output',
    '--help',
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

test('values follow an equals sign, and hidden options have values too', () => {
  assert.deepEqual(texts('start', '--log-sink=f'), ['--log-sink=file'])
  assert.deepEqual(texts('validate', '--output=', 'x'), [])
  assert.deepEqual(texts('diff', '-f', ''), [])
})

test('options of a command above are offered where they have an effect', () => {
  assert.deepEqual(texts('deploy', 'kubernetes', '--n'), ['--namespace', '--name', '--note'])
  assert.deepEqual(texts('deploy', 'kubernetes', '--ser'), [])
})

const FILES: readonly (readonly [line: string, takesFiles: boolean])[] = [
  ['validate ', true],
  ['validate -c ', true],
  ['validate --config=', true],
  ['validate -f ', true],
  ['validate -', false],
  ['deploy ', true],
  ['explain GET / ', true],
  ['explain ', false],
  ['start --tier ', false],
  ['logs search --dir ', true],
  ['plugin test ', true],
  ['routes show ', false],
  ['import openapi ', true],
  ['', false],
]

for (const [line, expected] of FILES) {
  test(`file names are ${expected ? '' : 'not '}offered for: gw ${line}`, () => {
    assert.equal(takesFiles(placeOf(createProgram(), line.split(' '))), expected)
  })
}
