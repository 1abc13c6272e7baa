import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { hashKey, verifyPassword } from '@sluice/policies'
import { gwInProcess } from '../testing/in-process.js'
import { gw } from '../testing.js'
import { addConsumer, listConsumers, setConsumer } from './consumers.js'

test('consumers and keys are made, replaced and revoked; the file holds hashes only', async (t) => {
  const file = fileIn(t)
  const run = (...args: string[]) => gwInProcess([...args, '-f', file])
  const records = () =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))

  assert.equal((await run('consumer', 'add', 'acme', '--group', 'partners', '--scope', 'read')).code, 0)
  const added = await gw(['consumer', 'add', 'ann', '--password', '-f', file], { stdin: 'open sesame\n' })
  assert.equal(added.code, 0, added.stderr)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.deepEqual(records()[0], { id: 'acme', groups: ['partners'], scopes: ['read'] })
  assert.ok(await verifyPassword('open sesame', records()[1].password))

  const first = JSON.parse((await run('key', 'create', 'acme', '--id', 'one', '-o', 'json')).stdout)
  const second = JSON.parse(
    (await run('key', 'rotate', 'acme', '--id', 'two', '--overlap', '1h', '-o', 'json')).stdout,
  )
  assert.match(first.key, /^gw_[\w-]{43}_[0-9a-f]{8}$/)
  const [one, two] = records()[0].keys
  assert.deepEqual([one.sha256, two.sha256], [hashKey(first.key), hashKey(second.key)])
  const endsIn = Date.parse(one.expires) - Date.now()
  assert.ok(endsIn > 3_000_000 && endsIn <= 3_600_000)
  assert.equal(two.expires, undefined)
  assert.ok(!readFileSync(file, 'utf8').includes(second.key))

  const shown = await run('key', 'list', 'acme')
  assert.match(shown.stdout, /acme +two +never/)
  assert.ok(!shown.stdout.includes(two.sha256))
  assert.equal((await run('key', 'revoke', 'acme', 'one')).code, 0)
  assert.deepEqual(records()[0].keys, [two])
  assert.equal((await run('consumer', 'rm', 'ann')).code, 0)
  assert.match((await run('consumer', 'list')).stdout, /acme +partners +- +read +- +1 +no/)

  const before = readFileSync(file, 'utf8')
  const failures = [
    await run('consumer', 'add', 'acme'),
    await run('key', 'revoke', 'acme', 'one'),
    await run('key', 'create', 'nobody'),
    await run('consumer', 'add', 'a\u0001'),
  ]
  writeFileSync(`${file}.lock`, '')
  failures.push(await run('key', 'create', 'acme'))
  assert.ok(failures.every(({ code }) => code !== 0))
  assert.match(failures[4]!.stderr, /another gw is changing the file/)
  assert.equal(readFileSync(file, 'utf8'), before)
})

test('a consumer is changed in what is named, and keeps its keys', async (t) => {
  const file = fileIn(t)
  const record = () => JSON.parse(readFileSync(file, 'utf8'))
  await assert.rejects(
    setConsumer({ file, group: ['gold'] }, 'acme'),
    /does not exist; create it with gw consumer add/,
  )
  await assert.rejects(
    listConsumers({ file, output: 'table' }),
    /does not exist; create it with gw consumer add/,
  )
  const keys = [{ id: 'one', sha256: hashKey('x') }]
  writeFileSync(file, JSON.stringify({ id: 'acme', groups: ['partners'], roles: ['buyer'], keys }))

  const traits = ['--group', 'gold', '--group', 'eu', '--no-role', '--metadata', 'plan=a=b', '--password']
  const changed = await gwInProcess(['consumer', 'set', 'acme', ...traits, '-f', file], { stdin: 'abc\n' })
  assert.equal(changed.code, 0, changed.stderr)
  const { password, ...rest } = record()
  assert.ok(await verifyPassword('abc', password))
  assert.deepEqual(rest, { id: 'acme', groups: ['gold', 'eu'], keys, metadata: { plan: 'a=b' } })
  const none = ['--scope', 'read', '--no-password', '--no-metadata']
  assert.equal((await gwInProcess(['consumer', 'set', 'acme', ...none, '-f', file])).code, 0)
  assert.deepEqual(record(), { id: 'acme', groups: ['gold', 'eu'], keys, scopes: ['read'] })

  const before = readFileSync(file, 'utf8')
  await assert.rejects(setConsumer({ file }, 'acme'), /specify what to change/)
  await assert.rejects(setConsumer({ file, group: ['a'] }, 'bob'), /has no consumer 'bob'/)
  await assert.rejects(setConsumer({ file, metadata: ['plan'] }, 'acme'), /'plan' is not valid metadata/)
  await assert.rejects(setConsumer({ file, group: [''] }, 'acme'), /groups is not a text of 1 to 256/)
  await assert.rejects(addConsumer({ file }, 'acme'), /already has a consumer 'acme'; use gw consumer set/)
  assert.equal(readFileSync(file, 'utf8'), before)
})

test('keys that have expired are listed as such, and go with the next new one', async (t) => {
  const file = fileIn(t)
  const expires = '2020-01-31'
  const expired = Array.from({ length: 99 }, (_, i) => ({ id: `old-${i}`, sha256: hashKey(`${i}`), expires }))
  const valid = { id: 'valid', sha256: hashKey('z'), expires: '2999-01-31' }
  const others = { id: 'ann', keys: [{ id: 'hers', sha256: hashKey('y'), expires }] }
  writeFileSync(
    file,
    `${JSON.stringify({ id: 'acme', keys: [...expired, valid] })}\n${JSON.stringify(others)}\n`,
  )

  const shown = await gwInProcess(['key', 'list', 'acme', '-f', file])
  assert.match(shown.stdout, /acme +old-0 +expired 2020-01-31\n/)
  assert.match(shown.stdout, /acme +valid +2999-01-31\n/)
  const made = await gwInProcess(['key', 'create', 'acme', '--id', 'old-0', '-f', file])
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stderr, /^removed 99 expired keys: old-0 old-1 /m)
  const [acme, ann] = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    acme.keys.map(({ id }: { id: string }) => id),
    ['valid', 'old-0'],
  )
  assert.deepEqual(ann, others)
})

test('a file that is there keeps its owner and its rights, so that the gateway can read it', async (t) => {
  const file = fileIn(t)
  writeFileSync(file, JSON.stringify({ id: 'acme' }))
  chmodSync(file, 0o640)
  const isRoot = process.getuid!() === 0
  if (isRoot) chownSync(file, 65_534, 65_533)
  const before = statSync(file)
  const made = await gwInProcess(['key', 'create', 'acme', '-f', file])
  assert.equal(made.code, 0, made.stderr)
  const after = statSync(file)
  assert.notEqual(after.ino, before.ino)
  assert.deepEqual([after.uid, after.gid, after.mode], [before.uid, before.gid, before.mode])
})

test('an id is found whichever way its letters are composed', async (t) => {
  const file = fileIn(t)
  const [composed, decomposed] = ['Jos\u00e9', 'Jose\u0301']
  for (const args of [
    ['consumer', 'add', decomposed],
    ['consumer', 'set', decomposed, '--group', 'a'],
    ['key', 'create', decomposed, '--id', 'one'],
    ['key', 'list', decomposed],
    ['key', 'revoke', decomposed, 'one'],
  ]) {
    const { code, stderr } = await gwInProcess([...args, '-f', file])
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
  }
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).id, composed)
  assert.equal((await gwInProcess(['consumer', 'rm', decomposed, '-f', file])).code, 0)
})

function fileIn(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'consumers-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return join(folder, 'consumers.jsonl')
}
