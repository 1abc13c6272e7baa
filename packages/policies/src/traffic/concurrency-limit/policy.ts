import { createHash } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import {
  type CompileEnv,
  clientNetwork,
  definePolicy,
  type Eventual,
  type Exchange,
  headerJoined,
  noteLimit,
  type Outcome,
  parseDuration,
  type Reply,
} from '@sluice/core'
import { type ConcurrencyLimitConfig, concurrencyLimitSchema } from './schema.js'
import { type Limits, type Permit, Semaphores } from './semaphore.js'
import { CHECK_INTERVAL_MS, Throttle } from './throttle.js'

/**
 * Maximum length of a part of a key. Longer parts are replaced by a digest, because clients choose header
 * values.
 */
const MAX_PART_LENGTH = 128
/** Separates the parts of a key. No part contains it. */
const SEPARATOR = '\n'

/** Compiles a key function from kinds such as `route` and `header:x-tenant`. */
function compileKey(kinds: readonly string[]): (x: Exchange) => string {
  const parts = kinds.map(partOf)
  if (parts.length === 1) return parts[0]!
  return (x) => parts.map((part) => part(x)).join(SEPARATOR)
}

function partOf(kind: string): (x: Exchange) => string {
  if (kind === 'route') return (x) => x.routeId
  if (kind === 'ip') return (x) => clientNetwork(x.clientIp)
  if (kind === 'consumer') return (x) => x.consumer?.id ?? ''
  const name = kind.slice('header:'.length).toLowerCase()
  return (x) => bounded(headerJoined(x.headers, name) ?? '')
}

function bounded(text: string): string {
  return text.length <= MAX_PART_LENGTH ? text : createHash('sha256').update(text).digest('base64')
}

/** Maximum wait in milliseconds, below the 30 s after which the pipeline aborts a policy. */
const MAX_WAIT_MS = 25_000

/** Limits the number of concurrent requests. */
export const concurrencyLimit = definePolicy({
  name: 'concurrency-limit',
  summary: 'Limits the number of concurrent requests per route, consumer, address or header.',
  schema: concurrencyLimitSchema,
  decides: () => 'limit',
  compile(config, env) {
    const limits = compileLimits(config, env)
    const group =
      config.name === undefined ? JSON.stringify(config) : `${config.name} ${config.key.join(' ')}`
    const semaphores = env.shared(`concurrency-limit:${group}`, () => new Semaphores())
    const permits = env.slot<Permit>()
    const keyOf = compileKey(config.key)
    const limited = refusalOf(config, env)
    const name = config.name ?? 'concurrency-limit'
    return {
      name: 'concurrency-limit',
      onRequest(x: Exchange): Eventual {
        // Identical uses in one chain share a step, so the request may already have its permit.
        if (permits.get(x) !== undefined) return null
        const key = keyOf(x)
        const permit = semaphores.acquire(key, limits)
        noteLimit(x, name, permit === null ? 0 : semaphores.freePermits(key, limits))
        if (permit === null) return limited
        permits.set(x, permit)
        return permit.state === 'held' ? null : whenGranted(permit, limited)
      },
      onFinish(x: Exchange) {
        const permit = permits.get(x)
        if (permit !== undefined) semaphores.release(permit)
      },
    }
  },
})

function whenGranted(permit: Permit, limited: Reply): Promise<Outcome> {
  return new Promise((resolve) => {
    permit.settle = (isHeld) => resolve(isHeld ? null : limited)
  })
}

function compileLimits({ limit, queue, adaptive }: ConcurrencyLimitConfig, env: CompileEnv): Limits {
  const waitMs = parseDuration(queue?.timeout ?? '1s')
  if (waitMs > MAX_WAIT_MS) throw new Error(`'queue.timeout' ${queue?.timeout} is too long; use at most 25s`)
  return {
    max: limit,
    queue: queue?.limit ?? 0,
    waitMs,
    throttle: adaptive === undefined ? null : runningThrottle(adaptive, env),
  }
}

function runningThrottle(
  { lag, min }: NonNullable<ConcurrencyLimitConfig['adaptive']>,
  env: CompileEnv,
): Throttle {
  const throttle = new Throttle(parseDuration(lag), min, performance.now())
  env.schedule(CHECK_INTERVAL_MS, () => throttle.check(performance.now()))
  return throttle
}

function refusalOf({ retryAfter }: ConcurrencyLimitConfig, env: CompileEnv): Reply {
  const seconds = Math.max(1, Math.ceil(parseDuration(retryAfter) / 1000))
  return env.refusal('GW_CONCURRENCY_LIMITED', 'too many concurrent requests; try again later', [
    'retry-after',
    String(seconds),
  ])
}
