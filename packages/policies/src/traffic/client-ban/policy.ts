import { clientNetwork, compileCidrs, definePolicy } from '@sluice/core'
import { compileKey } from '../../shared/limits/limit-key.js'
import { withContext } from '../../shared/outcome/with-context.js'
import { BanStep } from './ban-step.js'
import { openBanTable } from './open-ban-table.js'
import { clientBanSchema } from './schema.js'

/** Interval at which a worker reads bans made by others, in milliseconds. */
const LEARN_MS = 1000

/** Bans callers whose requests keep failing. */
export const clientBan = definePolicy({
  name: 'client-ban',
  summary: 'Bans callers for a while if too many of their responses match a condition.',
  schema: clientBanSchema,
  isPerUse: true,
  compile(config, env, use) {
    const { key: keys = 'client.ip', ignore } = config
    const id = use?.id ?? 'client-ban'
    const key = compileKey(typeof keys === 'string' ? [keys] : keys, env, clientNetwork)
    const counted = withContext("under 'count':", () => env.expression(config.count))
    if (key.readsBody || counted.readsBody) throw new Error("'key' and 'count' cannot read a body")
    const ignored = ignore === undefined ? null : withContext("under 'ignore':", () => compileCidrs(ignore))
    const table = openBanTable(config, id, env)
    env.schedule(LEARN_MS, () => table.learn())
    const step = new BanStep(config, id, { env, key, counted, ignored, table })
    return {
      name: 'client-ban',
      onRequest: (x) => step.onRequest(x),
      onResponse: (x) => step.onResponse(x),
    }
  },
})
