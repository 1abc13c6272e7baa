import assert from 'node:assert/strict'
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gwInProcess } from '../testing/in-process.js'
import { scratch } from '../testing.js'

const ROUGH = 'version:   1\n# a\nworkers: 2\nadmin:\n    ui: true\n    address: "127.0.0.1:9901"\n'
const NEAT = 'version: 1\nadmin:\n  address: 127.0.0.1:9901\n  ui: true\n# a\nworkers: 2\n'

function filesOf(t: TestContext): { readonly cwd: string; readonly read: (name: string) => string } {
  const cwd = scratch(t)
  writeFileSync(join(cwd, 'rough.yaml'), ROUGH, { mode: 0o640 })
  writeFileSync(join(cwd, 'neat.yaml'), NEAT)
  writeFileSync(join(cwd, 'broken.yaml'), 'a: [1\nb: 2\n')
  return { cwd, read: (name) => readFileSync(join(cwd, name), 'utf8') }
}

test('files are formatted in place and keep their permissions and links', async (t) => {
  const { cwd, read } = filesOf(t)
  symlinkSync('rough.yaml', join(cwd, 'link.yaml'))
  const result = await gwInProcess(['fmt', 'link.yaml', 'neat.yaml'], { cwd })
  assert.deepEqual(result, { stdout: '', stderr: '1 file formatted\n', code: 0 })
  assert.equal(read('rough.yaml'), NEAT)
  assert.equal(statSync(join(cwd, 'rough.yaml')).mode & 0o777, 0o640)
  assert.equal(readFileSync(join(cwd, 'link.yaml'), 'utf8'), NEAT)
})

test('--check lists the files, and --diff shows the lines, without changing anything', async (t) => {
  const { cwd, read } = filesOf(t)
  const check = await gwInProcess(['fmt', '--check', 'rough.yaml', 'neat.yaml'], { cwd })
  assert.deepEqual([check.stdout, check.code], ['rough.yaml\n', 2])
  assert.equal((await gwInProcess(['fmt', '--check', 'neat.yaml'], { cwd })).code, 0)
  const diff = await gwInProcess(['fmt', '--diff', 'rough.yaml'], { cwd })
  assert.equal(diff.code, 2)
  assert.deepEqual(diff.stdout.split('\n').slice(0, 7), [
    '--- rough.yaml',
    '+++ rough.yaml',
    '@@ -1,7 +1,7 @@',
    '-version:   1',
    '+version: 1',
    '+admin:',
    '+  address: 127.0.0.1:9901',
  ])
  assert.equal(read('rough.yaml'), ROUGH)
})

test('stdin is formatted to stdout', async () => {
  assert.deepEqual(await gwInProcess(['fmt', '-'], { stdin: ROUGH }), { stdout: NEAT, stderr: '', code: 0 })
  assert.equal((await gwInProcess(['fmt', '-', '--check'], { stdin: ROUGH })).code, 2)
})

test('a file with a mistake is named with its position, and the others are formatted', async (t) => {
  const { cwd, read } = filesOf(t)
  const { stderr, code } = await gwInProcess(['fmt', 'broken.yaml', 'rough.yaml'], { cwd })
  assert.equal(code, 3)
  assert.match(stderr, /^broken\.yaml:\d+:\d+: invalid YAML/)
  assert.equal(read('rough.yaml'), NEAT)
  assert.match(
    (await gwInProcess(['fmt', 'none.yaml'], { cwd })).stderr,
    /cannot read the document 'none\.yaml'/,
  )
})

test('a new project is formatted and has no findings', async (t) => {
  const cwd = scratch(t)
  assert.equal((await gwInProcess(['init', 'shop'], { cwd })).code, 0)
  const { stdout, code } = await gwInProcess(['fmt', '--diff', 'shop/gateway.yaml'], { cwd })
  assert.deepEqual([stdout, code], ['', 0])
  assert.equal((await gwInProcess(['lint', 'shop/gateway.yaml'], { cwd })).code, 0)
})
