import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { verifyPassword } from '@sluice/policies'
import { gwInProcess } from '../testing/in-process.js'
import { gw } from '../testing.js'

test('a password from stdin becomes a hash that basic-auth takes', async () => {
  const { code, stdout, stderr } = await gw(['hash-password'], { stdin: 'correct horse\n' })
  assert.deepEqual([code, stderr], [0, ''])
  assert.ok(await verifyPassword('correct horse', stdout.trim()))
  const refused = await gwInProcess(['hash-password'], { stdin: 'a\tb' })
  assert.match(refused.stderr, /control characters/)
  assert.equal(refused.code, 1)
  const lines = await gwInProcess(['hash-password'], { stdin: 'a\nb\n' })
  assert.equal(lines.stderr, 'more than one line on standard input; pass only the password\n')
  assert.equal(lines.code, 64)
})

test('a key is shown once with its digest, which hash-key gives as well', async () => {
  const [text, json] = await Promise.all([gwInProcess(['new-key']), gwInProcess(['new-key', '-o', 'json'])])
  const { schemaVersion, key, sha256 } = JSON.parse(json.stdout)
  assert.equal(schemaVersion, 1)
  assert.equal(createHash('sha256').update(key).digest('hex'), sha256)
  assert.match(text.stdout, /^key {4}gw_\S{52}\nsha256 [0-9a-f]{64}\n$/)
  assert.match(text.stderr, /is not stored anywhere/)
  assert.equal((await gwInProcess(['hash-key'], { stdin: `${key}\n` })).stdout, `${sha256}\n`)
})

test('secrets are taken from stdin only', async () => {
  const [empty, argument] = await Promise.all([
    gwInProcess(['hash-key']),
    gwInProcess(['hash-password', 'secret']),
  ])
  assert.equal(empty.stderr, 'no key on stdin; type it, or redirect a file\n')
  assert.equal(empty.code, 64)
  assert.match(argument.stderr, /^unexpected argument /)
  assert.equal(argument.code, 64)
})

test('the policies are listed and documented from their schemas', async () => {
  const [list, json, doc, schema, unknown] = await Promise.all([
    gwInProcess(['policy', 'list']),
    gwInProcess(['policy', 'list', '-o', 'json']),
    gwInProcess(['policy', 'doc', 'api-key']),
    gwInProcess(['policy', 'doc', 'api-key', '-o', 'json']),
    gwInProcess(['policy', 'doc', 'apikey']),
  ])
  assert.match(list.stdout, /^POLICY +WHAT IT DOES\n(?:.+\n)*api-key /)
  const names = JSON.parse(json.stdout).policies.map(({ name }: { name: string }) => name)
  assert.ok(
    ['api-key', 'basic-auth', 'body-limit', 'header', 'ip-filter'].every((name) => names.includes(name)),
  )
  assert.match(
    doc.stdout,
    /^# api-key\n[\s\S]*- use: api-key[\s\S]*\| parameter \| type \| default \| meaning \|/,
  )
  assert.equal(JSON.parse(schema.stdout).schema.type, 'object')
  assert.equal(unknown.stderr, "there is no policy 'apikey'; did you mean 'api-key'?\n")
  assert.equal(unknown.code, 1)
})
