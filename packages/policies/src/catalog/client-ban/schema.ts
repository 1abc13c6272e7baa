import { type Static, Type } from '@sinclair/typebox'
import { RATIO_PATTERN } from '@sluice/core'
import {
  optionalDuration,
  optionalFlag,
  optionalInteger,
  optionalList,
  optionalOneOf,
  optionalString,
  policyOptions,
  string,
} from '../../shared/options.js'

const expression = string('An expression.', { minLength: 1, maxLength: 4096 })

/** The configuration of `client-ban`. */
export const clientBanSchema = policyOptions(
  {
    key: Type.Optional(
      Type.Union([expression, Type.Array(expression, { minItems: 1, maxItems: 5 })], {
        default: 'client.ip',
        description:
          'Who is counted and banned: an expression such as `client.ip`, `consumer.id` or `req.header["x-tenant"]`, or a list of them. IPv6 addresses count by their /64. Requests without a key, or with an empty one, are neither counted nor refused.',
      }),
    ),
    count: optionalString('Which responses count, as an expression that is true or false.', {
      default: 'res.status == 401',
      minLength: 1,
      maxLength: 4096,
    }),
    threshold: Type.Optional(
      Type.Union(
        [
          Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'So many.' }),
          Type.String({ pattern: RATIO_PATTERN, description: 'A share of all responses.' }),
        ],
        {
          default: 10,
          description:
            'How many responses that count, within `window`, make a ban: a number, or a share of all responses such as `50%`, of at least `minimum`.',
        },
      ),
    ),
    minimum: optionalInteger('With a share as `threshold`: fewer responses of a caller make no ban.', {
      default: 20,
      minimum: 1,
      maximum: 1_000_000,
    }),
    window: optionalDuration(
      'How long a response counts. The time begins with the first that is counted.',
      '1m',
    ),
    ban: optionalDuration('How long a ban lasts.', '10m'),
    growth: optionalInteger(
      'Each further ban of a caller lasts so many times as long as the one before, up to `maxBan`; a ban is remembered for `maxBan` after its end. 1: all last as long.',
      { default: 1, minimum: 1, maximum: 100 },
    ),
    maxBan: optionalDuration('The longest ban, with `growth`.', '1d'),
    status: optionalOneOf([403, 429], 'What a banned caller gets, with `Retry-After`.', 429),
    ignore: optionalList(
      string('An address or a range, as in `ip-filter`.', { minLength: 1, maxLength: 100 }),
      'Callers who are never banned, by their address after trusted proxies.',
      { minItems: 1, maxItems: 10_000 },
    ),
    scope: optionalOneOf(
      ['cluster', 'gateway'],
      'Who shares counts and bans: all gateways with the same `state`, or the workers of this one. Without `state` both are the same.',
      'cluster',
    ),
    onStoreDown: optionalOneOf(
      ['local', 'open'],
      'While the store does not answer: each worker counts and bans by itself (`local`), or nobody new is banned (`open`). Bans that a worker knows hold in any case.',
      'local',
    ),
    dryRun: optionalFlag(
      false,
      'Refuses nobody; sets the variable `client-ban` to `would-deny` where it would have refused.',
    ),
  },
  [
    'Bans callers whose requests keep failing, as fail2ban does. They are refused with `GW_CLIENT_BANNED` before anything else is done for them. Put it before authentication, so that it sees the 401 of the policies behind it.',
    'No request waits for a store: responses are counted behind them, in the background. A worker that counts the last response knows the ban after one question to the store, the others within a second; requests that come until then are let through. What refuses banned callers is not counted.',
    'A worker remembers 50,000 bans of a policy, the ones that end last, and counts 10,000 callers at a time.',
  ],
)

/** The configuration of `client-ban`, derived from its schema. */
export type ClientBanConfig = Static<typeof clientBanSchema>
