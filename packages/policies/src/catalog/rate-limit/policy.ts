import { definePolicy, rateLimits } from '@sluice/core'
import { compileLimit } from '../../shared/limits/limit-step.js'
import { rateLimitSchema } from './schema.js'

/** Bounds how many requests come in a time. */
export const rateLimit = definePolicy({
  name: 'rate-limit',
  summary:
    'Bounds how many requests come in a time, for each consumer, address or what else tells callers apart.',
  schema: rateLimitSchema,
  isPerUse: true,
  compile(config, env, use) {
    const id = use?.id ?? 'rate-limit'
    const detail = 'too many requests; try again after the time in Retry-After'
    const limits = rateLimits(config)
    return compileLimit(config, { kind: 'rate-limit', code: 'GW_RATE_LIMITED', detail, limits, id }, env)
  },
})
