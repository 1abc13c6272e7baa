import { type Static, Type } from '@sinclair/typebox'
import { MAX_JSON_DEPTH } from '../../engines/json/view.js'
import {
  optionalClosed,
  optionalDuration,
  optionalInteger,
  optionalOneOf,
  optionalRecord,
  optionalSize,
  optionalText,
  policyOptions,
  string,
} from '../../shared/options.js'
import { TEMPLATE_VARIABLES } from '../../shared/template.js'
import { textSource } from '../../shared/text-source.js'

const PLACEHOLDERS = TEMPLATE_VARIABLES.map((variable) => `\`{{${variable}}}\``).join(', ')

function side(description: string) {
  return optionalClosed(description, {
    jsonata: Type.Optional(textSource('the expression (JSONata)')),
    template: Type.Optional(textSource('the template')),
    output: optionalOneOf(
      ['json', 'text', 'xml'],
      'What a template makes, which decides how values are escaped in it. An expression always makes JSON.',
      'json',
    ),
    contentType: optionalText(
      256,
      'The `Content-Type` of the result. Absent: `application/json`, `text/plain; charset=utf-8` or `application/xml; charset=utf-8`.',
    ),
    params: optionalRecord(
      string('A text; may hold {{placeholders}}.', { maxLength: 8192 }),
      'Variables of the expression: `tenant` is `$tenant` in it.',
      { maxProperties: 50 },
    ),
  })
}

/** The configuration of `transform`. */
export const transformSchema = policyOptions(
  {
    request: side('What becomes of request bodies.'),
    response: side(
      'What becomes of the bodies of responses with a status of 200 to 299, except 206. Errors are left as they are: an expression or a template is written for one shape.',
    ),
    timeout: optionalDuration('Longest evaluation of an expression, at most 5s.', '50ms'),
    maxItems: optionalInteger('Most items of a sequence that an expression makes on its way.', {
      minimum: 100,
      maximum: 100_000,
      default: 10_000,
    }),
    maxBodyBytes: optionalSize('Largest body that is transformed.', '1mb'),
    maxOutputBytes: optionalSize('Largest result.', '1mb'),
    maxDepth: optionalInteger('Deepest nesting of arrays and objects in the body.', {
      minimum: 1,
      maximum: MAX_JSON_DEPTH,
      default: 64,
    }),
  },
  [
    'An expression is [JSONata](https://docs.jsonata.org) and gets the parsed body; what it answers is the new body, `null` where it answers nothing. `$eval` is not there, regular expressions have neither look-around nor back references, `$pad` makes at most 10,000 characters, and the dates that `$toMillis` and `$parseInteger` read are at most 128 characters long.',
    `A template is a text with placeholders: \`{{$.order.id}}\` is a JSON path (RFC 9535) into the body, of which the first match counts; ${PLACEHOLDERS} stand for what the request has. With \`output: json\` a placeholder inside quotes gets the text of the value and one outside gets the value as JSON, \`null\` where there is none; the template has to be JSON when its placeholders are filled. With \`text\` and \`xml\` a placeholder gets the text, for \`xml\` escaped, and nothing where there is none.`,
    'A request body that is not JSON in UTF-8 is answered 400 `GW_BODY_UNPARSABLE`, one in a content coding, whatever its size, or in another charset 415 `GW_MEDIA_TYPE`, one that the expression cannot work on 400 `GW_TRANSFORM_INPUT`, also where the expression says so with `$error` or `$assert`, whose message the client gets. An expression that takes longer or makes more than it may is answered 500 `GW_TRANSFORM_FAILED`; a response that cannot be transformed 502 `GW_RESPONSE_INVALID`.',
    'Digests, the ETag and the content coding of the body before are removed. Why a transformation failed stands in the variable `validation`, which the traffic log has. Expressions are slow, some 0.26 ms for each KB of the body, and from 4 KB on run on a thread; a template takes an eighth of that.',
  ],
)

/** The configuration of `transform`, derived from its schema. */
export type TransformConfig = Static<typeof transformSchema>
/** What becomes of the bodies of one side. */
export type SideConfig = NonNullable<TransformConfig['request']>
