import { type CompileEnv, MemoryStore, parseDuration, parseRatio } from '@sluice/core'
import { BanStore } from './ban-store.js'
import { BanTable, type Threshold } from './ban-table.js'
import type { ClientBanConfig } from './schema.js'

/**
 * Returns the bans of a policy in this worker. They survive reloads that do not change how bans are made.
 */
export function openBanTable(config: ClientBanConfig, id: string, env: CompileEnv): BanTable {
  const { scope, onStoreDown, growth } = config
  const local = onStoreDown === 'local' ? env.shared(`bans-local ${id}`, () => new MemoryStore()) : null
  const store = new BanStore(
    env,
    { id, scope, local },
    {
      windowMs: parseDuration(config.window),
      banMs: parseDuration(config.ban),
      growth,
      maxBanMs: parseDuration(config.maxBan),
    },
  )
  const { key, count, threshold, minimum } = config
  const [banned, dropped] = ['banned', 'dropped'].map((result) =>
    env.counter('gw_client_bans_total', { policy: id, result }),
  )
  const table = env.shared(
    `bans ${JSON.stringify([id, scope, key, count, threshold, minimum])}`,
    () =>
      new BanTable(thresholdOf(config), {
        onBan() {
          banned!.value++
          env.report('client_banned', { policy: id })
        },
        onDropped() {
          dropped!.value++
        },
      }),
  )
  // A reload may have changed the store.
  table.store = store
  return table
}

function thresholdOf({ threshold = 10, minimum }: ClientBanConfig): Threshold {
  if (typeof threshold === 'number')
    return { countsAll: false, isReached: ({ counted }) => counted >= threshold }
  const share = parseRatio(threshold)
  return { countsAll: true, isReached: ({ counted, all }) => all >= minimum && counted >= all * share }
}
