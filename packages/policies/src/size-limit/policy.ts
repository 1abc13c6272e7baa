import { definePolicy } from '@sluice/core'
import { requestHooks } from './request.js'
import { responseHooks } from './response.js'
import { sizeLimitSchema } from './schema.js'

/** Bounds the sizes of requests and responses. */
export const sizeLimit = definePolicy({
  name: 'size-limit',
  summary: 'Bounds the sizes of requests and responses: headers, URL and body.',
  schema: sizeLimitSchema,
  compile({ request, response }, env) {
    return {
      name: 'size-limit',
      ...(request !== undefined && within('request', () => requestHooks(request, env))),
      ...(response !== undefined && within('response', () => responseHooks(response, env))),
    }
  },
})

/** @throws Error of `compile`, with the side that it is about. */
function within<T>(side: string, compile: () => T): T {
  try {
    return compile()
  } catch (cause) {
    throw new Error(`under '${side}': ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}
