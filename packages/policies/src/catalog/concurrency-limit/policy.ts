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
import { LOOK_MS, Throttle } from './throttle.js'

/** A longer part of a key is replaced by its digest: clients choose what stands in headers. */
const MAX_PART_LENGTH = 128
/** No part of a key holds it. */
const SEPARATOR = '\n'

/** The key of a request, from kinds such as `route` and `header:x-tenant`. */
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

const DEFAULT_KEY = ['route']
/** The pipeline itself gives up policies that take longer than half a minute. */
const MAX_WAIT_MS = 25_000

/** Bounds how many requests are under way at once. */
export const concurrencyLimit = definePolicy({
  name: 'concurrency-limit',
  summary: 'Bounds how many requests are under way at once, for each route, consumer, address or header.',
  schema: concurrencyLimitSchema,
  compile(config, env) {
    const limits = compileLimits(config, env)
    const kinds = config.key ?? DEFAULT_KEY
    const group = config.name === undefined ? JSON.stringify(config) : `${config.name} ${kinds.join(' ')}`
    const semaphores = env.shared(`concurrency-limit:${group}`, () => new Semaphores())
    const permits = env.slot<Permit>()
    const keyOf = compileKey(kinds)
    const limited = refusalOf(config, env)
    const name = config.name ?? 'concurrency-limit'
    return {
      name: 'concurrency-limit',
      onRequest(x: Exchange): Eventual {
        // Equal uses in one chain are one step: the request has its permit already.
        if (permits.get(x) !== undefined) return null
        const key = keyOf(x)
        const permit = semaphores.acquire(key, limits)
        noteLimit(x, name, permit === null ? 0 : semaphores.roomFor(key, limits))
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

function compileLimits({ max, queue, adaptive }: ConcurrencyLimitConfig, env: CompileEnv): Limits {
  const waitMs = parseDuration(queue?.timeout ?? '1s')
  if (waitMs > MAX_WAIT_MS) {
    throw new Error(`'queue.timeout' ${queue?.timeout} is too long; write 25s or less`)
  }
  return {
    max,
    queue: queue?.max ?? 0,
    waitMs,
    throttle: adaptive === undefined ? null : runningThrottle(adaptive, env),
  }
}

function runningThrottle(
  { lag = '50ms', min = 1 }: NonNullable<ConcurrencyLimitConfig['adaptive']>,
  env: CompileEnv,
): Throttle {
  const throttle = new Throttle(parseDuration(lag), min, performance.now())
  env.schedule(LOOK_MS, () => throttle.look(performance.now()))
  return throttle
}

function refusalOf({ retryAfter = '1s' }: ConcurrencyLimitConfig, env: CompileEnv): Reply {
  const seconds = Math.max(1, Math.ceil(parseDuration(retryAfter) / 1000))
  return env.refusal('GW_CONCURRENCY_LIMITED', 'too many requests are under way; try again later', [
    'retry-after',
    String(seconds),
  ])
}
