import { type Static, Type } from '@sinclair/typebox'
import {
  closed,
  list,
  optionalFlag,
  optionalList,
  optionalOneOf,
  optionalString,
  policyOptions,
  string,
} from '../../shared/options.js'

const named = { minLength: 1, maxLength: 256 }

function names(what: string, item: string) {
  return optionalList(string(item, named), what, { minItems: 1, maxItems: 1000, uniqueItems: true })
}

const claimValue = string('A value, as text.', { maxLength: 2048 })

const rule = closed('A rule holds when all that it names holds.', {
  consumers: names('The id of the consumer is one of these.', 'The id of a consumer.'),
  groups: names('The consumer is in one of these groups.', 'A group.'),
  roles: names('The consumer has one of these roles.', 'A role.'),
  scopes: names('The credential has all of these scopes.', 'A scope.'),
  claims: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^.{1,256}$' }),
      Type.Union([claimValue, list(claimValue, 'One of them.', { maxItems: 1000 })]),
      {
        minProperties: 1,
        maxProperties: 100,
        description:
          'Claims of the consumer (`consumer.claims`) with their value, or a list of values of which one is enough; an empty list asks only that the claim is there. Of a claim that is a list one item is enough, but for those of `ldap`, which are one text with commas.',
      },
    ),
  ),
  when: optionalString('A condition that holds, see docs/guides/conditions.md.', {
    minLength: 1,
    maxLength: 4096,
  }),
  match: optionalOneOf(
    ['any', 'all'],
    'Whether one item of `groups` and of `roles` is enough, or all are needed; default: any.',
  ),
})

/** The configuration of `authorize`. */
export const authorizeSchema = policyOptions(
  {
    allow: Type.Union(
      [
        Type.Literal('authenticated'),
        list(rule, 'One rule that holds is enough.', { minItems: 1, maxItems: 100 }),
      ],
      {
        description:
          'Who may call: rules like those of `deny`, of which one has to hold, or `authenticated` for everybody who is.',
      },
    ),
    deny: optionalList(rule, 'Who may not, whatever `allow` says: one rule that holds is enough.', {
      minItems: 1,
      maxItems: 100,
    }),
    challenge: optionalString('What `www-authenticate` says where nobody is authenticated.', {
      default: 'Bearer',
      ...named,
    }),
    phase: optionalOneOf(
      ['request', 'body'],
      '`body` decides once the whole body is there: behind a policy that reads the consumer in it, such as `ws-security`, and for conditions on the body. Policies behind it do nothing before that.',
      'request',
    ),
    dryRun: optionalFlag(
      false,
      'Refuses nobody; sets the variable `authorize` to `would-deny` where it would have refused.',
    ),
  },
  [
    'It stands behind a policy that authenticates; a document in which it does not is refused. What no rule allows is refused. Nobody authenticated: 401 `GW_AUTH_MISSING`. A rule that lacks nothing but scopes: 403 `GW_SCOPE_MISSING` with `insufficient_scope` (RFC 6750, 3.1). All else: 403 `GW_ACCESS_DENIED`.',
    'Which rule decided, and what the others lacked, stands in the traffic log as `error.reason`, and not in the answer.',
  ],
)

/** The configuration of `authorize`, derived from its schema. */
export type AuthorizeConfig = Static<typeof authorizeSchema>

/** A rule of `allow` or `deny`. */
export type RuleConfig = Static<typeof rule>
