import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Exchange, Step } from '@sluice/core'
import { exchange, testEnv } from '../../testing.js'
import { ldap } from './policy.js'
import type { LdapConfig } from './schema.js'
import { ADMIN, GROUPS, group, PEOPLE, person, Slapd, slapdSkip } from './testing/slapd.js'

const ODD = 'o*d(d)\\ user,x'
let slapd: Slapd

before(async () => {
  if (slapdSkip !== false) return
  const ann = person('ann', 'pass:wörd', { mail: ['ann@a.example', 'ann@b.example'], departmentNumber: '7' })
  const twins = [
    person('twin', 'x', { employeeType: 'double' }),
    person('twin2', 'x', { employeeType: 'double' }),
  ]
  slapd = await Slapd.start([
    ann,
    person('bob', 'builder'),
    person(ODD, 'odd'),
    ...twins,
    group('staff', ann.dn),
    group('all', `cn=staff,${GROUPS}`, `cn=loop,${GROUPS}`),
    group('loop', `cn=all,${GROUPS}`),
    group('others', `uid=bob,${PEOPLE}`),
    ...[person('cat', 'x', { uid: ['cat', 'kitten'] }), person('deep', 'x')],
    group('level1', `uid=deep,${PEOPLE}`),
    ...Array.from({ length: 12 }, (_, i) => group(`level${i + 2}`, `cn=level${i + 1},${GROUPS}`)),
  ])
})
after(() => slapd?.stop())

const skip = slapdSkip

/** Time decides nothing here. */
const timeouts = { connect: '60s', operation: '60s' }

function searching(more: Partial<LdapConfig> = {}): LdapConfig {
  return {
    urls: [slapd.url],
    timeouts,
    bind: ADMIN,
    userBase: PEOPLE,
    userFilter: '(uid={{username}})',
    ...more,
  }
}

function binding(more: Partial<LdapConfig> = {}): LdapConfig {
  return { urls: [slapd.url], timeouts, userDn: `uid={{username}},${PEOPLE}`, ...more }
}

function stepOf(config: LdapConfig, env = testEnv()): Step {
  return ldap.compile(config, env) as Step
}

function request(name: string, password: string): Exchange {
  const value = Buffer.from(`${name}:${password}`).toString('base64')
  return exchange({ headers: ['authorization', `Basic ${value}`] })
}

/** The id of the consumer, or the code of the refusal. */
async function verdict(step: Step, name: string, password: string): Promise<string> {
  const x = request(name, password)
  const outcome = await step.onRequest!(x)
  return outcome?.problem?.code ?? x.consumer!.id
}

test('a user found by the service account logs in, with groups and attributes', {
  skip,
}, async () => {
  const groups = { base: GROUPS, nested: true }
  const attributes = { name: 'cn', claims: ['mail', 'departmentNumber', 'title'] }
  const x = request('ANN', 'pass:wörd')
  assert.equal(await stepOf(searching({ groups, attributes })).onRequest!(x), null)
  const { id, name, auth, groups: found, claims } = x.consumer!
  assert.deepEqual([id, name, auth], ['ann', 'The ann', 'ldap'])
  assert.deepEqual([...found].sort(), ['all', 'loop', 'staff'])
  assert.deepEqual(Object.fromEntries(claims!), {
    mail: 'ann@a.example,ann@b.example',
    departmentNumber: '7',
  })
  assert.deepEqual(x.headers, [])
})

test('groups count by themselves, or with the groups they are in', { skip }, async () => {
  for (const [groups, expected] of [
    [{ base: GROUPS }, ['staff']],
    [{ base: GROUPS, attribute: 'objectClass' }, ['groupOfNames']],
    [{ base: GROUPS, filter: '(&(member={{dn}})(cn=x))' }, []],
    [{ base: GROUPS, filter: '(cn={{username}})' }, []],
    [{ base: `cn=staff,${GROUPS}`, scope: 'base' }, ['staff']],
    [{ base: 'dc=example,dc=org', scope: 'one' }, []],
  ] as const) {
    const x = request('ann', 'pass:wörd')
    assert.equal(await stepOf(searching({ groups })).onRequest!(x), null)
    assert.deepEqual(x.consumer!.groups, expected, JSON.stringify(groups))
  }
})

test('groups that stand in the entry count by their first value', { skip }, async () => {
  const x = request('ann', 'pass:wörd')
  await stepOf(searching({ attributes: { groups: 'objectClass' } })).onRequest!(x)
  assert.deepEqual(x.consumer!.groups, ['inetOrgPerson'])
})

test('users bind by themselves, and their id is as the directory spells it', { skip }, async () => {
  const step = stepOf(binding())
  for (const [name, password, expected] of [
    ['ann', 'pass:wörd', 'ann'],
    ['ANN', 'pass:wörd', 'ann'],
    [ODD, 'odd', ODD],
    ['ann', 'pass:word', 'GW_AUTH_INVALID'],
    ['nobody', 'x', 'GW_AUTH_INVALID'],
  ] as const)
    assert.equal(await verdict(step, name, password), expected, name)
  const found = stepOf(
    binding({ userBase: PEOPLE, userFilter: '(uid={{username}})', groups: { base: GROUPS } }),
  )
  assert.equal(await verdict(found, 'bob', 'builder'), 'bob')
  const other = stepOf(binding({ attributes: { id: 'cn' } }))
  assert.equal(await verdict(other, 'bob', 'builder'), 'The bob')
})

test('without a service account no search runs', { skip }, async () => {
  const step = stepOf(searching({ bind: undefined as never, groups: { base: GROUPS }, pool: { max: 1 } }))
  assert.equal(await verdict(step, 'bob', 'builder'), 'bob')
  assert.equal(await verdict(step, 'ann', 'pass:wörd'), 'ann')
})

test('an empty password never reaches the directory', { skip }, async () => {
  const before = slapd.connections
  for (const config of [searching(), binding()]) {
    assert.equal(await verdict(stepOf(config), 'ann', ''), 'GW_AUTH_INVALID')
    assert.equal(await verdict(stepOf(config), '', 'x'), 'GW_AUTH_INVALID')
  }
  assert.equal(slapd.connections, before)
})

test('a user name cannot inject filter or DN syntax', { skip }, async () => {
  const names = [
    ...[
      '*',
      'a*',
      'ann)(uid=*',
      '*)(uid=*))(|(uid=*',
      'ann)(objectClass=*',
      '(ann)',
      'ann\\2a',
      '\\2a',
      'ann\\',
    ],
    ...[
      `ann,${PEOPLE}`,
      'ann,ou=people',
      'ann+cn=The ann',
      'ann"',
      'ann;',
      '#ann',
      'ann<',
      'bob,uid=ann',
      '\\61nn',
    ],
    ...['EXTERNAL', 'PLAIN', 'ann=', '{{username}}', '__proto__', 'ann\u200b', 'x'.repeat(2000)],
  ]
  const steps = [stepOf(searching()), stepOf(binding())]
  for (const name of names)
    for (const step of steps)
      assert.equal(await verdict(step, name, 'pass:wörd'), 'GW_AUTH_INVALID', name.slice(0, 30))
  for (const name of ['ann\0', 'ann\n', '\x7fann'])
    assert.equal(await verdict(steps[0]!, name, 'pass:wörd'), 'GW_AUTH_INVALID')
  assert.equal(await verdict(steps[0]!, ODD, 'odd'), ODD)
})

test('an entry without an id refuses the login, and the directory does not count as down', {
  skip,
}, async () => {
  for (const [config, name, reason] of [
    [
      searching({ userFilter: '(&(employeeType=double)(!(uid={{username}})))' }),
      'ann',
      /more than one entry/,
    ],
    [searching({ userFilter: '(&(objectClass=person)(!(uid={{username}})))' }), 'ann', /more than one entry/],
    [searching(), 'cat', /2 values of uid/],
    [searching(), 'kitten', /2 values of uid/],
    [binding(), 'cat', /2 values of uid/],
    [binding({ attributes: { id: 'mail' } }), 'bob', /0 values of mail/],
  ] as const) {
    const env = testEnv()
    const step = stepOf({ ...config, cache: { staleIfError: '1h' } }, env)
    const password = name === 'bob' ? 'builder' : 'x'
    assert.equal(await verdict(step, name, password), 'GW_AUTH_INVALID', name)
    assert.deepEqual(
      env.reports.map(({ event }) => event),
      ['ldap_login_refused'],
    )
    assert.match(JSON.stringify(env.reports), reason)
    assert.equal(await verdict(step, 'nobody', 'x').then((code) => code !== 'GW_AUTH_UNAVAILABLE'), true)
  }
})

test('nested groups are read up to ten levels, and higher ones do not block the login', {
  skip,
}, async () => {
  const env = testEnv()
  const x = request('deep', 'x')
  assert.equal(await stepOf(searching({ groups: { base: GROUPS, nested: true } }), env).onRequest!(x), null)
  assert.equal(x.consumer!.groups.length, 10)
  assert.ok(x.consumer!.groups.includes('level10') && !x.consumer!.groups.includes('level11'))
  assert.deepEqual(env.reports, [])
})

test('a thousand identical logins cause one bind, and the result is cached', {
  skip,
}, async () => {
  const dn = `uid=bob,${PEOPLE}`
  const before = slapd.bindsOf(dn)
  const step = stepOf(searching())
  const verdicts = await Promise.all(Array.from({ length: 1000 }, () => verdict(step, 'bob', 'builder')))
  assert.ok(verdicts.every((each) => each === 'bob'))
  assert.equal(await verdict(step, 'bob', 'builder'), 'bob')
  await verdict(step, 'bob', 'wrong')
  await verdict(step, 'bob', 'wrong')
  assert.equal(await verdict(step, 'bob', 'builder'), 'bob')
  // The log comes through a pipe, behind the answers.
  await verdict(stepOf(binding()), 'last', 'x')
  while (slapd.bindsOf(`uid=last,${PEOPLE}`) === 0) await new Promise(setImmediate)
  assert.equal(slapd.bindsOf(dn), before + 2)
})

test('ttl and negativeTtl of nothing ask every time', { skip }, async () => {
  const step = stepOf(
    binding({ cache: { ttl: '0s', negativeTtl: '0s', maxEntries: 1 }, pool: { idle: '1s' } }),
  )
  const before = slapd.bindsOf(`uid=twin,${PEOPLE}`)
  for (const password of ['x', 'x', 'wrong', 'wrong']) await verdict(step, 'twin', password)
  await verdict(step, 'last2', 'x')
  while (slapd.bindsOf(`uid=last2,${PEOPLE}`) === 0) await new Promise(setImmediate)
  assert.equal(slapd.bindsOf(`uid=twin,${PEOPLE}`), before + 4)
})

test('an address that fails too often must wait, whatever it sends next', { skip }, async () => {
  const step = stepOf(binding({ maxFailuresPerMinute: 2 }))
  assert.equal(await verdict(step, 'bob', 'builder'), 'bob')
  for (const expected of ['GW_AUTH_INVALID', 'GW_AUTH_INVALID', 'GW_RATE_LIMITED'])
    assert.equal(await verdict(step, 'ann', 'same'), expected)
  assert.equal(await verdict(step, 'ann', 'another'), 'GW_RATE_LIMITED')
  assert.equal(await verdict(step, 'bob', 'builder'), 'bob')
})

test('guesses that come at once do not pass the limit', { skip }, async () => {
  const step = stepOf(binding({ maxFailuresPerMinute: 3 }))
  const guesses = Array.from({ length: 20 }, (_, i) => verdict(step, 'ann', `x${i}`))
  const busy = Array(17).fill('GW_AUTH_OVERLOADED')
  assert.deepEqual((await Promise.all(guesses)).toSorted(), [...Array(3).fill('GW_AUTH_INVALID'), ...busy])
  assert.equal(await verdict(step, 'ann', 'another'), 'GW_RATE_LIMITED')
})

test('failed logins count for all uses of the same users, and for no other', { skip }, async () => {
  const env = testEnv()
  const uses = [binding(), binding({ realm: 'other', cache: { scope: 'worker' } }), searching()]
  const [first, second, other] = uses.map((config) => stepOf({ ...config, maxFailuresPerMinute: 1 }, env))
  assert.equal(await verdict(first!, 'ann', 'x'), 'GW_AUTH_INVALID')
  assert.equal(await verdict(second!, 'ann', 'y'), 'GW_RATE_LIMITED')
  assert.equal(await verdict(other!, 'ann', 'z'), 'GW_AUTH_INVALID')
})

test('TLS and StartTLS verify the directory', { skip }, async () => {
  const secure = { caFile: slapd.caFile, servername: 'localhost' }
  for (const [urls, tls, expected] of [
    [[slapd.secureUrl], secure, 'bob'],
    [[slapd.url], { ...secure, startTls: true }, 'bob'],
    [[slapd.secureUrl], { ...secure, servername: 'other' }, 'GW_AUTH_UNAVAILABLE'],
    [[slapd.url], { ...secure, startTls: true, servername: 'other' }, 'GW_AUTH_UNAVAILABLE'],
    [[slapd.secureUrl], {}, 'GW_AUTH_UNAVAILABLE'],
  ] as const) {
    const step = stepOf(searching({ urls: [...urls], tls }))
    assert.equal(await verdict(step, 'bob', 'builder'), expected, JSON.stringify([urls, tls]))
  }
})

test('a service account that cannot bind is not reported as a wrong password', { skip }, async () => {
  const env = testEnv()
  const step = stepOf(searching({ bind: { ...ADMIN, password: 'old password' } }), env)
  assert.equal(await verdict(step, 'bob', 'builder'), 'GW_AUTH_UNAVAILABLE')
  assert.deepEqual(
    env.reports.map(({ event }) => event),
    ['ldap_down'],
  )
  assert.doesNotMatch(JSON.stringify(env.reports), /old password|builder/)
})

test('credentials that are missing, doubled or of another scheme are refused', { skip }, async () => {
  const step = stepOf(searching({ realm: 'a "b"', stripCredentials: false }))
  const missing = await step.onRequest!(exchange())
  assert.equal(missing?.status, 401)
  assert.ok(missing.headers.includes('Basic realm="a \\"b\\"", charset="UTF-8"'))
  const twice = exchange({ headers: ['authorization', 'Basic YTpi', 'authorization', 'Basic YTpi'] })
  assert.equal((await step.onRequest!(twice))?.problem?.code, 'GW_AUTH_INVALID')
  const bearer = exchange({ headers: ['authorization', 'Bearer x'] })
  assert.equal((await step.onRequest!(bearer))?.problem?.code, 'GW_AUTH_MISSING')
  const x = request('bob', 'builder')
  await step.onRequest!(x)
  assert.equal(x.headers.length, 2)
})

test('an invalid configuration is rejected', () => {
  const urls = ['ldap://127.0.0.1']
  const userDn = 'uid={{username}},dc=x'
  for (const [config, message] of [
    [{ urls }, /configure 'userDn'/],
    [{ urls, userDn: 'uid={{user}},dc=x' }, /unknown placeholder \{\{user\}\}; use \{\{username\}\}/],
    [{ urls, userDn: 'uid=x,dc=x' }, /must contain/],
    [{ urls, userDn: '{{username}}=x,dc=x' }, /not a valid distinguished name/],
    [{ urls, userDn: 'u{{username}}=x,dc=x' }, /not a valid distinguished name/],
    [{ urls, userDn: 'uid=\\{{username}},dc=x' }, /not a valid distinguished name/],
    [{ urls, userDn: '{{username}}@x' }, /does not name an entry/],
    [{ urls, userDn: '{{username}}', userBase: 'dc=x', userFilter: '(a={{username}})' }, /must be/],
    [{ urls, userBase: 'dc=x' }, /configure 'userDn'/],
    [{ urls, userFilter: '(uid={{username}})' }, /belong together/],
    [{ urls, userBase: 'dc=x', userFilter: '(uid={{username}}' }, /not a valid search filter/],
    [{ urls, userBase: 'dc=x', userFilter: '(uid={{username}})(a=b)' }, /not a valid search filter/],
    [{ urls, userBase: 'dc=x', userFilter: '({{username}}=x)' }, /not a valid search filter/],
    [
      { urls, userBase: 'x', userFilter: '(uid={{username}})' },
      /'userBase' is not a valid distinguished name/,
    ],
    [{ urls, userDn, bind: { dn: 'x', password: 'y' } }, /'bind.dn'/],
    [{ urls, userDn, groups: { base: 'dc=x', nested: true, filter: '(m={{username}})' } }, /groups.nested/],
    [{ urls: ['ldap://ldap.example.org'], userDn }, /without TLS/],
    [{ urls: ['ldap://127.0.0.1.example.org'], userDn }, /without TLS/],
    [{ urls, userDn, tls: { certFile: 'x' } }, /belong together/],
    [{ urls, userDn, realm: 'ü' }, /'realm'/],
  ] as const)
    assert.throws(
      () => ldap.compile(config as unknown as LdapConfig, testEnv()),
      message,
      JSON.stringify(config),
    )
  const clear = { urls: ['ldap://ldap.example.org'], userDn, tls: { allowPlaintext: true } }
  assert.ok(ldap.compile(clear, testEnv()))
  const windows = {
    urls,
    userDn: 'CORP\\{{username}}',
    userBase: 'dc=x',
    userFilter: '(sAMAccountName={{username}})',
  }
  assert.ok(ldap.compile(windows, testEnv()))
})
