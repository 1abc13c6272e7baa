import type { Configured } from '@sluice/core'
import * as field from '../../shared/options/options.js'

/** Schema of the configuration of `concurrency-limit`. */
export const concurrencyLimitSchema = field.policyOptions(
  {
    limit: field.integer('Maximum number of concurrent requests per key in each worker process.', {
      minimum: 1,
      maximum: 1_000_000,
    }),
    key: field.optionalList(
      field.string('`route`, `consumer`, `ip` or `header:NAME`.', {
        pattern: "^(route|consumer|ip|header:[!#$%&'*+.^_`|~0-9A-Za-z-]+)$",
      }),
      'Parts of the counter key: any of `route`, `consumer`, `ip` and `header:NAME`. Requests with the same values share a limit. `ip` groups IPv6 addresses by /64 network. An empty list applies one limit to all requests.',
      { default: ['route'], maxItems: 5, shorthand: 'list' },
    ),
    name: field.optionalText(
      100,
      'Shares the limit between uses of the policy with the same name and the same key parts. Default: uses with equal configuration share it.',
    ),
    queue: field.optionalClosed(
      'Lets requests over the limit wait, first come first served. Without it they are refused.',
      {
        limit: field.integer(
          'Maximum number of waiting requests per key. Further requests are refused at once.',
          { minimum: 1, maximum: 100_000 },
        ),
        timeout: field.optionalDuration('Maximum wait, at most 25s.', '1s'),
      },
      { deprecatedKeys: { max: 'limit' } },
    ),
    adaptive: field.optionalClosed(
      'Lowers the limit while the worker is overloaded: by a quarter for every 100 ms interval in which the event loop was late. Raises it again in small steps.',
      {
        lag: field.optionalDuration('Event loop delay above which the limit is lowered.', '50ms'),
        min: field.optionalInteger('Minimum to which the limit is lowered.', { minimum: 1, default: 1 }),
      },
    ),
    retryAfter: field.optionalDuration(
      'Value of `Retry-After` for refused requests, in whole seconds, at least 1.',
      '1s',
    ),
  },
  [
    'A request takes a permit when it reaches the policy and releases it when its response has ended, in whatever way. Requests over the limit wait in the queue, if one is configured and has room. Otherwise they get 503 `GW_CONCURRENCY_LIMITED` with `Retry-After`.',
    'Each worker counts separately, so a gateway with four workers allows four times `limit` in total. Requests without a consumer or without the header share one key. A key is kept only while one of its requests is in progress or waiting.',
    'Permits survive a reload if `name` stays the same, or, without a name, if the whole configuration does.',
  ],
  { deprecatedKeys: { max: 'limit' } },
)

/** Configuration of `concurrency-limit`, derived from its schema. */
export type ConcurrencyLimitConfig = Configured<typeof concurrencyLimitSchema>
