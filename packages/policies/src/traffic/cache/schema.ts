import { type Static, Type } from '@sinclair/typebox'
import * as field from '../../shared/options/options.js'

const expression = field.string('An expression.', { minLength: 1, maxLength: 4096 })

/** Schema of the configuration of `cache`. */
export const cachePolicySchema = field.policyOptions(
  {
    operation: field.oneOf(
      ['lookup', 'populate', 'invalidate'],
      '`lookup` reads a value, `populate` writes one, `invalidate` deletes one, or the whole space if there is no `key`.',
    ),
    space: field.string('Namespace of the keys. Values in different spaces are independent.', {
      pattern: '^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$',
    }),
    key: Type.Optional(
      Type.Union([expression, Type.Array(expression, { minItems: 1, maxItems: 10 })], {
        description:
          'Cache key: an expression such as `req.path`, `req.query["id"]` or `req.body.json("$.id")`, or a list of expressions. If one of them has no value, there is no key and the policy does nothing.',
      }),
    ),
    shared: field.optionalFlag(
      false,
      'Shares values between consumers. Otherwise the authenticated consumer is part of the key.',
    ),
    phase: field.optionalOneOf(
      ['request', 'response'],
      'Time at which the policy runs. Default: `request` for `lookup`, `response` for the others.',
    ),
    into: field.optionalString(
      'Target of `lookup`: `vars.NAME`, `header.NAME` of the request (of the response with `phase: response`), or `reply`, which sends the value to the client.',
      { minLength: 1, maxLength: 256 },
    ),
    status: field.optionalInteger('Status code of `lookup` with `into: reply`.', {
      default: 200,
      minimum: 200,
      maximum: 599,
    }),
    from: field.optionalString(
      'Value that `populate` stores: `body`, `json.PATH` in the body, `header.NAME` or `vars.NAME`, from the message selected by `phase`.',
      { minLength: 1, maxLength: 256 },
    ),
    json: Type.Optional(
      Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Array(Type.Unknown())], {
        description:
          'JSON value that `populate` stores instead of `from`. May contain {{placeholders}}, as in `mock`.',
      }),
    ),
    ttl: field.optionalDuration('Time for which `populate` stores the value, 1ms to 365d.', '5m'),
    ttlFrom: field.optionalString(
      'Expression for the lifetime in seconds, such as `int(res.header["x-ttl"])`. It replaces `ttl` if it returns a number. With 0 or less nothing is stored.',
      { minLength: 1, maxLength: 4096 },
    ),
    maxBytes: field.optionalSize('Maximum size of a value that `populate` stores, at most 1000kb.', '64kb'),
    anyStatus: field.optionalFlag(
      false,
      'Also runs for responses whose status is not 2xx, with `phase: response`. A partial body (206) is never stored.',
    ),
    onStoreDown: field.optionalOneOf(
      ['open', 'closed'],
      'Reaction if the store does not respond: continue without the value (`open`), or refuse with 503 `GW_CACHE_UNAVAILABLE` (`closed`).',
      'open',
    ),
  },
  [
    'Stores values of your choice anywhere in a chain: the result of an expensive call, a token, a flag. To cache whole responses by HTTP rules, use `response-cache`.',
    'The store is the cache server configured in `cache`. Without one it is the memory of the supervisor, which all workers of the gateway share. See docs/guides/caching.md.',
    '`lookup` sets `vars["cache.SPACE"]` to `hit`, `miss`, `none` (no key) or `error` (the store did not respond), for conditions of later policies. A value that is not valid at its target is a `miss`.',
    'With `onStoreDown: open`, `populate` does not delay the message. A response body to store is buffered up to 10 MB.',
  ],
)

/** Configuration of `cache`, derived from its schema. */
export type CachePolicyConfig = Static<typeof cachePolicySchema>
