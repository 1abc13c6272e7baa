import assert from 'node:assert/strict'
import { scryptSync } from 'node:crypto'
import { test } from 'node:test'
import { type PasswordHash, parsePasswordHash } from '../../identity/consumers/password.js'
import { type Attempt, type Job, PasswordQueue } from './password-queue.js'

const CLIENT = '192.0.2.1'

/** The hash of `right`, of low cost. */
function cheapHash(): PasswordHash {
  const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
  const key = scryptSync('right', 'saltsalt', 32, { N: 1024, r: 8, p: 1 })
  return parsePasswordHash(`$scrypt$ln=10,r=8,p=1$${unpadded(Buffer.from('saltsalt'))}$${unpadded(key)}`)
}

const hash = cheapHash()

function attempt(fields: Partial<Attempt> = {}): Attempt {
  return { password: 'wrong', hash, isUnknownUser: false, isKnownGood: false, client: CLIENT, ...fields }
}

const going = () => ({ endedMono: 0 })
const settled = (jobs: readonly (Job | null)[]) => Promise.all(jobs.map((job) => job?.result))

/** The labels of jobs in the order in which they end. */
function orderOf(jobs: readonly (readonly [string, Job | null])[]): Promise<string[]> {
  const order: string[] = []
  return Promise.all(jobs.map(([label, job]) => job?.result.then(() => void order.push(label)))).then(
    () => order,
  )
}

test('attempts of one client on unknown users cost at most three hashes at once', async () => {
  const queue = new PasswordQueue()
  const jobs = Array.from({ length: 150 }, () => queue.add(attempt({ isUnknownUser: true }), going()))
  assert.equal(new Set(jobs).size, 3)
  assert.deepEqual(new Set(await settled(jobs)), new Set([false]))
})

test('an unknown user has no correct password, not even that of the dummy hash', async () => {
  const job = new PasswordQueue().add(attempt({ isUnknownUser: true, password: 'right' }), going())
  assert.equal(await job?.result, false)
})

test('a shared hash does not affect an attempt on a real user', async () => {
  const queue = new PasswordQueue()
  const guesses = Array.from({ length: 20 }, () => queue.add(attempt({ isUnknownUser: true }), going()))
  const right = queue.add(attempt({ password: 'right' }), going())
  assert.ok(!guesses.includes(right))
  assert.equal(await right?.result, true)
  await settled(guesses)
})

test('attempts on real and unknown users wait equally long', async () => {
  for (const isUnknownUser of [true, false]) {
    const queue = new PasswordQueue()
    const before = Array.from({ length: 4 }, () => queue.add(attempt(), going()))
    queue.add(attempt({ isUnknownUser: true }), going())
    const asked = queue.add(attempt({ isUnknownUser }), going())
    const after = queue.add(attempt(), going())
    const order = await orderOf([
      ['asked', asked],
      ['after', after],
      ...before.map((job) => ['before', job] as const),
    ])
    assert.ok(order.indexOf('asked') >= 3, `${isUnknownUser}: ${order.join()}`)
    assert.ok(order.indexOf('asked') <= 5, `${isUnknownUser}: ${order.join()}`)
  }
})

test('a client has half of the free slots, whether or not the users it tries exist', async () => {
  for (const isUnknownUser of [true, false]) {
    const queue = new PasswordQueue()
    const jobs = Array.from({ length: 300 }, () => queue.add(attempt({ isUnknownUser }), going()))
    assert.equal(jobs.filter((job) => job !== null).length, 171, String(isUnknownUser))
    assert.equal(queue.add(attempt({ isUnknownUser: !isUnknownUser }), going()), null)
    assert.ok(queue.add(attempt({ client: '192.0.2.2' }), going()) !== null)
    await settled(jobs)
    assert.ok(queue.add(attempt(), going()) !== null, 'slots come back')
  }
})

test('all slots are bounded, and eight greedy clients leave one to the next', () => {
  const queue = new PasswordQueue()
  const gone = { endedMono: 1 }
  let taken = 0
  for (let i = 0; i < 8; i++) {
    while (queue.add(attempt({ client: `c${i}` }), taken < 2 ? going() : gone) !== null) taken++
  }
  assert.ok(taken <= 512)
  assert.ok(queue.add(attempt({ client: 'next' }), going()) !== null)
})

test('clients take turns', async () => {
  const queue = new PasswordQueue()
  const begun: string[] = []
  // The queue reads the password when it begins the hash.
  const watched = (client: string): Attempt =>
    Object.defineProperty(attempt({ client }), 'password', {
      get() {
        begun.push(client)
        return 'wrong'
      },
    })
  const jobs = Array.from({ length: 60 }, () => queue.add(watched('greedy'), going()))
  await settled([...jobs, queue.add(watched('modest'), going())])
  assert.equal(begun.indexOf('modest'), 3, begun.join())
})

test('credentials that were right before go first, and need no slot', async () => {
  const queue = new PasswordQueue()
  const greedy = Array.from({ length: 300 }, () => ['greedy', queue.add(attempt(), going())] as const)
  const good = queue.add(attempt({ password: 'right', isKnownGood: true }), going())
  assert.equal(await good?.result, true)
  const order = await orderOf([...greedy.filter(([, job]) => job !== null), ['good', good]])
  assert.ok(order.length > 100)
})

test('no hash is made for requests that have ended', async () => {
  const queue = new PasswordQueue()
  const running = [queue.add(attempt(), going()), queue.add(attempt(), going())]
  const gone = going()
  const job = queue.add(attempt({ password: 'right' }), gone)
  gone.endedMono = 1
  await settled(running)
  assert.equal(await job?.result, null)
})
