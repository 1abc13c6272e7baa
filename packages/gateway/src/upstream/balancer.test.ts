import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Balancer, HashRing, LeastPending, PowerOfTwo, RoundRobin } from './balancer.js'
import { ClientConnectionQuota } from './client-connection-quota.js'
import { UpgradeTransport } from './http1/upgrade-attempt.js'
import { EjectionPool } from './state/ejection.js'
import { TargetState } from './state/target-state.js'
import type { Target } from './target.js'
import { TargetTraffic } from './target-traffic.js'
import { Opening } from './transport/opening.js'
import type { Transport } from './transport/transport.js'

const NO_TRANSPORT: Transport = {
  waits: 0,
  isSlow: false,
  dispatch: () => assert.fail('a balancer does not send anything'),
  createUpload: () => assert.fail('a balancer does not send anything'),
  pool: () => ({ busy: 0, free: 0, pending: 0 }),
  close: () => Promise.resolve(),
}

function target(name: string, weight = 1): Target {
  return {
    origin: `http://${name}`,
    authority: name,
    address: null,
    weight,
    role: 'primary',
    level: 0,
    isAvailable: true,
    state: new TargetState({
      breaker: null,
      outlier: null,
      pool: new EjectionPool(0),
      onChange: () => {},
    }),
    transport: NO_TRANSPORT,
    upgrades: new UpgradeTransport(() => new Opening(), 0),
    quota: new ClientConnectionQuota(64),
    active: 0,
    capacity: 64,
    attempts: 0,
    failures: 0,
    traffic: new TargetTraffic(),
    suspectsStale: false,
    turn: 0,
  }
}

/** The targets that a balancer selects, as authorities. */
function picks(balancer: Balancer, count: number): string[] {
  return Array.from({ length: count }, () => balancer.pick([], null)!.authority)
}

function shares(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

test('round-robin: equal targets take turns', () => {
  const targets = [target('a'), target('b'), target('c')]
  assert.deepEqual(picks(new RoundRobin(targets), 6), ['a', 'b', 'c', 'a', 'b', 'c'])
})

test('round-robin: shares are exactly the weights, without bursts', () => {
  const targets = [target('a', 5), target('b', 1), target('c', 1)]
  assert.deepEqual(picks(new RoundRobin(targets), 7), ['a', 'a', 'b', 'a', 'c', 'a', 'a'])
  assert.deepEqual(shares(picks(new RoundRobin(targets), 7000)), { a: 5000, b: 1000, c: 1000 })
})

test('round-robin: while one target is always skipped, the others keep their weights', () => {
  const targets = [target('a', 3), target('b', 2), target('c', 1)]
  const balancer: Balancer = new RoundRobin(targets)
  const names = Array.from({ length: 300 }, () => balancer.pick([targets[0]!], null)!.authority)
  assert.deepEqual(shares(names), { b: 200, c: 100 })
})

test('least-pending: the target with the fewest attempts in progress for its weight is next', () => {
  const targets = [target('a'), target('b'), target('c', 4)]
  const balancer: Balancer = new LeastPending(targets)
  targets[0]!.active = 2
  targets[1]!.active = 1
  targets[2]!.active = 3
  assert.equal(balancer.pick([], null)!.authority, 'c')
  targets[2]!.active = 9
  assert.equal(balancer.pick([], null)!.authority, 'b')
  assert.equal(balancer.pick([targets[1]!], null)!.authority, 'c')
})

test('least-pending: idle targets share the requests, and a slow one gets fewer', () => {
  const targets = [target('a'), target('b'), target('c')]
  assert.deepEqual(shares(picks(new LeastPending(targets), 300)), { a: 100, b: 100, c: 100 })
  targets[1]!.active = 5
  assert.equal(shares(picks(new LeastPending(targets), 300)).b, undefined)
})

const KEYS = Array.from({ length: 10_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)

function placement(targets: readonly Target[]): Map<string, string> {
  const ring = new HashRing(targets)
  return new Map(KEYS.map((key) => [key, ring.pick([], key)!.authority]))
}

test('hash: a key keeps its target, in another process and in another order too', () => {
  const once = placement([target('a'), target('b'), target('c')])
  const again = placement([target('c'), target('a'), target('b')])
  assert.deepEqual(again, once)
})

test('hash: an added target takes only its own share of the keys', () => {
  const before = placement([target('a'), target('b'), target('c')])
  const after = placement([target('a'), target('b'), target('c'), target('d')])
  let moved = 0
  for (const key of KEYS) {
    if (before.get(key) === after.get(key)) continue
    moved++
    assert.equal(after.get(key), 'd', 'no key moves between targets that stay')
  }
  assert.ok(moved > 1250 && moved < 3750, `${moved} of 10,000 keys moved`)
})

test('hash: removing a target leaves the keys of the others in place', () => {
  const before = placement([target('a'), target('b'), target('c')])
  const after = placement([target('a'), target('c')])
  for (const key of KEYS) if (before.get(key) !== 'b') assert.equal(after.get(key), before.get(key))
})

test('hash: shares follow the weights roughly', () => {
  const counts = shares([...placement([target('a', 3), target('b', 1)]).values()])
  assert.ok(counts['a']! > 6300 && counts['a']! < 8700, JSON.stringify(counts))
})

test('hash: without a key targets take turns', () => {
  const ring = new HashRing([target('a'), target('b'), target('c')])
  assert.deepEqual(shares(picks(ring, 300)), { a: 100, b: 100, c: 100 })
})

test('hash: the keys of an unavailable target are spread over the others, and all other keys stay', () => {
  const targets = [target('a'), target('b'), target('c')]
  const ring = new HashRing(targets)
  const before = new Map(KEYS.map((key) => [key, ring.pick([], key)!]))
  const moved: string[] = []
  targets[1]!.isAvailable = false
  for (const [key, first] of before) {
    const now = ring.pick([], key)!
    assert.equal(now, ring.pick([first], key) === now || first !== targets[1] ? now : null)
    if (first === targets[1]) moved.push(now.authority)
    else assert.equal(now, first)
  }
  const { a = 0, c = 0, b = 0 } = shares(moved)
  assert.equal(b, 0)
  assert.ok(a > moved.length / 4 && c > moved.length / 4, `${a} and ${c}`)
})

test('power-of-two: the better of two is selected, by weight, and an unavailable one is never drawn', () => {
  const targets = [target('a'), target('b', 2), target('c')]
  targets[0]!.active = 3
  targets[1]!.active = 3
  targets[2]!.isAvailable = false
  const draws = [0, 0]
  const balancer: Balancer = new PowerOfTwo(targets, () => draws.shift() ?? 0)
  assert.equal(balancer.pick([], null)!.authority, 'b')
  assert.equal(shares(picks(new PowerOfTwo(targets), 200))['c'], undefined)
})

test('power-of-two: a busy target is selected only if both draws hit it', () => {
  const targets = [target('a'), target('b'), target('c'), target('d')]
  targets[0]!.active = 50
  assert.equal(shares(picks(new PowerOfTwo(targets), 1000))['a'], undefined)
})

const KINDS: Readonly<Record<string, (targets: readonly Target[]) => Balancer>> = {
  'round-robin': (targets) => new RoundRobin(targets),
  'least-pending': (targets) => new LeastPending(targets),
  'power-of-two': (targets) => new PowerOfTwo(targets),
  hash: (targets) => new HashRing(targets),
}
for (const [kind, create] of Object.entries(KINDS)) {
  test(`${kind}: every target is found once, then none`, () => {
    const targets = [target('a', 3), target('b'), target('c', 2)]
    const balancer = create(targets)
    const tried: Target[] = []
    for (let i = 0; i < 3; i++) {
      const next = balancer.pick(tried, 'key')!
      assert.equal(tried.includes(next), false)
      tried.push(next)
    }
    assert.equal(balancer.pick(tried, 'key'), null)
    assert.equal(create([]).pick([], 'key'), null)
  })
}

test('an unavailable target is skipped, and only its share of the keys moves', () => {
  const targets = [target('a'), target('b'), target('c')]
  const keys = Array.from({ length: 100 }, (_, i) => `key ${i}`)
  const ring = new HashRing(targets)
  const namesOf = () => keys.map((key) => ring.pick([], key)!.authority)
  const before = namesOf()
  targets[1]!.isAvailable = false
  const after = namesOf()
  assert.ok(after.every((name, i) => name === before[i] || before[i] === 'b'))
  const balancers: Balancer[] = [new RoundRobin(targets), new LeastPending(targets), ring]
  for (const balancer of balancers) assert.equal(picks(balancer, 30).includes('b'), false)
  for (const each of targets) each.isAvailable = false
  for (const balancer of balancers) assert.equal(balancer.pick([], 'key'), null)
})
