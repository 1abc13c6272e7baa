import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Consumer, consumerOf, type Exchange, type Reply } from '@sluice/core'
import { claimTexts } from '../../identity/token/claim.js'
import { consumerIn } from '../../identity/token/consumer-claims.js'
import { exchange, schemaMistakes, testEnv, type Written } from '../../testing.js'
import { explainAuthorization } from './explanation.js'
import { authorize } from './policy.js'

type AuthorizeConfig = Written<typeof authorize>

const ANN = consumerOf('jwt', 'ann', {
  groups: ['partners', 'beta'],
  roles: ['reader'],
  scopes: ['orders:read'],
  claims: new Map([['plan', 'gold']]),
})

function decide(config: AuthorizeConfig, x: Exchange): Reply | null {
  const step = authorize.compile(config, testEnv())
  assert.ok(step !== null && !(step instanceof Promise))
  const outcome = step.onRequest!(x)
  assert.ok(!(outcome instanceof Promise))
  return outcome
}

function code(config: AuthorizeConfig, consumer: Consumer | null = ANN): string {
  return decide(config, exchange({ consumer }))?.problem?.code ?? ''
}

test('one matching rule allows; a rule matches if all its requirements are met', () => {
  for (const [rule, isIn] of [
    [{ consumers: ['bob', 'ann'] }, true],
    [{ consumers: ['bob'] }, false],
    [{ groups: ['staff', 'beta'] }, true],
    [{ groups: ['staff', 'beta'], match: 'all' }, false],
    [{ groups: ['partners', 'beta'], match: 'all' }, true],
    [{ roles: ['reader'] }, true],
    [{ roles: ['admin'] }, false],
    [{ scopes: ['orders:read'] }, true],
    [{ claims: { plan: 'gold' } }, true],
    [{ claims: { plan: ['free', 'gold'] } }, true],
    [{ claims: { plan: [] } }, true],
    [{ claims: { plan: 'free' } }, false],
    [{ claims: { toString: [] } }, false],
    [{ groups: ['partners'], roles: ['admin'] }, false],
    [{ when: 'res.status == 401' }, null],
  ] as const) {
    const config = { allow: [rule] } as unknown as AuthorizeConfig
    if (isIn === null) assert.throws(() => code(config) === '' || assert.fail('it compiles'))
    else assert.equal(code(config), isIn ? '' : 'GW_ACCESS_DENIED', JSON.stringify(rule))
  }
  assert.equal(code({ allow: [{ roles: ['admin'] }, { groups: ['beta'] }] }), '')
})

test('of a claim that is a list one item is enough, to be refused as well', () => {
  const claims = {
    ...{ sub: 'ann', plan: ['gold', 'eu'], title: 'no gold', level: [1, 2], one: ['x'], none: [] },
    ...{ realm: { roles: ['suspended', 'a b'], deep: [{ a: 1 }, 'x'] }, 'realm.roles': ['top', 'most'] },
  }
  const ann = consumerIn(claims, { consumerClaim: 'sub', auth: 'jwt', texts: claimTexts(claims) })
  for (const [name, value, isMet] of [
    ['plan', 'gold', true],
    ['plan', 'gold eu', true],
    ['plan', 'go', false],
    ['title', 'gold', false],
    ['level', '2', true],
    ['one', 'x', true],
    ['none', 'x', false],
    ['realm.roles', 'most', true],
    // What stands at the top is the claim of that name.
    ['realm.roles', 'suspended', false],
    ['realm.deep', 'x', false],
  ] as const) {
    const rules = [{ claims: { [name]: value } }]
    assert.equal(code({ allow: rules }, ann), isMet ? '' : 'GW_ACCESS_DENIED', `${name} ${value}`)
    assert.equal(code({ allow: 'authenticated', deny: rules }, ann), isMet ? 'GW_ACCESS_DENIED' : '', name)
  }
})

test('deny takes precedence over allow, and a caller that no rule allows is denied', () => {
  assert.equal(code({ allow: 'authenticated' }), '')
  assert.equal(code({ allow: 'authenticated', deny: [{ groups: ['beta'] }] }), 'GW_ACCESS_DENIED')
  assert.equal(code({ allow: [{ consumers: ['ann'] }], deny: [{ consumers: ['ann'] }] }), 'GW_ACCESS_DENIED')
  assert.equal(code({ allow: [{ consumers: ['bob'] }], deny: [{ consumers: ['eve'] }] }), 'GW_ACCESS_DENIED')
})

test('an unauthenticated caller gets 401 with a challenge, even if a rule denies', () => {
  const reply = decide({ allow: 'authenticated', deny: [{ groups: ['x'] }] }, exchange({}))
  assert.deepEqual([reply?.status, reply?.problem?.code], [401, 'GW_AUTH_MISSING'])
  assert.ok(reply!.headers.join(' ').includes('www-authenticate Bearer'))
})

test('a caller who lacks only scopes learns which (RFC 6750); the reason is only logged', () => {
  const x = exchange({ consumer: ANN })
  const allow = [
    { groups: ['staff'], scopes: ['all'] },
    { groups: ['beta'], scopes: ['orders:read', 'orders:write'] },
  ]
  const reply = decide({ allow }, x)
  assert.deepEqual([reply?.status, reply?.problem?.code], [403, 'GW_SCOPE_MISSING'])
  const fields = reply!.headers.join(' ')
  assert.ok(fields.includes('Bearer error="insufficient_scope", scope="orders:read orders:write"'))
  assert.equal(
    x.record.reason,
    'allow[0] needs the group staff; allow[1] needs all of the scopes orders:read, orders:write',
  )
  assert.ok(!`${reply!.problem!.detail}${fields}`.includes('staff'))
  // Who lacks more than scopes hears of none: it would not help.
  assert.equal(code({ allow: [{ groups: ['staff'], scopes: ['all'] }] }), 'GW_ACCESS_DENIED')
})

test('names are compared letter for letter: look-alikes, case and names of prototypes are others', () => {
  for (const id of ['\u0430nn', 'ANN', 'ann ', 'a\u0301nn', '__proto__', 'constructor']) {
    assert.equal(code({ allow: [{ consumers: ['ann'] }] }, consumerOf('jwt', id)), 'GW_ACCESS_DENIED', id)
    assert.equal(code({ allow: [{ consumers: [id] }] }, consumerOf('jwt', id)), '', id)
  }
  assert.equal(code({ allow: [{ groups: ['constructor', '__proto__'] }] }), 'GW_ACCESS_DENIED')
})

test('a consumer without known roles and scopes has none', () => {
  const bare = consumerOf('basic-auth', 'bare')
  assert.equal(code({ allow: [{ roles: ['reader'] }] }, bare), 'GW_ACCESS_DENIED')
  assert.equal(code({ allow: [{ scopes: ['a'] }] }, bare), 'GW_SCOPE_MISSING')
})

test('dryRun denies no request and marks requests it would have denied', () => {
  const x = exchange({ consumer: ANN })
  assert.equal(decide({ allow: [{ groups: ['staff'] }], dryRun: true }, x), null)
  assert.equal(x.vars?.get('authorize'), 'would-deny')
  assert.equal(x.record.reason, '')
})

test('a rule without conditions, an invalid scope and an unknown key are rejected', () => {
  assert.throws(() => code({ allow: [{}] }), /rule 1 of 'allow': a rule has no conditions/)
  assert.throws(() => code({ allow: [{ match: 'all' }] }), /has no conditions/)
  assert.throws(() => code({ allow: [{ scopes: ['a"b'] }] }), /is not a valid scope/)
  assert.throws(() => code({ allow: 'authenticated', challenge: 'a\r\nb' }), /not allowed in a header/)
  assert.notDeepEqual(schemaMistakes(authorize, { deny: [{ groups: ['a'] }] }), [])
  assert.notDeepEqual(schemaMistakes(authorize, { allow: [{ group: ['a'] }] }), [])
})

test('a configuration is explained in words', () => {
  const consumers = Array.from({ length: 12 }, (_, i) => `c${i}`)
  assert.deepEqual(
    explainAuthorization({ allow: 'authenticated', deny: [{ consumers }], phase: 'body', dryRun: true }),
    [
      'denies no request (dryRun); without dryRun it',
      'decides when the whole request body has been received',
      'denies callers with the id c0 or c1 or c2 or c3 or c4 or c5 or c6 or c7 or c8 or c9 or 2 more',
      'allows all authenticated callers',
    ],
  )
  const when = 'req.path == "/x"'
  assert.deepEqual(
    explainAuthorization({ allow: [{ groups: ['a', 'b'], match: 'all', claims: { plan: [] }, when }] }),
    [
      'allows callers in the group a and b, and with the claim plan, and that meet req.path == "/x"',
      'denies all other callers',
    ],
  )
})
