import { type Static, Type } from '@sinclair/typebox'
import { MAX_JSON_DEPTH } from '../../shared/json/view.js'
import * as field from '../../shared/options/options.js'
import { TEMPLATE_VARIABLES } from '../../shared/options/template.js'
import { textSource } from '../../shared/options/text-source.js'

const PLACEHOLDERS = TEMPLATE_VARIABLES.map((variable) => `\`{{${variable}}}\``).join(', ')

function side(description: string) {
  return field.optionalClosed(description, {
    jsonata: Type.Optional(textSource('the expression (JSONata)')),
    template: Type.Optional(textSource('the template')),
    output: field.optionalOneOf(
      ['json', 'text', 'xml'],
      'Output format of a template, which controls how values are escaped. Expressions always create JSON.',
      'json',
    ),
    contentType: field.optionalText(
      256,
      '`Content-Type` of the result. Default: `application/json`, `text/plain; charset=utf-8` or `application/xml; charset=utf-8`.',
    ),
    params: field.optionalRecord(
      field.string('Value of the variable. May contain {{placeholders}}.', { maxLength: 8192 }),
      'Variables of the expression. `tenant` becomes `$tenant`.',
      { maxProperties: 50 },
    ),
  })
}

/** Schema of the `transform` configuration. */
export const transformSchema = field.policyOptions(
  {
    request: side('Transformation of request bodies.'),
    response: side(
      'Transformation of response bodies with status 200 to 299, except 206. Error responses stay unchanged, because they have another structure.',
    ),
    timeout: field.optionalDuration('Time limit of an expression, at most 5s.', '50ms'),
    maxItems: field.optionalInteger('Maximum length of intermediate sequences in an expression.', {
      minimum: 100,
      maximum: 100_000,
      default: 10_000,
    }),
    maxBodyBytes: field.optionalSize('Maximum body size.', '1mb'),
    maxOutputBytes: field.optionalSize('Maximum result size.', '1mb'),
    maxDepth: field.optionalInteger('Maximum nesting of arrays and objects in the body.', {
      minimum: 1,
      maximum: MAX_JSON_DEPTH,
      default: 64,
    }),
  },
  [
    'An expression is [JSONata](https://docs.jsonata.org) and gets the parsed body. Its result is the new body, or `null` if there is no result. `$eval` is not available. Regular expressions have no look-around and no back references. `$pad` creates at most 10,000 characters. `$toMillis` and `$parseInteger` read at most 128 characters.',
    `A template is a text with placeholders. \`{{$.order.id}}\` is a JSON path (RFC 9535) into the body; its first match counts. ${PLACEHOLDERS} refer to the request. With \`output: json\`, a placeholder inside quotes becomes the text of the value. Outside quotes it becomes the value as JSON, or \`null\` if it is missing. The filled template must be valid JSON. With \`text\` and \`xml\`, a placeholder becomes the text of the value (escaped for \`xml\`), or nothing if it is missing.`,
    'A request body that is not JSON in UTF-8 gets 400 `GW_BODY_UNPARSABLE`. A content coding or another charset gets 415 `GW_MEDIA_TYPE`. A body that the expression cannot process gets 400 `GW_TRANSFORM_INPUT`. This includes `$error` and `$assert`, whose message the client gets. An expression that exceeds its limits gets 500 `GW_TRANSFORM_FAILED`. A response that cannot be transformed gets 502 `GW_RESPONSE_INVALID`.',
    'Digests, the ETag and the content coding of the original body are removed. The variable `validation` contains the reason of a failure, and the traffic log includes it. Expressions take about 0.26 ms per KB of the body, and run on a thread from 4 KB on. Templates take an eighth of that.',
  ],
)

/** Configuration of `transform`, derived from its schema. */
export type TransformConfig = Static<typeof transformSchema>
/** Transformation of requests or responses. */
export type SideConfig = NonNullable<TransformConfig['request']>
