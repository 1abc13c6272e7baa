import { Type } from '@sinclair/typebox'
import { name, object, oneOf, text } from './build.js'

const common = {
  use: Type.String({
    pattern: '^[a-z][a-z0-9-]{0,63}$',
    expects: 'the name of a policy such as header',
    description: 'The name of the policy.',
  }),
  with: Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    default: {},
    description: 'The configuration, as the policy describes it.',
  }),
  when: Type.Optional(
    text('policy-condition', { description: 'The policy runs only where this condition (CEL) holds.' }),
  ),
  onError: oneOf(['fail', 'continue'], {
    default: 'fail',
    description:
      'Action if the policy itself fails: the request fails too, or continues without the policy. Content checks (`content-filter`, `json-schema`, `openapi`, `xsd`) always fail closed.',
  }),
  enabled: Type.Boolean({
    default: true,
    description: 'false leaves the policy out and keeps its configuration.',
  }),
}

/** A policy that several routes can use. */
export const sharedPolicySchema = object(
  { id: name('What routes call it.'), ...common },
  { description: 'A policy that several routes can use.' },
)

/** What the chain of a route lists: the id of a shared policy, the name of a group, or a policy written out. */
export const policyEntrySchema = Type.Union([
  name('The id of a shared policy, or the name of a group.'),
  object(
    { id: Type.Optional(name('What logs call it.')), ...common },
    { description: 'A policy written out.' },
  ),
])

/** Most policies of a chain, those of its groups included. */
export const MAX_CHAIN = 100

/** Policies that routes use together. */
export const policyGroupSchema = Type.Array(policyEntrySchema, {
  minItems: 1,
  maxItems: MAX_CHAIN,
  description: 'In order: ids of shared policies, or policies written out. Groups do not nest.',
})
