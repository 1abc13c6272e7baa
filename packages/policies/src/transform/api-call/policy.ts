import {
  type CompileEnv,
  definePolicy,
  type Eventual,
  type Exchange,
  type Outcome,
  type PolicyIdentity,
  type Step,
} from '@sluice/core'
import { CALL_LOOP, hopField } from '../../shared/call/call-hops.js'
import { Draft } from '../../shared/field-location/draft.js'
import type { Side } from '../../shared/message/side.js'
import { withContext } from '../../shared/outcome/with-context.js'
import { Call, type CallResult } from './call.js'
import { compileInputs } from './inputs.js'
import { OneWayQueue } from './one-way-queue.js'
import { type ApiCallConfig, apiCallSchema } from './schema.js'

/** Calls other servers and puts values from their responses into the message. */
export const apiCall = definePolicy({
  name: 'api-call',
  summary:
    'Calls other servers in parallel and puts values from their responses into the request or the response.',
  schema: apiCallSchema,
  cost: 'io',
  isPerUse: true,
  compile(config, env, use): Step {
    const side = config.phase
    const { calls, readsRequestBody, readsBody } = compileCalls(config, env, { side, use })
    const run = (x: Exchange, body: Uint8Array | null): Eventual => runCalls(calls, x, side, body)
    if (side === 'request') {
      return readsBody
        ? { name: 'api-call', onRequestBody: run }
        : { name: 'api-call', onRequest: (x) => run(x, null) }
    }
    return {
      name: 'api-call',
      ...(readsRequestBody && { onRequestBody: collect }),
      ...(readsBody ? { onResponseBody: run } : { onResponse: (x: Exchange) => run(x, null) }),
    }
  },
})

interface CompiledCalls {
  readonly calls: readonly Call[]
  /** True if an expression reads the request body. */
  readonly readsRequestBody: boolean
  /** True if the body of the current message must be buffered. */
  readonly readsBody: boolean
}

function compileCalls(
  config: ApiCallConfig,
  env: CompileEnv,
  { side, use }: { readonly side: Side; readonly use: PolicyIdentity | undefined },
): CompiledCalls {
  const inputs = compileInputs(config.inputs ?? {}, env)
  const queue = env.shared('api-call:one-way', () => new OneWayQueue())
  const context = { env, policy: use?.id ?? 'api-call', side, inputs, queue }
  const names = config.calls.map(({ name }) => name)
  const repeated = names.find((name, i) => names.indexOf(name) !== i)
  if (repeated !== undefined)
    throw new Error(`two calls are named '${repeated}'; give each call its own name`)
  const calls = config.calls.map((each) => withContext(`call '${each.name}':`, () => new Call(each, context)))
  const keys = config.calls.flatMap(({ cache }) => (cache?.key ?? []).map((text) => env.expression(text)))
  const read = [...keys, ...calls.flatMap(({ expressions }) => expressions)]
  const readsResponse = inputs.readsResponse || read.some((each) => each.readsResponse)
  if (side === 'request' && readsResponse)
    throw new Error("an expression reads the response, which does not exist yet; write 'phase: response'")
  const readsRequestBody = inputs.readsBody || read.some((each) => each.readsBody)
  const needsBody = calls.some((call) => call.changesBody || call.forwardsBody)
  return { calls, readsRequestBody, readsBody: needsBody || (side === 'request' && readsRequestBody) }
}

/** Starts all calls and continues when all have ended. */
function runCalls(calls: readonly Call[], x: Exchange, side: Side, body: Uint8Array | null): Eventual {
  if (hopField(x) === null) return CALL_LOOP
  const results = calls.map((call) => call.start(x))
  const settle = (all: readonly CallResult[]): Outcome => {
    const draft = new Draft(x, side, body)
    for (const [i, call] of calls.entries()) {
      const outcome = call.settle(x, draft, all[i]!)
      if (outcome !== null) return outcome
    }
    draft.commit()
    return null
  }
  const isWaiting = results.some((result) => result instanceof Promise)
  return isWaiting ? Promise.all(results).then(settle) : settle(results as CallResult[])
}

/** Does nothing: a step with this hook makes the gateway buffer the request body. */
function collect(): Outcome {
  return null
}
