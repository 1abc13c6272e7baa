import { Type } from '@sinclair/typebox'
import { type Configured, RATIO_PATTERN } from '@sluice/core'
import * as field from '../../shared/options/options.js'

const expression = field.string('An expression.', { minLength: 1, maxLength: 4096 })

/** Schema of the configuration of `client-ban`. */
export const clientBanSchema = field.policyOptions(
  {
    key: Type.Optional(
      Type.Union([expression, Type.Array(expression, { minItems: 1, maxItems: 5 })], {
        default: 'client.ip',
        description:
          'Key by which callers are counted and banned: an expression such as `client.ip`, `consumer.id` or `req.header["x-tenant"]`, or a list of expressions. IPv6 addresses are grouped by /64 network. Requests with a missing or empty key are neither counted nor refused.',
      }),
    ),
    count: field.optionalString('Boolean expression that selects the responses to count.', {
      default: 'res.status == 401',
      minLength: 1,
      maxLength: 4096,
    }),
    threshold: Type.Optional(
      Type.Union(
        [
          Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Number of responses.' }),
          Type.String({ pattern: RATIO_PATTERN, description: 'Share of all responses.' }),
        ],
        {
          default: 10,
          description:
            'Counted responses within `window` that cause a ban: a number, or a share of all responses such as `50%` once there are `minRequests` responses.',
        },
      ),
    ),
    minRequests: field.optionalInteger(
      'Minimum number of responses of a caller before a ban, if `threshold` is a share.',
      { default: 20, minimum: 1, maximum: 1_000_000 },
    ),
    window: field.optionalDuration(
      'Length of the counting window, which starts with the first counted response.',
      '1m',
    ),
    ban: field.optionalDuration('Duration of a ban.', '10m'),
    growth: field.optionalInteger(
      'Factor by which each further ban of a caller is longer than the last one, up to `maxBan`. A ban is remembered for `maxBan` after it ends. With 1 all bans have the same length.',
      { default: 1, minimum: 1, maximum: 100 },
    ),
    maxBan: field.optionalDuration('Maximum duration of a ban, with `growth`.', '1d'),
    status: field.optionalOneOf(
      [403, 429],
      'Status code for banned callers. The response has `Retry-After`.',
      429,
    ),
    ignore: field.optionalList(
      field.string('An address or a range, as in `ip-filter`.', { minLength: 1, maxLength: 100 }),
      'Addresses that are never banned. The client address is determined after trusted proxies.',
      { minItems: 1, maxItems: 10_000 },
    ),
    scope: field.optionalOneOf(
      ['cluster', 'gateway'],
      'Sharing of counts and bans: all gateways with the same `state`, or only the workers of this gateway. Without `state` both are the same.',
      'cluster',
    ),
    onStoreDown: field.optionalOneOf(
      ['local', 'open'],
      'Behaviour while the store does not respond: each worker counts and bans on its own (`local`), or no further callers are banned (`open`). Bans that a worker knows stay in effect.',
      'local',
    ),
    dryRun: field.optionalFlag(
      false,
      'Bans no caller. Sets the variable `client-ban` to `would-deny` for requests that would have been refused.',
    ),
  },
  [
    'Bans callers whose requests keep failing, like fail2ban. Banned callers are refused with `GW_CLIENT_BANNED` before later policies run. Put this policy before authentication, so that it sees the 401 responses of later policies.',
    'Requests never wait for the store: responses are counted in the background. The worker that counts the last response knows the ban after one store operation, the others within a second. Requests until then are allowed. Refusals of banned callers are not counted.',
    'A worker remembers up to 50,000 bans per policy, preferring those that end last, and has up to 10,000 callers waiting to be counted.',
  ],
  { deprecatedKeys: { minimum: 'minRequests' } },
)

/** Configuration of `client-ban`, derived from its schema. */
export type ClientBanConfig = Configured<typeof clientBanSchema>
