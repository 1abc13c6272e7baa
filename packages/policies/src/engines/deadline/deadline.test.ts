import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { Replaceable } from './replaceable.js'
import { runWithTimeout, TimeLimitExceeded } from './run-with-timeout.js'

const WORD = new Int32Array(new SharedArrayBuffer(4))

/** Waits without using CPU. */
function sleep(): void {
  Atomics.wait(WORD, 0, 0)
}

function spin(): void {
  for (;;);
}

test('a call within its time limit returns or throws normally', () => {
  assert.equal(
    runWithTimeout(10_000, () => 5),
    5,
  )
  assert.throws(
    () =>
      runWithTimeout(10_000, () => {
        throw new RangeError('no')
      }),
    RangeError,
  )
})

test('calls inside one another each have their own end', () => {
  const inner = () => assert.throws(() => runWithTimeout(50, spin), TimeLimitExceeded)
  assert.equal(
    runWithTimeout(10_000, () => {
      inner()
      return 'on'
    }),
    'on',
  )
})

test('a timeout reports if the call used the CPU', () => {
  const isStarved = (run: () => void): boolean => {
    try {
      runWithTimeout(200, run)
    } catch (error) {
      assert.ok(error instanceof TimeLimitExceeded)
      return error.isStarved
    }
    return assert.fail('it ended')
  }
  assert.equal(isStarved(sleep), true)
})

class Engine {
  isBroken = false
  closed = 0
  readonly number: number

  constructor(number: number) {
    this.number = number
  }

  close(): void {
    this.isBroken = true
    this.closed++
  }

  break(isStarved: boolean): never {
    this.isBroken = true
    throw new TimeLimitExceeded(isStarved)
  }
}

async function engines() {
  const made: Engine[] = []
  const replaceable = await Replaceable.of(async () => {
    made.push(new Engine(made.length))
    return made.at(-1)!
  })
  return { made, replaceable }
}

test('a broken engine is closed and replaced once, whoever waits', async () => {
  const { made, replaceable } = await engines()
  assert.throws(() => replaceable.run((engine) => engine.break(false)), TimeLimitExceeded)
  assert.equal(made[0]!.closed, 1)
  const numbers = await Promise.all([1, 2].map(() => replaceable.run(({ number }) => number)))
  assert.deepEqual(numbers, [1, 1])
  assert.equal(
    replaceable.run(({ number }) => number),
    1,
  )
})

test('a call that got no CPU is repeated with more time', async () => {
  const { made, replaceable } = await engines()
  const call = (engine: Engine, factor: number) => (factor > 1 ? engine.number : engine.break(true))
  assert.equal(await replaceable.run(call), 1)
  await assert.rejects(async () => replaceable.run((engine) => engine.break(true)), TimeLimitExceeded)
  assert.equal(made.length, 3)
})

test('no engine is created after close', async () => {
  const { made, replaceable } = await engines()
  replaceable.close()
  await assert.rejects(async () => replaceable.run(() => 1), /the engine is closed/)
  assert.equal(made.length, 1)
})

test('a process without descriptors refuses the call and goes on', () => {
  const { status, stdout, stderr } = spawnSync(
    'sh',
    ['-c', `ulimit -n 400; exec "${process.execPath}" --input-type=module -e "$0"`, WITHOUT_DESCRIPTORS],
    { encoding: 'utf8' },
  )
  assert.deepEqual([status, stdout], [0, '1 GW_OVERLOADED 2'], stderr)
})

/** Takes all descriptors after the first call, and releases them before the third. */
const WITHOUT_DESCRIPTORS = `
import { closeSync, openSync } from 'node:fs'
import { runWithTimeout } from '${new URL('./run-with-timeout.js', import.meta.url)}'
const taken = []
const takeAll = () => { try { for (;;) taken.push(openSync('/dev/null', 'r')) } catch {} }
const results = [runWithTimeout(10_000, () => 1)]
takeAll()
runWithTimeout(10_000, takeAll)
try { runWithTimeout(10_000, () => 0) } catch (error) { results.push(error.code) }
for (const descriptor of taken) closeSync(descriptor)
results.push(runWithTimeout(10_000, () => 2))
process.stdout.write(results.join(' '))
`
