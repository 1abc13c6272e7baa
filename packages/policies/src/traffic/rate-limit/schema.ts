import { Type } from '@sinclair/typebox'
import { RATE_PATTERN } from '@sluice/core'
import { DEPRECATED_LIMIT_KEYS, LIMIT_PARAGRAPHS, limitOptions } from '../../shared/limits/limit-options.js'
import * as field from '../../shared/options/options.js'

const rate = field.string('Rate, for example `100/s`, `1000/m`, `5000/h`, `10000/d`.', {
  pattern: RATE_PATTERN,
})
const MAX_BURST = 1_000_000_000

const oneLimit = Type.Union(
  [
    rate,
    field.closed('Limit with its own burst size.', {
      limit: rate,
      burst: field.integer('Maximum burst size.', { minimum: 1, maximum: MAX_BURST }),
    }),
  ],
  { description: 'Rate, or a limit with its own burst size.' },
)

/** Schema of the `rate-limit` configuration. */
export const rateLimitSchema = field.policyOptions(
  {
    limit: Type.Union([rate, field.list(oneLimit, 'Several limits.', { minItems: 1, maxItems: 10 })], {
      description:
        'Rate, or a list of rates. All of them must allow a request. A refused request counts against none of them.',
    }),
    algorithm: field.optionalOneOf(
      ['gcra', 'fixed', 'sliding'],
      '`gcra`: a token bucket that refills evenly up to `burst`. `fixed`: fixed windows of the UTC clock. `sliding`: fixed windows, plus the share of the previous window that overlaps the sliding window.',
      'gcra',
    ),
    burst: field.optionalInteger(
      'Maximum burst size of `gcra`. Default: the limit. For a limit per second: a tenth of it, but at least 10 (or the limit if that is smaller), for an even rate.',
      { minimum: 1, maximum: MAX_BURST },
    ),
    ...limitOptions,
  },
  ['A request over a limit is refused with 429 `GW_RATE_LIMITED` and `Retry-After`.', ...LIMIT_PARAGRAPHS],
  { deprecatedKeys: { limits: { use: 'limit', joins: true }, ...DEPRECATED_LIMIT_KEYS } },
)
