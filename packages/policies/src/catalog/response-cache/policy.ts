import { definePolicy, type Step } from '@sluice/core'
import { ResponseCache } from './response-cache.js'
import { responseCacheSchema } from './schema.js'
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
    const cache = new ResponseCache(settings, store, env)
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
