import { CALENDAR_PERIODS } from '@sluice/core'
import { DEPRECATED_LIMIT_KEYS, LIMIT_PARAGRAPHS, limitOptions } from '../../shared/limits/limit-options.js'
import { integer, oneOf, optionalText, policyOptions } from '../../shared/options/options.js'

/** Schema of the `quota` configuration. */
export const quotaSchema = policyOptions(
  {
    limit: integer('Maximum number of requests per period.', { minimum: 1, maximum: 1_000_000_000_000 }),
    per: oneOf(
      CALENDAR_PERIODS,
      'Calendar period. It starts on the hour, at midnight, on Monday or on the first of the month.',
    ),
    timeZone: optionalText(
      64,
      'Time zone of the period, an IANA name such as `Europe/Istanbul`. Default: `UTC`.',
    ),
    ...limitOptions,
  },
  [
    'A request over the quota is refused with 429 `GW_QUOTA_EXCEEDED` and `Retry-After`, the time until the period ends.',
    'Counts survive restarts. Without `state`, the supervisor writes them to the data directory once a second and when it stops. If it is killed, up to one second of counts is lost.',
    ...LIMIT_PARAGRAPHS,
  ],
  { deprecatedKeys: DEPRECATED_LIMIT_KEYS },
)
