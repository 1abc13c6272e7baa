import { type Static, Type } from '@sinclair/typebox'
import {
  oneOf,
  optionalDuration,
  optionalFlag,
  optionalInteger,
  optionalOneOf,
  optionalSize,
  optionalString,
  policyOptions,
  string,
} from '../../shared/options.js'

const expression = string('An expression.', { minLength: 1, maxLength: 4096 })

/** The configuration of `cache`. */
export const cachePolicySchema = policyOptions(
  {
    operation: oneOf(
      ['lookup', 'populate', 'invalidate'],
      '`lookup` reads a value, `populate` writes one, `invalidate` forgets one, or without `key` all of the space.',
    ),
    space: string('Which values belong together: those of another space have other keys.', {
      pattern: '^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$',
    }),
    key: Type.Optional(
      Type.Union([expression, Type.Array(expression, { minItems: 1, maxItems: 10 })], {
        description:
          'Which value: an expression such as `req.path`, `req.query["id"]` or `req.body.json("$.id")`, or a list of them that all belong to the key. Where one of them gives nothing there is no key, and nothing is done.',
      }),
    ),
    shared: optionalFlag(
      false,
      'Whether consumers share values. Else the consumer whom a policy before has authenticated is a part of the key.',
    ),
    phase: optionalOneOf(
      ['request', 'response'],
      'When: default `request` for `lookup`, `response` for the others.',
    ),
    into: optionalString(
      '`lookup`: where the value goes, `vars.NAME`, `header.NAME` of the request (of the response with `phase: response`), or `reply`, which answers the client with it.',
      { minLength: 1, maxLength: 256 },
    ),
    status: optionalInteger('`lookup` into `reply`: the status.', {
      default: 200,
      minimum: 200,
      maximum: 599,
    }),
    from: optionalString(
      '`populate`: what is kept: `body`, `json.PATH` of it, `header.NAME`, `vars.NAME`, all of the request or response that `phase` says.',
      { minLength: 1, maxLength: 256 },
    ),
    json: Type.Optional(
      Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Array(Type.Unknown())], {
        description:
          '`populate`: a JSON value that is kept, in place of `from`; may hold {{placeholders}}, as in `mock`.',
      }),
    ),
    ttl: optionalDuration('`populate`: how long it is kept, 1ms to 365d.', '5m'),
    ttlFrom: optionalString(
      '`populate`: an expression of seconds that takes the place of `ttl` where it gives a number, such as `int(res.header["x-ttl"])`. 0 or less: nothing is kept.',
      { minLength: 1, maxLength: 4096 },
    ),
    maxBytes: optionalSize('`populate`: larger values are not kept; at most 1000kb.', '64kb'),
    anyStatus: optionalFlag(
      false,
      'With `phase: response`: also for responses whose status is not 2xx. A part of a body (206) is never kept.',
    ),
    onStoreDown: optionalOneOf(
      ['open', 'closed'],
      'While the store does not answer: the request goes on as without a value (`open`), or is refused with 503 `GW_CACHE_UNAVAILABLE` (`closed`).',
      'open',
    ),
  },
  [
    'Keeps values of the author’s choice for a while, anywhere in a chain: what an expensive call has answered, a token, a flag. For whole responses by the rules of HTTP there is `response-cache`.',
    'The store is the cache server that the document names in `cache`, else the memory of the supervisor, which all workers of the gateway share. See docs/guides/caching.md.',
    'A `lookup` sets `vars["cache.SPACE"]` to `hit`, `miss`, `none` (there is no key) or `error` (the store did not answer), so that conditions of later policies can ask for it. A value that cannot stand where it is to go is a `miss`.',
    'With `onStoreDown: open` nobody waits for `populate`. A body is collected to be kept, up to 10 MB of a response.',
  ],
)

/** The configuration of `cache`, derived from its schema. */
export type CachePolicyConfig = Static<typeof cachePolicySchema>
