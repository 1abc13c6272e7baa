import { type Static, Type } from '@sinclair/typebox'
import type { Configured } from '@sluice/core'
import * as field from '../../shared/options/options.js'

const named = { minLength: 1, maxLength: 256 }

function names(what: string, item: string) {
  return field.optionalList(field.string(item, named), what, {
    minItems: 1,
    maxItems: 1000,
    uniqueItems: true,
  })
}

const claimValue = field.string('A value, as text.', { maxLength: 2048 })

const rule = field.closed('A rule. It matches if all its conditions are met.', {
  consumers: names('Matches if the consumer id is one of these.', 'A consumer id.'),
  groups: names('Matches if the consumer is in one of these groups.', 'A group.'),
  roles: names('Matches if the consumer has one of these roles.', 'A role.'),
  scopes: names('Matches if the credential has all of these scopes.', 'A scope.'),
  claims: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^.{1,256}$' }),
      Type.Union([claimValue, field.list(claimValue, 'Accepted values.', { maxItems: 1000 })]),
      {
        minProperties: 1,
        maxProperties: 100,
        description:
          'Claims of the consumer (`consumer.claims`) and their accepted value or list of values. An empty list only requires the claim to be present. A claim that is itself a list matches if one of its items does. List claims of `ldap` are a single comma-separated text.',
      },
    ),
  ),
  when: field.optionalText(4096, 'A condition that must be true, see docs/guides/conditions.md.'),
  match: field.optionalOneOf(
    ['any', 'all'],
    'Requires one (`any`) or all (`all`) of the listed `groups` and `roles`. Default: any.',
  ),
})

/** Schema of the configuration of `authorize`. */
export const authorizeSchema = field.policyOptions(
  {
    allow: Type.Union(
      [
        Type.Literal('authenticated'),
        field.list(rule, 'Allows a caller if one rule matches.', { minItems: 1, maxItems: 100 }),
      ],
      {
        description:
          'Callers that are allowed: a list of rules, or `authenticated` for every authenticated caller.',
      },
    ),
    deny: field.optionalList(
      rule,
      'Callers that are denied even if `allow` matches. One matching rule is enough.',
      { minItems: 1, maxItems: 100 },
    ),
    challenge: field.optionalString('Value of `www-authenticate` if the caller is not authenticated.', {
      default: 'Bearer',
      ...named,
    }),
    phase: field.optionalOneOf(
      ['request', 'body'],
      '`body` decides when the whole body has been received. Use it after a policy that reads the consumer from the body, such as `ws-security`, and for conditions on the body. Later policies wait for the decision.',
      'request',
    ),
    dryRun: field.optionalFlag(
      false,
      'Denies no request. Sets the variable `authorize` to `would-deny` for requests that would have been denied.',
    ),
  },
  [
    'Must come after a policy that authenticates; otherwise the document is rejected. A caller that no rule allows is denied. An unauthenticated caller gets 401 `GW_AUTH_MISSING`. A caller who lacks only scopes gets 403 `GW_SCOPE_MISSING` with `insufficient_scope` (RFC 6750, 3.1). All others get 403 `GW_ACCESS_DENIED`.',
    'The deciding rule, or the unmet condition of each rule, is written to the traffic log as `error.reason`. It is not part of the response.',
  ],
)

/** Configuration of `authorize`, derived from its schema. */
export type AuthorizeConfig = Configured<typeof authorizeSchema>

/** A rule of `allow` or `deny`. */
export type RuleConfig = Static<typeof rule>
