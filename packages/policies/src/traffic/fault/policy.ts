import {
  appendHeader,
  type CompileEnv,
  definePolicy,
  type Eventual,
  type Exchange,
  parseDuration,
  parseRatio,
  type Reply,
} from '@sluice/core'
import { Delays } from '../../shared/time/delays.js'
import { compileGuard } from './guard.js'
import { type FaultConfig, faultSchema } from './schema.js'

/** Injects delays and errors to test how callers handle them. */
export const fault = definePolicy({
  name: 'fault',
  summary: 'Injects delays and errors into some requests, to test how callers handle them.',
  schema: faultSchema,
  secretNames: ({ guard }) => (guard === undefined ? [] : [guard.header.toLowerCase()]),
  needsCondition: ({ guard }) => guard === undefined,
  compile(config, env) {
    if (config.delay === undefined && config.abort === undefined)
      throw new Error("neither 'delay' nor 'abort' is configured; add one of them, or remove the policy")
    const passesGuard = compileGuard(config.guard)
    const delay = compileDelay(config, env)
    const abort = compileAbort(config, env)
    const delayed = env.slot<true>()
    env.report('fault_enabled', {
      delay: config.delay?.duration ?? null,
      abort: config.abort?.status ?? null,
    })
    const inject = (x: Exchange, kind: 'delay' | 'abort'): void => {
      x.setVar('fault', kind)
      env.report('fault_injected', { fault: kind, route: x.routeId, id: x.id })
    }
    return {
      name: 'fault',
      onRequest(x): Eventual {
        if (passesGuard !== null && !passesGuard(x)) return null
        const reply = abort === null ? null : abort()
        const wait = delay === null ? null : delay(reply)
        if (wait !== null) {
          delayed.set(x, true)
          inject(x, 'delay')
        }
        if (reply !== null) inject(x, 'abort')
        return wait ?? reply
      },
      onResponse(x) {
        if (delayed.get(x) === true) appendHeader(x.responseHeaders, 'x-gw-fault', 'delay')
        return null
      },
    }
  },
})

function compileDelay({ delay, maxDelayed }: FaultConfig, env: CompileEnv) {
  if (delay === undefined) return null
  const ms = Delays.check(parseDuration(delay.duration))
  const share = parseRatio(delay.percent ?? '100%')
  const delays = new Delays(maxDelayed, env)
  return (reply: Reply | null) => (Math.random() < share && delays.hasRoom ? delays.wait(ms, reply) : null)
}

function compileAbort({ abort }: FaultConfig, env: CompileEnv) {
  if (abort === undefined) return null
  const share = parseRatio(abort.percent ?? '100%')
  const detail = 'this error was injected on purpose, to test how callers handle it'
  const reply = { ...env.refusal('GW_FAULT_INJECTED', detail, ['x-gw-fault', 'abort']), status: abort.status }
  return () => (Math.random() < share ? reply : null)
}
