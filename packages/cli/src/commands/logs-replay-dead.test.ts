import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gwInProcess } from '../testing/in-process.js'
import { RecordReceiver } from '../testing/record-receiver.js'
import { closedPort, fileWith, gw, scratch, spawnGw, startGateway, until } from '../testing.js'

const documentFor = (url: string, spool: string): string => `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 1
routes: [{ id: all, match: { path: /* }, respond: { status: 200 } }]
log: { sink: webhook, webhook: { url: "${url}", spool: { dir: ${spool} } } }
`

function letter(id: string, record: object = { id }): string {
  const why = { status: 400, type: 'request_refused', reason: 'it says ,"record": no' }
  return `${JSON.stringify({ '@timestamp': '2026-01-01T00:00:00Z', id, ...why }).slice(0, -1)},"record":${JSON.stringify(record)}}\n`
}

function lettersIn(spool: string): { readonly id: string; readonly reason: string }[] {
  const dir = join(spool, 'dead')
  const text = readdirSync(dir).map((file) => readFileSync(join(dir, file), 'utf8'))
  return text
    .join('')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
}

const idsOf = (lines: readonly string[]): unknown[] => lines.map((line) => JSON.parse(line).id).sort()

test('what a target refused is delivered again while the gateway goes on refusing and burying', async (t) => {
  const target = await RecordReceiver.start(t)
  const spool = join(scratch(t), 'spool')
  target.refuses = () => true
  const gateway = await startGateway(t, documentFor(target.url, spool))
  const replay = (...flags: string[]) => gw(['logs', 'replay-dead', '-c', gateway.config, ...flags])
  const call = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) await (await fetch(gateway.url)).arrayBuffer()
  }
  const dead = async (): Promise<number> =>
    ((await (await fetch(`${gateway.admin}/v1/log`)).json()) as { dead: number }).dead
  await call(5)
  await until(async () => (await dead()) === 5)
  const dry = await replay('--dry-run')
  assert.match(dry.stdout, /^target +refused with +records\nmain +400 \S+ +5\n$/)
  assert.equal(lettersIn(spool).length, 5)

  const again = await replay()
  assert.deepEqual([again.code, again.stdout], [2, 'main: 0 delivered, 5 refused again\n'], again.stderr)
  assert.equal(lettersIn(spool).length, 5)

  await call(3)
  await until(async () => (await dead()) === 8)
  target.refuses = () => false
  const done = await replay('-o', 'json')
  assert.equal(done.code, 0, done.stderr)
  assert.deepEqual(JSON.parse(done.stdout).targets[0].delivered, 8)
  assert.equal(new Set(idsOf(target.lines)).size, 8)
  assert.deepEqual(lettersIn(spool), [])
  assert.match((await replay()).stdout, /^main: 0 delivered, 0 refused again\n$/)
})

test('a record that is refused again stays with the new reason, and damaged lines stay as they are', async (t) => {
  const target = await RecordReceiver.start(t)
  const spool = scratch(t)
  mkdirSync(join(spool, 'dead'))
  const file = join(spool, 'dead', 'someone-0.ndjson')
  const long = { id: 'long', text: 'x'.repeat(700_000) }
  writeFileSync(file, `${letter('a')}half a lin\n${letter('long', long)}${letter('bad')}${letter('b')}`)
  writeFileSync(join(spool, 'dead', 'notes.txt'), 'of an operator')
  target.refuses = (line) => line.includes('"bad"')
  const config = fileWith(t, documentFor(target.url, spool))
  const { code, stdout } = await gwInProcess(['logs', 'replay-dead', '-c', config])
  assert.deepEqual([code, stdout], [2, 'main: 3 delivered, 1 refused again, 1 damaged line kept\n'])
  assert.deepEqual(idsOf(target.lines), ['a', 'b', 'long'])
  const [kept] = lettersIn(spool)
  assert.equal(kept?.id, 'bad')
  assert.notEqual(kept?.reason, 'it says ,"record": no')
  const texts = readdirSync(join(spool, 'dead')).map((name) =>
    readFileSync(join(spool, 'dead', name), 'utf8'),
  )
  assert.ok(texts.includes('half a lin\n') && texts.includes('of an operator'))
})

test('a target that does not answer leaves every letter where it is', async (t) => {
  const spool = scratch(t)
  mkdirSync(join(spool, 'dead'))
  writeFileSync(join(spool, 'dead', 'someone-0.ndjson'), letter('a') + letter('b'))
  const config = fileWith(t, documentFor(`http://127.0.0.1:${await closedPort()}/`, spool))
  const { code, stdout, stderr } = await gwInProcess(['logs', 'replay-dead', '-c', config])
  assert.deepEqual([code, stdout], [5, 'main: 0 delivered, 0 refused again, 2 remaining\n'])
  assert.match(stderr, /cannot connect to \S+: connection refused/)
  assert.deepEqual(
    lettersIn(spool)
      .map(({ id }) => id)
      .sort(),
    ['a', 'b'],
  )
})

test('a replay that is killed leaves what it has not delivered to the next, and what comes in meanwhile', async (t) => {
  const target = await RecordReceiver.start(t)
  const spool = scratch(t)
  mkdirSync(join(spool, 'dead'))
  const file = join(spool, 'dead', 'someone-0.ndjson')
  // Several deliveries.
  const records = Array.from({ length: 3000 }, (_, i) => ({ id: `r${i}`, text: 'x'.repeat(500) }))
  writeFileSync(file, records.map((record) => letter(record.id, record)).join(''))
  const config = fileWith(t, documentFor(target.url, spool))
  const first = spawnGw(t, ['logs', 'replay-dead', '-c', config])
  let requests = 0
  target.onRequest = () => {
    if (++requests === 2) {
      first.process.kill('SIGKILL')
      // A gateway goes on under the name that the replay has taken away.
      appendFileSync(file, letter('late'))
    }
  }
  await first.exited
  target.onRequest = () => {}
  const before = target.lines.length
  assert.ok(before < 3000)
  const { code, stdout } = await gwInProcess(['logs', 'replay-dead', '-c', config])
  assert.equal(code, 0)
  // At most the delivery that was under way is repeated.
  const delivered = Number(/(\d+) delivered/.exec(stdout)?.[1])
  assert.ok(delivered < 3001, stdout)
  assert.equal(new Set(idsOf(target.lines)).size, 3001)
  assert.deepEqual(lettersIn(spool), [])
})

test('letters without an output, or without a spool, are wrong usage', async (t) => {
  for (const flags of [
    [],
    ['--dir', scratch(t)],
    ['--elasticsearch', 'http://127.0.0.1:9200'],
    ['--target', 'x'],
  ]) {
    const { code, stdout } = await gwInProcess(['logs', 'replay-dead', ...flags])
    assert.deepEqual([code, stdout], [64, ''], flags.join(' '))
  }
})
