import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { MemoryStore, StateUnavailable, type Step } from '@sluice/core'
import { exchange, testEnv } from '../../testing.js'
import { ldap } from './policy.js'
import type { LdapConfig } from './schema.js'
import { decodeLogin, encodeLogin } from './shared-logins.js'
import { ADMIN, GROUPS, group, PEOPLE, person, Slapd, slapdSkip } from './testing/slapd.js'

const skip = slapdSkip
const DN = `uid=ann,${PEOPLE}`
const PASSWORD = 'hunter2'
const TOKEN = Buffer.from(`ann:${PASSWORD}`).toString('base64')
let slapd: Slapd

before(async () => {
  if (skip !== false) return
  slapd = await Slapd.start([
    person('ann', PASSWORD, { mail: ['ann@a.example', 'ann@b.example'] }),
    group('staff', DN),
  ])
})
after(() => slapd?.stop())

function configOf(more: Partial<LdapConfig> = {}): LdapConfig {
  return {
    ...{ urls: [slapd.url], timeouts: { connect: '60s', operation: '60s' }, bind: ADMIN },
    ...{ userBase: PEOPLE, userFilter: '(uid={{username}})', groups: { base: GROUPS } },
    attributes: { claims: ['mail'] },
    ...more,
  }
}

/** The workers of a gateway, each of which compiles the policy for itself. */
function workers(config: LdapConfig, store = new MemoryStore(), secret?: Uint8Array): Step[] {
  return [1, 2, 3].map(() => {
    const env = testEnv(new Map([['state', store]]))
    const state = { ...env.state, ...(secret && { secret }) }
    return ldap.compile(config, { ...env, state }) as Step
  })
}

/** The consumer, or the code of the refusal. */
async function login(step: Step, token = TOKEN): Promise<unknown> {
  const x = exchange({ headers: ['authorization', `Basic ${token}`] })
  const outcome = await step.onRequest!(x)
  return outcome?.problem?.code ?? x.consumer
}

async function idOf(step: Step, token?: string): Promise<string> {
  const known = await login(step, token)
  return typeof known === 'string' ? known : (known as { id: string }).id
}

let last = 0
/** The binds of somebody while something is done; the log comes through a pipe, behind the answers. */
async function bindsDuring(work: () => Promise<unknown>, dn = DN): Promise<number> {
  const before = slapd.bindsOf(dn)
  await work()
  const name = `last${++last}`
  const userDn = `uid={{username}},${PEOPLE}`
  await login(
    ldap.compile({ urls: [slapd.url], userDn }, testEnv()) as Step,
    Buffer.from(`${name}:x`).toString('base64'),
  )
  while (slapd.bindsOf(`uid=${name},${PEOPLE}`) === 0) await new Promise(setImmediate)
  return slapd.bindsOf(dn) - before
}

test('one worker asks the directory for all, about accepted and refused logins', { skip }, async () => {
  const steps = workers(configOf())
  const binds = await bindsDuring(async () => {
    const known = await Promise.all(steps.flatMap((step) => Array.from({ length: 100 }, () => login(step))))
    const consumer = known[0] as { groups: readonly string[]; claims: ReadonlyMap<string, string> }
    for (const each of known) assert.deepEqual(each, consumer)
    assert.deepEqual(
      [consumer.groups, [...consumer.claims]],
      [['staff'], [['mail', 'ann@a.example,ann@b.example']]],
    )
  })
  assert.equal(binds, 1)
  const wrong = Buffer.from('ann:wrong').toString('base64')
  const refused = await bindsDuring(async () => {
    for (const step of [...steps, ...steps]) assert.equal(await login(step, wrong), 'GW_AUTH_INVALID')
  })
  assert.equal(refused, 1)
})

test('each worker asks on its own with scope: worker, or without caching', { skip }, async () => {
  for (const cache of [{ scope: 'worker' }, { ttl: '0s' }] as const) {
    const steps = workers(configOf({ cache }))
    const binds = await bindsDuring(async () => {
      for (const step of steps) assert.equal(await idOf(step), 'ann')
    })
    assert.equal(binds, 3)
  }
})

test('another configuration does not share cached logins', { skip }, async () => {
  const store = new MemoryStore()
  const configs = [
    configOf(),
    configOf({ userFilter: '(&(uid={{username}})(cn=*))' }),
    configOf({ groups: { base: GROUPS, nested: true } }),
    configOf({ bind: { ...ADMIN, password: 'old' } }),
    configOf({ urls: [slapd.url, 'ldap://127.0.0.1:1'] }),
    configOf({ tls: { caFile: slapd.caFile } }),
    configOf({ cache: { ttl: '61s' } }),
  ]
  const ids: string[] = []
  const binds = await bindsDuring(async () => {
    for (const config of configs) ids.push(await idOf(workers(config, store)[0]!))
  })
  assert.equal(ids[3], 'GW_AUTH_UNAVAILABLE', 'the account cannot bind')
  assert.equal(binds, configs.length - 1)
})

test('stored logins contain no password, and nothing to test guesses against', {
  skip,
}, async () => {
  const store = new MemoryStore()
  const config = configOf()
  const secret = Buffer.alloc(32, 7)
  for (const step of workers(config, store, secret)) await login(step)
  const names = await store.list('', 100)
  assert.equal(names.length, 1)
  const stored = [names[0], Buffer.from((await store.get(names[0]!))!).toString('latin1')].join('\n')
  const spelled = [
    PASSWORD,
    TOKEN,
    `ann:${PASSWORD}`,
    `Basic ${TOKEN}`,
    ADMIN.password,
    JSON.stringify(config),
  ]
  for (const text of spelled) {
    assert.ok(!stored.includes(text), text)
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      assert.ok(!stored.includes(createHash('sha256').update(text).digest(encoding).slice(0, 20)), text)
      const unkeyed = createHmac('sha256', '').update(text).digest(encoding)
      assert.ok(!stored.includes(unkeyed.slice(0, 20)), text)
    }
  }
  for (const step of workers(config, store, Buffer.alloc(32, 8))) await login(step)
  assert.equal((await store.list('', 100)).length, 2, 'another gateway has other names for all')
})

test('a forged cache entry is ignored: the directory is asked', { skip }, async () => {
  const store = new MemoryStore()
  await login(workers(configOf(), store)[0]!)
  const [name] = await store.list('', 100)
  const head = (status: number): string =>
    `{"until":${Date.now() + 60_000},"status":${status},"headers":[]}\n`
  const evil = '{"id":"root","name":"root","groups":["staff"],"claims":[]}'
  for (const poison of [
    ...[
      '',
      'x',
      head(200),
      `${head(200)}{}`,
      `${head(200)}null`,
      `${head(401)}${evil}`,
      `${head(204)}${evil}`,
    ],
    `${head(200)}${evil.replace('"root"', '""')}`,
    `${head(200)}${evil.replace('"root"', '7')}`,
    `${head(200)}${evil.replace('["staff"]', '"staff"')}`,
    `${head(200)}${evil.replace('["staff"]', '[null]')}`,
    `${head(200)}${evil.replace('[]', '[["a","b","c"]]')}`,
    `${head(200)}${evil.replace('[]', '[["a",1]]')}`,
    `${head(200)}${evil.replace('"name"', '"id"')}`,
    `${head(200)}${evil.slice(0, -1)}`,
  ]) {
    await store.set(name!, Buffer.from(poison), 60_000)
    assert.equal(await idOf(workers(configOf(), store)[0]!), 'ann', poison)
  }
})

test('a consumer is restored unchanged', () => {
  const user = {
    ...{ id: '__proto__', name: 'ü "\\\n\u0000\ud83d\ude00', groups: ['__proto__', 'a,b', ''] },
    claims: new Map([
      ['__proto__', 'x'],
      ['constructor', ''],
    ]),
  }
  assert.deepEqual(decodeLogin(encodeLogin(user)), user)
  assert.equal(decodeLogin(encodeLogin(null)), null)
})

test('a throttled address learns nothing from the logins of other workers', { skip }, async () => {
  const [first, second] = workers(configOf({ maxFailuresPerMinute: 1 }))
  assert.equal(await login(first!, Buffer.from('ann:wrong').toString('base64')), 'GW_AUTH_INVALID')
  assert.equal(await idOf(second!), 'ann')
  assert.equal(await login(first!), 'GW_RATE_LIMITED')
})

test('a supervisor that is gone stops no login', { skip }, async () => {
  const down = () => Promise.reject(new StateUnavailable('the supervisor is not running'))
  const store = { get: down, set: down, delete: down } as never as MemoryStore
  const steps = workers(configOf(), store)
  const binds = await bindsDuring(async () => {
    for (const step of steps) assert.equal(await idOf(step), 'ann')
    for (const step of steps) assert.equal(await idOf(step), 'ann')
  })
  assert.equal(binds, 3)
})
