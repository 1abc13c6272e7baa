import { type CompileEnv, definePolicy, type StateStore, type Step } from '@sluice/core'
import { ResponseCache } from './response-cache.js'
import { responseCacheSchema } from './schema.js'
import { PURGE_LOOK_MS, SecondTier } from './second-tier.js'
import { compileSettings } from './settings.js'
import { ResponseStore } from './store.js'

/** Keeps responses of the upstream and answers with them. */
export const responseCache = definePolicy({
  name: 'response-cache',
  summary: 'Keeps responses of the upstream and answers with them, by the rules of HTTP or for a fixed time.',
  schema: responseCacheSchema,
  compile(config, env): Step {
    const settings = compileSettings(config)
    const { maxBytes, methods } = settings
    const store = env.shared(`response-cache:${maxBytes}`, () => new ResponseStore(maxBytes))
    const tier = settings.scope === 'worker' ? null : secondTier(store, env, settings.scope)
    const cache = new ResponseCache(settings, env, { store, tier })
    const look = cache.look.bind(cache)
    return {
      name: 'response-cache',
      keepsResponses: true,
      // What a POST asks for stands in its body.
      ...(methods.has('POST') ? { onRequestBody: look } : { onRequest: look }),
      onResponse: cache.onResponse.bind(cache),
      onFinish: cache.onFinish.bind(cache),
    }
  },
})

function secondTier(store: ResponseStore, env: CompileEnv, scope: 'gateway' | 'cluster'): SecondTier {
  const shared = env.state.store(scope)
  const tiers = env.shared(
    `response-cache:tiers:${store.maxBytes}`,
    () => new WeakMap<StateStore, SecondTier>(),
  )
  const tier = tiers.get(shared) ?? new SecondTier(shared, store, env.report.bind(env))
  tiers.set(shared, tier)
  store.onPurge.set(scope, (purged) => tier.publish(purged))
  // While the server is away nothing is taken from it, and the store says so itself.
  const look = (): Promise<void> => tier.look().catch(() => {})
  env.schedule(PURGE_LOOK_MS, look)
  void look()
  return tier
}
