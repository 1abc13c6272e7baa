import {
  type CompileEnv,
  counterPrefix,
  type ErrorCode,
  type Eventual,
  type Exchange,
  type Expression,
  type Limit,
  type LimitKind,
  noteLimit,
  type Outcome,
  refusal,
  type Step,
} from '@sluice/core'
import { VERDICT, type Verdict } from './lease.js'
import { type KeyLeases, LeaseTable, leftOf, SWEEP_MS } from './lease-table.js'
import { LeaseTables } from './lease-tables.js'
import { limitCounts } from './limit-counts.js'
import { type HeaderWriter, headerWriter } from './limit-headers.js'
import { type CostBounds, compileKey, costBounds, costOf, DEFAULT_KEY, type KeyReader } from './limit-key.js'
import type { LimitConfig } from './limit-options.js'
import { LimitStore } from './limit-store.js'

/** Options in which `rate-limit` and `quota` differ. */
export interface LimitOptions {
  readonly kind: LimitKind
  readonly code: ErrorCode
  /** Detail of the refusal, for clients. */
  readonly detail: string
  readonly limits: readonly Limit[]
  readonly id: string
}

/** Compiles a policy that counts requests. @throws Error for an invalid expression. */
export function compileLimit(config: LimitConfig, options: LimitOptions, env: CompileEnv): Step {
  const { kind, id, limits } = options
  const key = compileKey(listOf(config.key), env)
  const { cost: costs = 1 } = config
  const cost = typeof costs === 'number' ? null : costExpression(costs, env)
  const step = new LimitStep(config, options, { env, key, cost, table: tableOf(config, options, env) })
  const onRequest = (x: Exchange): Eventual => step.admit(x)
  const write = headerWriter(config.headers ?? 'draft', { name: id, limits })
  const readsBody = key.readsBody || cost?.readsBody === true
  const settles = cost?.readsResponse === true
  return {
    name: kind,
    ...(readsBody ? { onRequestBody: onRequest } : { onRequest }),
    ...(write === null && !settles ? {} : { onResponse: (x: Exchange) => step.onResponse(x) }),
  }
}

function listOf(key: LimitConfig['key']): readonly string[] {
  if (key === undefined) return [DEFAULT_KEY]
  return typeof key === 'string' ? [key] : key
}

/** Compiles the cost expression. @throws Error if it is invalid */
function costExpression(cost: string, env: CompileEnv): Expression {
  const expression = env.expression(cost)
  if (expression.readsResponse && expression.readsBody)
    throw new Error(`the cost '${cost}' reads the request body and the response; use two policies`)
  return expression
}

/** Returns the leases of the policy. They survive reloads as long as its limits stay the same. */
function tableOf(config: LimitConfig, { kind, id, limits }: LimitOptions, env: CompileEnv): LeaseTable {
  const { scope = 'cluster', onStoreDown = 'local' } = config
  const rules = limits.map(({ text, rule }) => [text, rule(0)])
  const group = JSON.stringify([kind, id, scope, onStoreDown, rules])
  const tables = env.shared('limits', () => new LeaseTables())
  const store = env.state.store(scope)
  const table = tables.use(
    store,
    group,
    () => new LeaseTable(limits, counterPrefix(kind, id), new LimitStore(env, scope, onStoreDown)),
  )
  env.onClose(() => tables.release(store, group))
  env.schedule(SWEEP_MS, () => table.sweep(performance.now()))
  return table
}

interface LimitParts {
  readonly env: CompileEnv
  readonly key: KeyReader
  readonly cost: Expression | null
  readonly table: LeaseTable
}

class LimitStep {
  readonly #config: LimitConfig
  readonly #options: LimitOptions
  readonly #key: KeyReader
  /** Cost expression, or null for a fixed cost. */
  readonly #cost: Expression | null
  readonly #fixedCost: number
  readonly #bounds: CostBounds
  readonly #settles: boolean
  readonly #table: LeaseTable
  readonly #count: ReturnType<typeof limitCounts>
  readonly #write: HeaderWriter | null
  readonly #entries
  readonly #isShadow: boolean

  constructor(config: LimitConfig, options: LimitOptions, { env, key, cost, table }: LimitParts) {
    this.#config = config
    this.#options = options
    this.#key = key
    this.#cost = cost
    this.#settles = cost?.readsResponse === true
    this.#fixedCost = typeof config.cost === 'number' ? config.cost : 1
    this.#bounds = costBounds(config, this.#settles)
    this.#table = table
    this.#count = limitCounts(env, options.id)
    this.#write = headerWriter(config.headers ?? 'draft', { name: options.id, limits: options.limits })
    this.#entries = env.slot<KeyLeases>()
    this.#isShadow = config.dryRun === true
  }

  admit(x: Exchange): Eventual {
    const key = this.#key.read(x)
    if (key === null && this.#config.onMissingKey !== undefined && this.#config.onMissingKey !== 'anonymous')
      return this.#withoutKey(x)
    // A cost that depends on the response is charged later.
    const cost = this.#cost === null || this.#settles ? this.#fixedCost : costOf(this.#cost, x, this.#bounds)
    const entry = this.#table.of(this.#placeOf(x), key ?? '')
    const verdict = entry.take(cost, performance.now())
    if (verdict !== VERDICT.unknown) return this.#decide(x, entry, cost, verdict)
    return entry.takeWhenKnown(cost).then((known) => this.#decide(x, entry, cost, known))
  }

  onResponse(x: Exchange): null {
    const entry = this.#entries.get(x)
    if (entry === undefined) return null
    if (this.#settles) this.#settle(x, entry)
    if (this.#write !== null) this.#write(x.responseHeaders, entry)
    return null
  }

  #settle(x: Exchange, entry: KeyLeases): void {
    const more = costOf(this.#cost!, x, this.#bounds) - 1
    if (more !== 0) for (const lease of entry.leases) lease.settle(more)
  }

  #placeOf(x: Exchange): string {
    const { counterScope } = this.#config
    if (counterScope === 'route') return x.routeId
    return counterScope === 'api' ? (x.api?.name ?? x.routeId) : ''
  }

  #withoutKey(x: Exchange): Outcome {
    if (this.#config.onMissingKey === 'skip' || this.#isShadow) {
      this.#count(x.routeId, 'skipped')
      return null
    }
    this.#count(x.routeId, 'refused')
    return refusal('GW_LIMIT_KEY_MISSING', 'the request has no key for the limit')
  }

  #decide(x: Exchange, entry: KeyLeases, cost: number, verdict: Verdict): Outcome {
    const { id } = this.#options
    if (verdict === VERDICT.allowed) {
      this.#entries.set(x, entry)
      noteLimit(x, id, leftOf(entry.tightest))
      this.#count(x.routeId, 'admitted')
      return null
    }
    if (verdict === VERDICT.unavailable) return this.#unavailable(x)
    noteLimit(x, id, 0)
    if (this.#isShadow) {
      this.#entries.set(x, entry)
      this.#count(x.routeId, 'shadow')
      return null
    }
    this.#count(x.routeId, 'limited')
    return this.#refuse(entry, cost)
  }

  #unavailable(x: Exchange): Outcome {
    this.#count(x.routeId, 'unavailable')
    if (this.#config.onStoreDown === 'open' || this.#isShadow) return null
    return refusal('GW_LIMITER_UNAVAILABLE', 'requests cannot be counted at the moment; try again', [
      'retry-after',
      '1',
    ])
  }

  #refuse(entry: KeyLeases, cost: number): Outcome {
    const { code, detail } = this.#options
    const now = performance.now()
    const retryMono = entry.refusing(cost, now)?.retryMonoFor(cost, now) ?? now
    const headers = ['retry-after', String(Math.max(1, Math.ceil((retryMono - now) / 1000)))]
    if (this.#write !== null) this.#write(headers, entry)
    return refusal(code, detail, headers)
  }
}
