import { definePolicy, quotaLimit } from '@sluice/core'
import { compileLimit } from '../../shared/limits/limit-step.js'
import { quotaSchema } from './schema.js'

/** The `quota` policy. Limits the number of requests per calendar period. */
export const quota = definePolicy({
  name: 'quota',
  summary: 'Limits requests per calendar hour, day, week or month. Counts survive restarts.',
  schema: quotaSchema,
  decides: () => 'limit',
  isPerUse: true,
  compile(config, env, use) {
    const id = use?.id ?? 'quota'
    const detail = 'quota exceeded: try again after the time in Retry-After'
    const limits = [quotaLimit(config)]
    return compileLimit(config, { kind: 'quota', code: 'GW_QUOTA_EXCEEDED', detail, limits, id }, env)
  },
})
