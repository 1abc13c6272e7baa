import { definePolicy, quotaLimit } from '@sluice/core'
import { compileLimit } from '../../shared/limits/limit-step.js'
import { quotaSchema } from './schema.js'

/** Bounds how many requests come in a period of the calendar. */
export const quota = definePolicy({
  name: 'quota',
  summary:
    'Bounds how many requests come in an hour, day, week or month of the calendar; the counts survive restarts.',
  schema: quotaSchema,
  isPerUse: true,
  compile(config, env, use) {
    const id = use?.id ?? 'quota'
    const detail = 'the quota is used up; Retry-After says when the next period begins'
    const limits = [quotaLimit(config)]
    return compileLimit(config, { kind: 'quota', code: 'GW_QUOTA_EXCEEDED', detail, limits, id }, env)
  },
})
