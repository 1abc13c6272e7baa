import { type Static, Type } from '@sinclair/typebox'
import {
  closed,
  optionalFlag,
  optionalList,
  optionalRecord,
  policyOptions,
  string,
} from '../../shared/options.js'
import { TEMPLATE_VARIABLES } from '../../shared/template.js'
import { BASIC_SECURITY_FIELDS } from '../security-headers/presets.js'

const VARIABLES = TEMPLATE_VARIABLES.map((variable) => `\`{{${variable}}}\``).join(', ')

const name = string('A header name, in any case.', { minLength: 1, maxLength: 256 })
const value = string('A header value; may hold {{placeholders}}.', { maxLength: 8192 })

function valuesByName(description: string) {
  return optionalRecord(value, description, { minProperties: 1, maxProperties: 100 })
}

/** What both sides can do. */
const edits = {
  remove: optionalList(name, 'Names to remove; `x-internal-*` removes every name that begins so.', {
    minItems: 1,
    maxItems: 100,
  }),
  rename: optionalRecord(
    Type.String({ ...name, secret: false }),
    'Old name to new name. Lines that had the new name already are removed when the old name is there.',
    { minProperties: 1, maxProperties: 100 },
  ),
  set: valuesByName('Name to value: one line with this value, whatever was there.'),
  setIfAbsent: valuesByName('Name to value: only when there is no such line.'),
  append: optionalRecord(
    Type.Union([value, Type.Array(value, { minItems: 1, maxItems: 20 })]),
    'Name to value or values: one more line for each.',
    { minProperties: 1, maxProperties: 100 },
  ),
}

/** The changes of one side. */
const requestEdits = closed('Changes to the request before the upstream gets it.', edits)

const responseEdits = closed('Changes to the response before the client gets it.', {
  ...edits,
  securityHeaders: optionalFlag(
    false,
    `A few fields of the policy \`security-headers\`, which has all of them and choices. Adds, where the upstream has not: ${Object.entries(
      BASIC_SECURITY_FIELDS,
    )
      .map(([name, value]) => `\`${name}: ${value}\``)
      .join(', ')}.`,
  ),
})

/** The configuration of `header`. */
export const headerSchema = policyOptions(
  { request: Type.Optional(requestEdits), response: Type.Optional(responseEdits) },
  [
    'Within one side the order is remove, rename, set, setIfAbsent, append.',
    `Values may hold ${VARIABLES}. A value that renders empty, or with a byte that no header may hold, is left out, and \`set\` then removes the header: what a client sent under that name never passes for the rendered value.`,
    'Upstreams that hand header fields on as CGI does (PHP, WSGI and others) take `x_user` for `x-user`. So in a request `remove`, `set` and `rename` take the other spelling of their names away as well.',
    'Framing and connection fields (content-length, transfer-encoding, connection, keep-alive, te, trailer, upgrade, proxy-*), `date`, `server` and `host` belong to the gateway and are refused; for `host` use the `rewrite.host` of the route.',
  ],
  { minProperties: 1 },
)

/** The configuration of `header`, derived from its schema. */
export type HeaderConfig = Static<typeof headerSchema>
/** The changes of one side; only the response has presets. */
export type HeaderEdits = Static<typeof responseEdits>
