import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { hashKey } from '@sluice/policies'
import { gwInProcess } from '../testing/in-process.js'
import { assumedConsumer } from './assumed-consumer.js'

function documentIn(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'assumed-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const acme = { id: 'acme', groups: ['partners'], scopes: ['orders:write'], metadata: { plan: 'gold' } }
  writeFileSync(join(folder, 'consumers.jsonl'), JSON.stringify(acme))
  writeFileSync(
    join(folder, 'gateway.yaml'),
    `version: 1
listeners: [{ address: "127.0.0.1:8080" }]
routes:
  - id: orders
    match: { path: /orders/* }
    respond: { body: hi }
    policies:
      - { use: api-key, with: { consumers: consumers.jsonl } }
      - use: authorize
        with:
          deny: [{ consumers: [evil], claims: { plan: [gold, free] } }]
          allow: [{ groups: [partners, staff], scopes: ["orders:read"] }, { roles: [admin, root], match: all }]
      - { id: gold, use: header, when: '"gold" in consumer.groups', with: { request: { set: { x-tier: gold } } } }
      - { id: rich, use: header, when: 'consumer.claims["plan"] == "gold"', with: { request: { set: { x-tier: gold } } } }
      - { id: late, use: header, when: 'vars["x"] == "1"', with: { request: { set: { x-tier: gold } } } }
`,
  )
  return join(folder, 'gateway.yaml')
}

test('explain says whom authorize allows, and whether that is a consumer of the file or one that is written', async (t) => {
  const file = documentIn(t)
  const args = ['explain', 'GET', '/orders/7', '-c', file]
  const [known, written, unknown] = await Promise.all([
    gwInProcess([...args, '--consumer', 'acme']),
    gwInProcess([...args, '--consumer', '{"id":"ann","roles":["root","admin"]}', '-o', 'json']),
    gwInProcess([...args, '--consumer', 'bob']),
  ])
  assert.equal(known.code, 0, known.stderr)
  for (const line of [
    'denies callers with the id evil, and with the claim plan equal to gold or free',
    'allows callers in the group partners or staff, and with the scope orders:read',
    'allows callers with the role admin and root',
    'denies all other callers',
    'this consumer is refused with GW_SCOPE_MISSING: allow[0] needs the scope orders:read; allow[1] needs all of the roles admin, root',
  ])
    assert.ok(known.stdout.includes(`       ${line}\n`), `${line}\n${known.stdout}`)
  for (const line of [
    '3. header (gold), skipped: its condition is false',
    '4. header (rich), its condition is true',
    '5. header (late), if its condition is true at that time',
  ])
    assert.ok(known.stdout.includes(`    ${line}\n`), `${line}\n${known.stdout}`)
  const [keys, authorize] = JSON.parse(written.stdout).route.policies
  assert.deepEqual([keys.decision, keys.meaning.length], [null, 1])
  assert.deepEqual(authorize.decision, { refusal: null, reason: '' })
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /no policy of the route knows the consumer 'bob'; describe the consumer/)
})

test('a consumer is found in keys and users of the document, and an object has to be one of a file of consumers', () => {
  const keys = [{ id: 'acme', name: 'Acme Ltd', sha256: hashKey('x'), groups: ['partners'] }]
  const users = [{ name: 'root', password: '$scrypt$', groups: ['admins'] }]
  const policies = [
    { use: 'api-key', with: { keys } },
    { use: 'basic-auth', with: { users } },
  ].map((use) => ({ id: 'x', when: null, onError: 'refuse', ...use })) as never
  const { auth, groups, name } = assumedConsumer('root', policies)
  assert.deepEqual([auth, groups, name], ['basic-auth', ['admins'], 'root'])
  assert.equal(assumedConsumer('acme', policies).name, 'Acme Ltd')
  assert.throws(() => assumedConsumer('Acme Ltd', policies), /no policy of the route knows/)
  for (const text of ['{"id":"a","group":["b"]}', '{"id":"a"', '{"groups":[]}'])
    assert.throws(() => assumedConsumer(text, policies), /--consumer: /)
})
