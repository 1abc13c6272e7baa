import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hashKey, verifyPassword } from '@sluice/policies'
import { gw } from '../testing.js'

test('consumers and keys are made, replaced and revoked; the file holds hashes only', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'consumers-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'consumers.jsonl')
  const run = (...args: string[]) => gw([...args, '-f', file])
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
  assert.match((await run('consumer', 'list')).stdout, /acme +partners +- +read +1 +no/)

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
