import { type Static, Type } from '@sinclair/typebox'
import {
  optionalDuration,
  optionalFile,
  optionalFlag,
  optionalInteger,
  optionalRecord,
  policyOptions,
  string,
} from '../../shared/options.js'
import { TEMPLATE_VARIABLES } from '../../shared/template.js'

const VARIABLES = TEMPLATE_VARIABLES.map((variable) => `\`{{${variable}}}\``).join(', ')

/** The configuration of `mock`. */
export const mockSchema = policyOptions(
  {
    status: optionalInteger('The status.', { minimum: 200, maximum: 599, default: 200 }),
    headers: optionalRecord(
      string('A header value; may hold {{placeholders}}.', { maxLength: 8192 }),
      'Header fields.',
      { maxProperties: 100 },
    ),
    body: Type.Optional(
      Type.Union(
        [
          string('Sent as it is.', { maxLength: 1_048_576 }),
          Type.Record(Type.String(), Type.Unknown(), { description: 'Sent as JSON.' }),
          Type.Array(Type.Unknown(), { description: 'Sent as JSON.' }),
        ],
        {
          description:
            'The body: a text, or a mapping or list that is sent as JSON; may hold {{placeholders}}.',
        },
      ),
    ),
    bodyFile: optionalFile('The file of the body, read when the document is loaded, in place of `body`.'),
    template: optionalFlag(true, 'Whether the body may hold {{placeholders}}; else it is sent as it is.'),
    delay: optionalDuration('How long the answer takes, up to 20s.'),
  },
  [
    'Answers in place of the upstream, in the order of the chain: policies before it run, those after it do not. It counts as a success, whatever its status. `respond` of a route does the same without placeholders and delay, and `when` of this policy leaves some requests to the upstream.',
    `Placeholders are ${VARIABLES}, up to 100 in a body. In a body a value is escaped as its \`content-type\` asks for: as a JSON string's inside, as XML and HTML, percent-encoded in a form, else not at all. In header fields a value that no header may hold is left out with its field.`,
    'Without a `content-type` a mapping or list is `application/json`, a text `text/plain; charset=utf-8`. Up to 1,000 answers a worker are delayed at once; more are given at once.',
  ],
)

/** The configuration of `mock`, derived from its schema. */
export type MockConfig = Static<typeof mockSchema>
