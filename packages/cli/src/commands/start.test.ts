import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { documentFor, fileWith, gw, scratch, startGateway, until } from '../testing.js'

const BINARY = fileURLToPath(new URL('../../bin/gw.mjs', import.meta.url))
const DOCUMENT = documentFor('http://127.0.0.1:9')

test('a document with mistakes does not start: all of them on stderr, exit 3', async (t) => {
  const file = fileWith(t, 'version: 1\nrutes: []\nworkers: many\n')
  const { code, stdout, stderr } = await gw(['start', '-c', file, '--data-dir', scratch(t)])
  assert.match(stderr, /^\S+:2:1: .*did you mean/m)
  assert.match(stderr, /^\S+:3:10: /m)
  assert.deepEqual([code, stdout], [3, ''])
})

test('flags are checked like the document', async (t) => {
  const file = fileWith(t, DOCUMENT)
  const run = (...args: string[]) => gw(['start', '-c', file, '--data-dir', scratch(t), ...args])
  const [listen, sink] = await Promise.all([run('--listen', 'nowhere'), run('--log-sink', 'elasticsearch')])
  assert.match(listen.stderr, /'nowhere' is not an address/)
  assert.match(sink.stderr, /needs log\.elasticsearch/)
  assert.deepEqual([listen.code, sink.code], [3, 3])
})

test('an address that is taken ends the start with 1', async (t) => {
  const gateway = await startGateway(t, DOCUMENT, ['--workers', '1'])
  const taken = new URL(gateway.admin).port
  const file = fileWith(
    t,
    DOCUMENT.replace('admin: { address: "127.0.0.1:0" }', `admin: { address: "127.0.0.1:${taken}" }`),
  )
  const { code, stderr } = await gw(['start', '-c', file, '--data-dir', scratch(t)])
  assert.match(stderr, new RegExp(`127.0.0.1:${taken} is in use`))
  assert.equal(code, 1)
})

test('ready is told with a line for each listener, and the flags count more than the document', async (t) => {
  const file = fileWith(t, DOCUMENT)
  const args = [
    'start',
    '-c',
    file,
    '--data-dir',
    scratch(t),
    '--workers',
    '1',
    '--tier',
    'W8',
    '--listen',
    '127.0.0.1:0',
  ]
  const child = spawn(process.execPath, [BINARY, ...args])
  t.after(() => child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const exit = new Promise((resolve) => child.once('close', resolve))
  await until(
    () => stdout.includes('admin API'),
    () => stderr,
  )
  assert.match(
    stdout,
    /^listening on http:\/\/127\.0\.0\.1:\d+ \(1 worker\)\nadmin API on http:\/\/127\.0\.0\.1:\d+\n$/,
  )
  for (const line of stderr.trimEnd().split('\n')) assert.equal(typeof JSON.parse(line).event, 'string', line)
  child.kill('SIGINT')
  assert.equal(await exit, 0)
})

test('a gateway outlives who reads its first line', async (t) => {
  const file = fileWith(t, DOCUMENT)
  const child = spawn(process.execPath, [
    BINARY,
    'start',
    '-c',
    file,
    '--data-dir',
    scratch(t),
    '--workers',
    '1',
  ])
  t.after(() => child.kill('SIGKILL'))
  child.stdout.destroy()
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const exit = new Promise((resolve) => child.once('close', resolve))
  await until(
    () => stderr.includes('config.applied'),
    () => stderr,
  )
  child.kill('SIGTERM')
  assert.equal(await exit, 0)
  assert.match(stderr, /"drain\.ended"/)
})
