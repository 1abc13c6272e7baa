import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Balancer, HashRing, LeastPending, RoundRobin } from './balancer.js'
import { ClientShares } from './client-shares.js'
import { EjectionPool } from './state/ejection.js'
import { TargetState } from './state/target-state.js'
import type { Target } from './target.js'
import type { Transport } from './transport.js'

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
    weight,
    isFailover: false,
    isAvailable: true,
    state: new TargetState({
      breaker: null,
      outlier: null,
      pool: new EjectionPool(0, 0),
      onChange: () => {},
    }),
    transport: NO_TRANSPORT,
    shares: new ClientShares(64),
    active: 0,
    capacity: 64,
    attempts: 0,
    failures: 0,
    turn: 0,
  }
}

/** What a balancer picks, as authorities. */
function picks(balancer: Balancer, targets: readonly Target[], count: number): string[] {
  return Array.from({ length: count }, () => balancer.pick(targets, [], null)!.authority)
}

function shares(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

test('round-robin: equal targets take turns', () => {
  const targets = [target('a'), target('b'), target('c')]
  assert.deepEqual(picks(new RoundRobin(), targets, 6), ['a', 'b', 'c', 'a', 'b', 'c'])
})

test('round-robin: shares are exactly the weights, without bursts', () => {
  const targets = [target('a', 5), target('b', 1), target('c', 1)]
  assert.deepEqual(picks(new RoundRobin(), targets, 7), ['a', 'a', 'b', 'a', 'c', 'a', 'a'])
  assert.deepEqual(shares(picks(new RoundRobin(), targets, 7000)), { a: 5000, b: 1000, c: 1000 })
})

test('round-robin: while one target is always passed over, the others keep their weights', () => {
  const targets = [target('a', 3), target('b', 2), target('c', 1)]
  const balancer: Balancer = new RoundRobin()
  const names = Array.from({ length: 300 }, () => balancer.pick(targets, [targets[0]!], null)!.authority)
  assert.deepEqual(shares(names), { b: 200, c: 100 })
})

test('least-pending: the target with the fewest attempts under way for its weight is next', () => {
  const balancer: Balancer = new LeastPending()
  const targets = [target('a'), target('b'), target('c', 4)]
  targets[0]!.active = 2
  targets[1]!.active = 1
  targets[2]!.active = 3
  assert.equal(balancer.pick(targets, [], null)!.authority, 'c')
  targets[2]!.active = 9
  assert.equal(balancer.pick(targets, [], null)!.authority, 'b')
  assert.equal(balancer.pick(targets, [targets[1]!], null)!.authority, 'c')
})

test('least-pending: idle targets share what comes, and a slow one gets less of it', () => {
  const targets = [target('a'), target('b'), target('c')]
  assert.deepEqual(shares(picks(new LeastPending(), targets, 300)), { a: 100, b: 100, c: 100 })
  targets[1]!.active = 5
  assert.equal(shares(picks(new LeastPending(), targets, 300)).b, undefined)
})

const KEYS = Array.from({ length: 10_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)

function placement(targets: readonly Target[]): Map<string, string> {
  const ring = new HashRing(targets)
  return new Map(KEYS.map((key) => [key, ring.pick(targets, [], key)!.authority]))
}

test('hash: a key stays with its target, in another process and in another order too', () => {
  const once = placement([target('a'), target('b'), target('c')])
  const again = placement([target('c'), target('a'), target('b')])
  assert.deepEqual(again, once)
})

test('hash: a target that comes takes only its own share of the keys', () => {
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

test('hash: a target that goes leaves the keys of the others where they are', () => {
  const before = placement([target('a'), target('b'), target('c')])
  const after = placement([target('a'), target('c')])
  for (const key of KEYS) if (before.get(key) !== 'b') assert.equal(after.get(key), before.get(key))
})

test('hash: shares follow the weights roughly', () => {
  const counts = shares([...placement([target('a', 3), target('b', 1)]).values()])
  assert.ok(counts['a']! > 6300 && counts['a']! < 8700, JSON.stringify(counts))
})

test('hash: without a key, and once the place of the key was tried, targets take turns', () => {
  const targets = [target('a'), target('b'), target('c')]
  const ring = new HashRing(targets)
  assert.deepEqual(shares(picks(ring, targets, 300)), { a: 100, b: 100, c: 100 })
  const first = ring.pick(targets, [], 'key')!
  const others = Array.from({ length: 100 }, () => ring.pick(targets, [first], 'key')!)
  assert.deepEqual(Object.values(shares(others.map((other) => other.authority))), [50, 50])
  assert.equal(others.includes(first), false)
})

const KINDS: Readonly<Record<string, (targets: readonly Target[]) => Balancer>> = {
  'round-robin': () => new RoundRobin(),
  'least-pending': () => new LeastPending(),
  hash: (targets) => new HashRing(targets),
}
for (const [kind, create] of Object.entries(KINDS)) {
  test(`${kind}: every target is found once, then none`, () => {
    const targets = [target('a', 3), target('b'), target('c', 2)]
    const balancer = create(targets)
    const tried: Target[] = []
    for (let i = 0; i < 3; i++) {
      const next = balancer.pick(targets, tried, 'key')!
      assert.equal(tried.includes(next), false)
      tried.push(next)
    }
    assert.equal(balancer.pick(targets, tried, 'key'), null)
    assert.equal(create([]).pick([], [], 'key'), null)
  })
}

test('a target that is not available is passed over, and only its share of the keys moves', () => {
  const targets = [target('a'), target('b'), target('c')]
  const keys = Array.from({ length: 100 }, (_, i) => `key ${i}`)
  const ring = new HashRing(targets)
  const namesOf = () => keys.map((key) => ring.pick(targets, [], key)!.authority)
  const before = namesOf()
  targets[1]!.isAvailable = false
  const after = namesOf()
  assert.ok(after.every((name, i) => name === before[i] || before[i] === 'b'))
  for (const balancer of [new RoundRobin(), new LeastPending(), ring])
    assert.equal(picks(balancer, targets, 30).includes('b'), false)
  for (const each of targets) each.isAvailable = false
  for (const balancer of [new RoundRobin(), new LeastPending(), ring])
    assert.equal(balancer.pick(targets, [], 'key'), null)
})
