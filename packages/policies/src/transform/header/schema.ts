import { type Static, Type } from '@sinclair/typebox'
import { BASIC_SECURITY_FIELDS } from '../../shared/message/security-presets.js'
import * as field from '../../shared/options/options.js'
import { TEMPLATE_VARIABLES } from '../../shared/options/template.js'

const VARIABLES = TEMPLATE_VARIABLES.map((variable) => `\`{{${variable}}}\``).join(', ')

const name = field.string('A header name, case-insensitive.', { minLength: 1, maxLength: 256 })
const value = field.string('A header value. May contain {{placeholders}}.', { maxLength: 8192 })

function valuesByName(description: string) {
  return field.optionalRecord(value, description, { minProperties: 1, maxProperties: 100 })
}

/** Changes that both sides support. */
const edits = {
  remove: field.optionalList(name, 'Names to remove. `x-internal-*` removes every name with that prefix.', {
    minItems: 1,
    maxItems: 100,
  }),
  rename: field.optionalRecord(
    Type.String({ ...name, secret: false }),
    'Old names and their new names. If the old name is present, existing lines with the new name are removed.',
    { minProperties: 1, maxProperties: 100 },
  ),
  set: valuesByName('Names and values. Replaces all lines of the field with one line.'),
  setIfAbsent: valuesByName('Names and values. Adds the field only if it is absent.'),
  append: field.optionalRecord(
    Type.Union([value, Type.Array(value, { minItems: 1, maxItems: 20 })]),
    'Names and one or more values. Adds a line for each value.',
    { minProperties: 1, maxProperties: 100 },
  ),
}

/** Changes to the request. */
const requestEdits = field.closed('Changes to the request before it is sent upstream.', edits)

const responseEdits = field.closed('Changes to the response before it is sent to the client.', {
  ...edits,
  securityHeaders: field.optionalFlag(
    false,
    `Adds a subset of the fields of the policy \`security-headers\`, which offers more fields and options. Fields of the upstream are kept. Adds ${Object.entries(
      BASIC_SECURITY_FIELDS,
    )
      .map(([name, value]) => `\`${name}: ${value}\``)
      .join(', ')}.`,
  ),
})

/** Schema of the configuration of `header`. */
export const headerSchema = field.policyOptions(
  { request: Type.Optional(requestEdits), response: Type.Optional(responseEdits) },
  [
    'The order within a side is remove, rename, set, setIfAbsent, append.',
    `Values may contain ${VARIABLES}. A value that is empty or not valid in a header is omitted. \`set\` then removes the field, so that a value sent by the client never passes for the rendered one.`,
    'Upstreams that pass header fields on in the style of CGI (PHP, WSGI and others) cannot distinguish `x_user` from `x-user`. In requests, `remove`, `set` and `rename` therefore also remove the other spelling.',
    'Framing and connection fields (content-length, transfer-encoding, connection, keep-alive, te, trailer, upgrade, proxy-*), `date`, `server` and `host` are controlled by the gateway and cannot be changed. For `host` use `rewrite.host` of the route.',
  ],
  { minProperties: 1 },
)

/** Configuration of `header`, derived from its schema. */
export type HeaderConfig = Static<typeof headerSchema>
/** Changes of one side. Only the response supports `securityHeaders`. */
export type HeaderEdits = Static<typeof responseEdits>
