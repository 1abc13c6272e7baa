import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PolicyUse } from '@sluice/config'
import {
  CheckFailure,
  type CompileEnv,
  type Eventual,
  Exchange,
  type Policy,
  refusal,
  type Step,
} from '@sluice/core'
import { type Chain, EMPTY_CHAIN } from '../flow/chain.js'
import { type Hook, runHooks } from '../flow/hook.js'
import { ChainCompiler } from './chain.js'

const BLOCKED = refusal('GW_POLICY_REFUSED', 'no')
const ENV = {} as CompileEnv

interface Bench {
  /** Calls of the steps, in order. */
  readonly reported: string[]
  /** Number of compilations. */
  readonly compiled: string[]
  readonly ignored: string[]
  compile(...uses: Partial<PolicyUse>[]): Promise<Chain>
}

/** Policies named by their hooks: `all` has every hook, the others one on the request. */
function bench(): Bench {
  const reported: string[] = []
  const compiled: string[] = []
  const ignored: string[] = []
  const report = (word: string): null => {
    reported.push(word)
    return null
  }
  const onRequest = (run: (x: Exchange) => Eventual) => (): Step => ({ name: 'step', onRequest: run })
  const steps: Readonly<Record<string, (config: unknown) => Step | null>> = {
    all: (config) => ({
      name: 'all',
      onRequest: () => report(`request ${JSON.stringify(config)}`),
      onRequestBody: (_, body) => report(`body ${body.length}`),
      onAttempt: () => report('attempt'),
      onResponse: () => report('response'),
      onResponseBody: (_, body) => report(`response body ${body.length}`),
      onFinish: () => void report('finish'),
    }),
    nothing: () => null,
    blocks: onRequest(() => BLOCKED),
    throws: onRequest(() => {
      throw new Error('broken')
    }),
    rejects: onRequest(() => Promise.reject(new Error('broken later'))),
    unchecked: onRequest(() => {
      throw new CheckFailure('GW_POLICY_ERROR', 'no', 'no verdict')
    }),
    'unchecked-later': onRequest(() =>
      Promise.reject(new CheckFailure('GW_POLICY_ERROR', 'no', 'no verdict')),
    ),
    'blocks-later': onRequest(() => Promise.resolve(BLOCKED)),
    unusable: () => {
      throw new Error('the key is too short')
    },
  }
  const policies = Object.entries(steps).map(([name, step]): [string, Policy] => {
    const compile = (config: unknown): Step | null => {
      compiled.push(name)
      return step(config)
    }
    return [name, { name, summary: '', schema: {} as Policy['schema'], compile }]
  })
  const compiler = new ChainCompiler(new Map(policies), ENV, (policy, error) => {
    ignored.push(`${policy}: ${(error as Error).message}`)
  })
  const compile = (...uses: Partial<PolicyUse>[]): Promise<Chain> =>
    compiler.compile(
      uses.map(
        (use): PolicyUse => ({
          id: `id-${use.use ?? 'all'}`,
          use: 'all',
          with: {},
          when: null,
          onError: 'fail',
          ...use,
        }),
      ),
    )
  return { reported, compiled, ignored, compile }
}

function run(hooks: readonly Hook[] | null, x = new Exchange()): Eventual {
  return runHooks(hooks ?? [], x, { hook: null, isOver: false, turn: 0 }, 0)
}

test('a chain without policies, or with policies without hooks, is empty in every phase', async () => {
  const { compile } = bench()
  assert.deepEqual(await compile(), EMPTY_CHAIN)
  assert.deepEqual(await compile({ use: 'nothing' }), EMPTY_CHAIN)
})

test('each hook runs in its phase, in the order of the chain', async () => {
  const { compile, reported } = bench()
  const chain = await compile({ with: { n: 1 } }, { use: 'nothing' }, { with: { n: 2 } })
  const x = Object.assign(new Exchange(), { body: new Uint8Array(3), responseBody: new Uint8Array(4) })
  for (const hooks of [chain.request, chain.requestBody, chain.attempt, chain.response, chain.responseBody])
    assert.equal(run(hooks, x), null)
  for (const hook of chain.finish ?? []) hook.run(x)
  const twice = (word: string) => [word, word]
  assert.deepEqual(reported, [
    ...['request {"n":1}', 'request {"n":2}'],
    ...[
      ...twice('body 3'),
      ...twice('attempt'),
      ...twice('response'),
      ...twice('response body 4'),
      ...twice('finish'),
    ],
  ])
  assert.deepEqual(
    chain.response?.map(({ name, order }) => [name, order]),
    [
      ['id-all', 0],
      ['id-all', 2],
    ],
  )
})

test('policies with equal configuration share one step', async () => {
  const { compile, compiled } = bench()
  await compile({ with: { a: 1 } }, { with: { a: 1 } })
  await compile({ id: 'elsewhere', with: { a: 1 } })
  assert.deepEqual(compiled, ['all'])
  await compile({ with: { a: 2 } })
  assert.deepEqual(compiled, ['all', 'all'])
})

test('conditions are evaluated per request, and constant ones at compile time', async () => {
  const { compile, compiled } = bench()
  const chain = await compile({ use: 'blocks', when: 'req.method == "POST"' })
  assert.equal(run(chain.request, Object.assign(new Exchange(), { method: 'GET' })), null)
  assert.equal(run(chain.request, Object.assign(new Exchange(), { method: 'POST' })), BLOCKED)
  assert.equal(run((await compile({ use: 'blocks', when: 'true' })).request), BLOCKED)
  compiled.length = 0
  assert.deepEqual(await compile({ use: 'throws', when: 'false' }), EMPTY_CHAIN)
  assert.deepEqual(compiled, [])
})

test('a failing policy stops the request, or is only reported with onError: continue', async () => {
  const { compile, ignored } = bench()
  const strict = await compile({ use: 'throws' })
  assert.throws(() => run(strict.request), /broken/)
  const lenient = await compile(
    { use: 'throws', onError: 'continue' },
    { use: 'rejects', onError: 'continue' },
  )
  assert.equal(await run(lenient.request), null)
  assert.deepEqual(ignored, ['id-throws: broken', 'id-rejects: broken later'])
})

test('a failed check stops the request even with onError: continue', async () => {
  const { compile, ignored } = bench()
  const now = await compile({ use: 'unchecked', onError: 'continue' })
  const later = await compile({ use: 'unchecked-later', onError: 'continue' })
  assert.throws(() => run(now.request), CheckFailure)
  await assert.rejects(async () => run(later.request), CheckFailure)
  assert.deepEqual(ignored, [])
})

test('a condition that fails is a failure of its policy', async () => {
  const { compile, ignored } = bench()
  const when = 'int(req.header["n"]) == 1'
  const ask = (chain: Chain, n: string): unknown =>
    run(chain.request, Object.assign(new Exchange(), { headers: ['n', n] }))
  const strict = await compile({ use: 'blocks', when })
  assert.throws(() => ask(strict, 'abc'))
  const lenient = await compile({ use: 'blocks', when, onError: 'continue' })
  assert.equal(ask(lenient, 'abc'), null)
  assert.match(ignored.join(), /^id-blocks: [^,]+$/)
  assert.equal(ask(lenient, '1'), BLOCKED)
})

test('a policy with onError: continue still refuses', async () => {
  const { compile, ignored } = bench()
  const now = await compile({ use: 'blocks', onError: 'continue' })
  const later = await compile({ use: 'blocks-later', onError: 'continue' })
  assert.equal(run(now.request), BLOCKED)
  assert.equal(await run(later.request), BLOCKED)
  assert.deepEqual(ignored, [])
})

test('an error names the policy that does not compile', async () => {
  const { compile } = bench()
  await assert.rejects(compile({ use: 'unusable' }), {
    message: "policy 'id-unusable' (unusable): the key is too short",
  })
  await assert.rejects(compile({ use: 'absent' }), {
    message: "policy 'id-absent': unknown policy 'absent'",
  })
})
