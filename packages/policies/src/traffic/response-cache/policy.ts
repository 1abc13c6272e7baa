import { type CompileEnv, definePolicy, type PolicyWarning, type StateStore, type Step } from '@sluice/core'
import { ResponseCache } from './response-cache.js'
import { responseCacheSchema } from './schema.js'
import { PURGE_LOOK_MS, SecondTier } from './second-tier.js'
import { compileSettings } from './settings.js'
import { ResponseStore } from './store.js'

const OTHER_COOKIES = {
  message: "requests with cookies other than 'key.cookies' bypass the cache",
  remedy:
    'set allow: { cookies: false } if this is intended, or cookies: true if those cookies do not affect responses',
}
const SHARED_COOKIES = {
  message: "clients share responses even if their cookies differ, unless 'key.cookies' names these cookies",
  remedy: 'name the cookies that affect responses, such as the session cookie, or remove allow.cookies',
}

/** The `response-cache` policy. Stores upstream responses and answers with them. */
export const responseCache = definePolicy({
  name: 'response-cache',
  summary: 'Caches upstream responses by the rules of HTTP or for a fixed time.',
  schema: responseCacheSchema,
  warnings: ({ key, allow }) => (key?.cookies === undefined ? [] : cookieWarnings(allow?.cookies)),
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
      // The cache key of a POST includes the body.
      ...(methods.has('POST') ? { onRequestBody: look } : { onRequest: look }),
      onResponse: cache.onResponse.bind(cache),
      onFinish: cache.onFinish.bind(cache),
    }
  },
})

function cookieWarnings(allowed: boolean | undefined): readonly PolicyWarning[] {
  if (allowed === undefined) return [OTHER_COOKIES]
  return allowed ? [SHARED_COOKIES] : []
}

function secondTier(store: ResponseStore, env: CompileEnv, scope: 'gateway' | 'cluster'): SecondTier {
  const shared = env.state.store(scope)
  const tiers = env.shared(
    `response-cache:tiers:${store.maxBytes}`,
    () => new WeakMap<StateStore, SecondTier>(),
  )
  const tier = tiers.get(shared) ?? new SecondTier(shared, store, env.report.bind(env))
  tiers.set(shared, tier)
  store.onPurge.set(scope, (purged) => tier.publish(purged))
  // A state store that is down reports that itself, and the second tier stays unused.
  const look = (): Promise<void> => tier.look().catch(() => {})
  env.schedule(PURGE_LOOK_MS, look)
  void look()
  return tier
}
