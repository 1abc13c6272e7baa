import { Type } from '@sinclair/typebox'
import { name, object, oneOf, text } from './build.js'

const common = {
  use: Type.String({
    pattern: '^[a-z][a-z0-9-]{0,63}$',
    expects: 'the name of a policy, such as header',
    description: 'Name of the policy.',
  }),
  with: Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    ofPolicy: true,
    default: {},
    description: 'Configuration of the policy.',
  }),
  when: Type.Optional(
    text('policy-condition', { description: 'Condition (CEL). The policy only runs if it is true.' }),
  ),
  onError: oneOf(['fail', 'continue'], {
    default: 'fail',
    description:
      'Behaviour if the policy itself fails: `fail` fails the request, `continue` skips the policy. Content checks (`content-filter`, `json-schema`, `openapi`, `xsd`) always fail the request.',
  }),
  enabled: Type.Boolean({
    default: true,
    description: 'Set to false to disable the policy but keep its configuration.',
  }),
}

/** Schema of a shared policy. */
export const sharedPolicySchema = object(
  { id: name('Id that routes use to refer to the policy.'), ...common },
  { description: 'A policy that several routes can share.' },
)

/**
 * Schema of an entry of a route's policy chain: the id of a shared policy, the name of a group, or an inline
 * policy.
 */
export const policyEntrySchema = Type.Union([
  name('Id of a shared policy, or name of a group.'),
  object(
    { id: Type.Optional(name('Name of the policy in logs.')), ...common },
    { description: 'An inline policy.' },
  ),
])

/** Maximum number of policies in a chain, including the members of groups. */
export const MAX_CHAIN = 100

/** Schema of a policy group. */
export const policyGroupSchema = Type.Array(policyEntrySchema, {
  minItems: 1,
  maxItems: MAX_CHAIN,
  description: 'Ids of shared policies or inline policies, in order. Groups cannot contain groups.',
})
