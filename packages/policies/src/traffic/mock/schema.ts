import { type Static, Type } from '@sinclair/typebox'
import * as field from '../../shared/options/options.js'
import { TEMPLATE_VARIABLES } from '../../shared/options/template.js'

const VARIABLES = TEMPLATE_VARIABLES.map((variable) => `\`{{${variable}}}\``).join(', ')

/** Schema of the configuration of `mock`. */
export const mockSchema = field.policyOptions(
  {
    status: field.optionalInteger('Status code.', { minimum: 200, maximum: 599, default: 200 }),
    headers: field.optionalRecord(
      field.string('A header value. May contain {{placeholders}}.', { maxLength: 8192 }),
      'Header fields.',
      { maxProperties: 100 },
    ),
    body: Type.Optional(
      Type.Union(
        [
          field.string('Sent unchanged.', { maxLength: 1_048_576 }),
          Type.Record(Type.String(), Type.Unknown(), { description: 'Sent as JSON.' }),
          Type.Array(Type.Unknown(), { description: 'Sent as JSON.' }),
        ],
        {
          description: 'Body: text, or an object or list that is sent as JSON. May contain {{placeholders}}.',
        },
      ),
    ),
    bodyFile: field.optionalFile(
      'File with the body, as an alternative to `body`. It is read when the document is loaded.',
    ),
    template: field.optionalFlag(
      true,
      'Replaces {{placeholders}} in the body. If false, the body is sent unchanged.',
    ),
    delay: field.optionalDuration('Delay before the response, up to 20s.'),
  },
  [
    'Responds instead of the upstream at this position in the chain: earlier policies run, later ones do not. The response counts as a success, whatever its status. `respond` of a route does the same without placeholders and delay. Use `when` to send some requests to the upstream.',
    `Placeholders are ${VARIABLES}, up to 100 in a body. Values in a body are escaped according to \`content-type\`: JSON strings, XML and HTML, and percent-encoding in forms. Other types are not escaped. A header field with an invalid value is omitted.`,
    'Without a `content-type`, an object or list is sent as `application/json`, text as `text/plain; charset=utf-8`. Up to 1,000 responses per worker are delayed at once. Further responses are sent immediately.',
  ],
)

/** Configuration of `mock`, derived from its schema. */
export type MockConfig = Static<typeof mockSchema>
