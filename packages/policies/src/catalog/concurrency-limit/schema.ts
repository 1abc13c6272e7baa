import type { Static } from '@sinclair/typebox'
import {
  integer,
  optionalClosed,
  optionalDuration,
  optionalInteger,
  optionalList,
  optionalText,
  policyOptions,
  string,
} from '../../shared/options.js'

/** The configuration of `concurrency-limit`. */
export const concurrencyLimitSchema = policyOptions(
  {
    max: integer('Most requests under way at once for each key, in each worker process.', {
      minimum: 1,
      maximum: 1_000_000,
    }),
    key: optionalList(
      string('`route`, `consumer`, `ip` or `header:NAME`.', {
        pattern: "^(route|consumer|ip|header:[!#$%&'*+.^_`|~0-9A-Za-z-]+)$",
      }),
      'What is counted apart: any of `route`, `consumer`, `ip` and `header:NAME`; requests that agree in all of them share a key. `ip` counts IPv6 addresses by their /64. An empty list counts all together.',
      { default: ['route'], maxItems: 5 },
    ),
    name: optionalText(
      100,
      'Uses of the policy with the same name and the same kinds of key count together; without it those of equal configuration do.',
    ),
    queue: optionalClosed(
      'Lets requests over the limit wait, first come first served; without it they are refused.',
      {
        max: integer('Most requests that wait for each key; one more is refused at once.', {
          minimum: 1,
          maximum: 100_000,
        }),
        timeout: optionalDuration('Longest wait; 25s at most.', '1s'),
      },
    ),
    adaptive: optionalClosed(
      'Lowers the limit while the worker itself is overloaded: by a quarter for each tenth of a second in which its event loop was late, and raises it again in small steps.',
      {
        lag: optionalDuration('A delay of the event loop above this lowers the limit.', '50ms'),
        min: optionalInteger('The limit is never lowered below this.', { minimum: 1, default: 1 }),
      },
    ),
    retryAfter: optionalDuration(
      'What `Retry-After` says to a client that is refused; whole seconds, at least one.',
      '1s',
    ),
  },
  [
    'A request takes a permit when it reaches the policy and gives it back when its response has ended, however that comes: answered, refused by a later policy, timed out, or given up by the client. One over the limit is refused with 503 `GW_CONCURRENCY_LIMITED` and `Retry-After`, or waits in a queue if there is one.',
    'Workers share nothing: each counts for itself, so that a gateway with four workers lets four times `max` pass in total. Requests without a consumer or without the header count together as one key. A key is remembered only as long as one of its requests is under way or waits, so that the table is never larger than the number of open requests.',
    'What is under way survives a change of the document as long as `name` (or without one the whole configuration) stays the same.',
  ],
)

/** The configuration of `concurrency-limit`, derived from its schema. */
export type ConcurrencyLimitConfig = Static<typeof concurrencyLimitSchema>
