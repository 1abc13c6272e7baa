import { definePolicy, rateLimits } from '@sluice/core'
import { compileLimit } from '../../shared/limits/limit-step.js'
import { rateLimitSchema } from './schema.js'

/** The `rate-limit` policy. Limits the number of requests per time window. */
export const rateLimit = definePolicy({
  name: 'rate-limit',
  summary: 'Limits requests per time window for each consumer, client address or other key.',
  schema: rateLimitSchema,
  decides: () => 'limit',
  isPerUse: true,
  compile(config, env, use) {
    const id = use?.id ?? 'rate-limit'
    const detail = 'too many requests: try again after the time in Retry-After'
    const limits = rateLimits(config)
    return compileLimit(config, { kind: 'rate-limit', code: 'GW_RATE_LIMITED', detail, limits, id }, env)
  },
})
