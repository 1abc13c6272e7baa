import {
  type CompileEnv,
  clientNetwork,
  compileCidrs,
  definePolicy,
  type Exchange,
  type Expression,
  MemoryStore,
  type Outcome,
  parseDuration,
  parseRatio,
  type Reply,
  refusal,
} from '@sluice/core'
import { compileKey } from '../../shared/limits/limit-key.js'
import { withContext } from '../../shared/outcome/with-context.js'
import { BanStore } from './ban-store.js'
import { BanTable, type Threshold } from './ban-table.js'
import { type ClientBanConfig, clientBanSchema } from './schema.js'

/** Interval at which a worker reads bans made by others, in milliseconds. */
const LEARN_MS = 1000
const DETAIL = 'too many of your requests have failed; try again after the time in Retry-After'

/** Bans callers whose requests keep failing. */
export const clientBan = definePolicy({
  name: 'client-ban',
  summary: 'Bans callers for a while if too many of their responses match a condition.',
  schema: clientBanSchema,
  decides: () => 'limit',
  isPerUse: true,
  compile(config, env, use) {
    const { key: keys = 'client.ip', ignore, status, dryRun } = config
    const policy = use?.id ?? 'client-ban'
    const key = compileKey(typeof keys === 'string' ? [keys] : keys, env, clientNetwork)
    const counted = withContext("under 'count':", () => env.expression(config.count))
    if (key.readsBody || counted.readsBody) throw new Error("'key' and 'count' cannot read a body")
    const ignored = ignore === undefined ? null : withContext("under 'ignore':", () => compileCidrs(ignore))
    const table = openBanTable(config, policy, env)
    env.schedule(LEARN_MS, () => table.learn())
    // The key of each counted request is stored, because a policy may change the data that it is read from.
    const callers = env.slot<string>()
    const refused = env.counter('gw_client_bans_total', { policy, result: dryRun ? 'shadow' : 'refused' })
    return {
      name: 'client-ban',
      onRequest(x): Outcome {
        const caller = key.read(x)
        if (caller === null || ignored?.has(x.clientIp) === true) return null
        const leftMs = table.leftMs(caller)
        if (leftMs === 0) {
          callers.set(x, caller)
          return null
        }
        refused.value++
        if (!dryRun) return replyFor(status, leftMs)
        x.setVar('client-ban', 'would-deny')
        return null
      },
      onResponse(x) {
        const caller = callers.get(x)
        if (caller === undefined) return null
        const isCounted = isTrue(counted, x)
        if (isCounted || table.countsAll) table.note(caller, isCounted)
        return null
      },
    }
  },
})

/** Returns the bans of a policy in this worker. They survive reloads that do not change how bans are made. */
function openBanTable(config: ClientBanConfig, id: string, env: CompileEnv): BanTable {
  const { scope, onStoreDown, key, count, threshold, minRequests } = config
  const local = onStoreDown === 'local' ? env.shared(`bans-local ${id}`, () => new MemoryStore()) : null
  const counterOf = (result: string) => env.counter('gw_client_bans_total', { policy: id, result })
  const [banned, dropped] = [counterOf('banned'), counterOf('dropped')]
  const table = env.shared(
    `bans ${JSON.stringify([id, scope, key, count, threshold, minRequests])}`,
    () =>
      new BanTable(thresholdOf(config), {
        onBan({ counted, all }, untilMs) {
          banned.value++
          env.report('client_banned', {
            ...{ policy: id, counted, until: new Date(untilMs).toISOString() },
            ...(all > 0 ? { responses: all } : {}),
          })
        },
        onDropped() {
          dropped.value++
        },
      }),
  )
  // A reload may have changed the store.
  table.store = new BanStore(
    env,
    { id, scope, local },
    {
      windowMs: parseDuration(config.window),
      banMs: parseDuration(config.ban),
      growth: config.growth,
      maxBanMs: parseDuration(config.maxBan),
    },
  )
  return table
}

function thresholdOf({ threshold = 10, minRequests }: ClientBanConfig): Threshold {
  if (typeof threshold === 'number')
    return { countsAll: false, isReached: ({ counted }) => counted >= threshold }
  const share = parseRatio(threshold)
  return { countsAll: true, isReached: ({ counted, all }) => all >= minRequests && counted >= all * share }
}

function replyFor(status: number, leftMs: number): Reply {
  const seconds = String(Math.ceil(leftMs / 1000))
  return { ...refusal('GW_CLIENT_BANNED', DETAIL, ['retry-after', seconds]), status }
}

/** Returns false if the expression cannot be evaluated. */
function isTrue(expression: Expression, x: Exchange): boolean {
  try {
    return expression.value(x) === true
  } catch {
    return false
  }
}
