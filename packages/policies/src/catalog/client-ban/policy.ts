import { clientNetwork, compileCidrs, definePolicy } from '@sluice/core'
import { compileKey } from '../../shared/limits/limit-key.js'
import { withContext } from '../../shared/with-context.js'
import { BanStep } from './ban-step.js'
import { bookOf } from './book-of.js'
import { clientBanSchema } from './schema.js'

/** How often a worker looks for bans of others. */
const LEARN_MS = 1000

/** Bans callers whose requests keep failing. */
export const clientBan = definePolicy({
  name: 'client-ban',
  summary: 'Bans callers for a while whose requests keep failing, by a condition on responses.',
  schema: clientBanSchema,
  isPerUse: true,
  compile(config, env, use) {
    const { key: keys = 'client.ip', ignore } = config
    const id = use?.id ?? 'client-ban'
    const key = compileKey(typeof keys === 'string' ? [keys] : keys, env, clientNetwork)
    const counted = withContext("under 'count':", () => env.expression(config.count ?? 'res.status == 401'))
    if (key.readsBody || counted.readsBody) throw new Error("neither 'key' nor 'count' can read a body")
    const ignored = ignore === undefined ? null : withContext("under 'ignore':", () => compileCidrs(ignore))
    const book = bookOf(config, id, env)
    env.schedule(LEARN_MS, () => book.learn())
    const step = new BanStep(config, id, { env, key, counted, ignored, book })
    return {
      name: 'client-ban',
      onRequest: (x) => step.onRequest(x),
      onResponse: (x) => step.onResponse(x),
    }
  },
})
