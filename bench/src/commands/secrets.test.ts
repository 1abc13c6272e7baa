import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gw, origin, scratch, spawnGw, until } from '@sluice/cli/testing'
import { gwInProcess } from '@sluice/cli/testing/in-process'
import { engineOf } from '../engine/engines.js'
import { processesWith } from '../testing/processes.js'

/** Wherever a secret may stand, one of its own, so that a failure names the location. */
const SECRETS = ['s3cret-header', 's3cret-body', 's3cret-query', 's3cret-word', 's3cret-fragment']
const CALL = [
  ...['-H', 'x-note: s3cret-header', '--header=accept: s3cret-header'],
  ...['--data={"pin":"s3cret-body"}', '-X', 'PUT'],
]

/** Response time in milliseconds, so that two connections cause little load. */
const ANSWER_MS = 20

interface Seen {
  readonly url: string
  /** What it was asked: method, path, headers and body. */
  readonly asked: Set<string>
}

async function serve(t: TestContext): Promise<Seen> {
  const asked = new Set<string>()
  const url = await origin(t, (request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const { accept, 'x-note': note } = request.headers
      asked.add(`${request.method} ${request.url} ${note} ${accept} ${body}`)
      setTimeout(() => response.end('hello'), ANSWER_MS)
    })
  })
  return { url: `${url}/orders?id=s3cret-query&s3cret-word#s3cret-fragment`, asked }
}

const REAL = 'PUT /orders?id=s3cret-query&s3cret-word s3cret-header s3cret-header {"pin":"s3cret-body"}'

function assertNoSecret(text: string, where: string): void {
  for (const secret of SECRETS) assert.ok(!text.includes(secret), `${secret} is in ${where}`)
}

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

for (const engine of ['autocannon', 'wrk'] as const) {
  test(`a call goes out as it is, and its secrets are in nothing that is written or shown: ${engine}`, {
    skip: engineOf(engine).version() === null && `${engine} is not installed`,
  }, async (t) => {
    const { url, asked } = await serve(t)
    const cwd = scratch(t)
    const times = ['--seconds', '1', '--warm-up', '0', '--repetitions', '1', '--connections', '2']
    const load = ['--engine', engine, '--out', join(cwd, 'out'), ...times]
    const outcome = await gw(['bench', 'quick', ...load, ...CALL, url], { cwd })
    assert.equal(outcome.code, 0, outcome.stderr)
    assert.deepEqual([...asked], [REAL])
    const files = filesBelow(cwd)
    for (const name of ['summary.json', 'points.csv', 'report.html'])
      assert.ok(
        files.some((file) => file.endsWith(name)),
        name,
      )
    for (const file of files) assertNoSecret(file + readFileSync(file, 'utf8'), file)
    assertNoSecret(outcome.stdout + outcome.stderr, 'what is shown')
    const { command, points } = JSON.parse(readFileSync(join(cwd, 'out', 'summary.json'), 'utf8'))
    assert.match(command, /'x-note: \*\*\*' '--header=accept: \*\*\*' '--data=\*\*\*' .*\/orders\?id=\*\*\*&/)
    assert.equal(points[0].title, 'PUT /orders?id=***&***')
  })
}

for (const engine of ['autocannon', 'wrk'] as const) {
  test(`what comes from files is in the arguments of no process, and in no file that others may read: ${engine}`, {
    skip: engineOf(engine).version() === null && `${engine} is not installed`,
  }, async (t) => {
    const { url, asked } = await serve(t)
    const [cwd, temporary] = [scratch(t), scratch(t)]
    writeFileSync(join(cwd, 'headers'), 'x-note: s3cret-header\r\n\naccept: s3cret-header\n')
    writeFileSync(join(cwd, 'body'), '{"pin":"s3cret-body"}')
    const call = ['-H', '@headers', '--data', '@body', '-X', 'PUT', '--engine', engine]
    const words = ['bench', 'loadgen', url, '--seconds', '3', '--connections', '2', ...call]
    const running = spawnGw(t, words, { cwd, env: { TMPDIR: temporary } })
    await until(() => asked.size > 0, running.stderr)
    assert.deepEqual([...asked], [REAL])
    const below = processesWith(`TMPDIR=${temporary}`)
    assert.ok(below.length > 1)
    for (const pid of below) {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      // The URL is an argument of the command itself.
      assertNoSecret(
        pid === running.process.pid ? command.replace(url, '') : command,
        `the arguments of ${pid}`,
      )
    }
    for (const file of filesBelow(temporary)) assert.equal(statSync(file).mode & 0o777, 0o600, file)
    assert.equal(await running.exited, 0)
    assert.deepEqual(readdirSync(temporary), [])
  })
}

test('a load generator by itself shows no secret either, also where it cannot work', async (t) => {
  const { url, asked } = await serve(t)
  const good = await gw(['bench', 'loadgen', url, '--seconds', '1', '--connections', '2', ...CALL])
  assert.equal(good.code, 0, good.stderr)
  assert.deepEqual([...asked], [REAL])
  assert.match(good.stderr, /^PUT http:\S+\/orders\?id=\*\*\*&\*\*\*, 2 connections/)
  assertNoSecret(good.stdout + good.stderr, 'what is shown')
  const refused = [
    ['quick', 'u:s3cret-word@a/b'],
    ['quick', '//u:s3cret-word@a/b?s3cret-query'],
    ['quick', 'http://u:s3cret-word@a/'],
    ['quick', 'http://a b/?s3cret-query'],
    ['quick', 'http://a/', '-H', 's3cret-header'],
    ['run', 'smoke', '--target', 'http://u:s3cret-word@a/?s3cret-query'],
    ['run', 'smoke', '--target', 'http://a/?s3cret-query'],
  ]
  for (const words of refused) {
    const { code, stdout, stderr } = await gwInProcess(['bench', ...words])
    assert.equal(code, 64, stderr)
    assertNoSecret(stdout + stderr, `what ${words.join(' ')} shows`)
  }
})
