import { type Static, Type } from '@sinclair/typebox'
import { jsonLimitOptions } from '../../engines/json-schema/json-bounds.js'
import {
  optionalFlag,
  optionalList,
  optionalOneOf,
  optionalString,
  policyOptions,
} from '../../shared/options.js'
import { valueSource } from '../../shared/text-source.js'

const source = valueSource('a JSON schema')

function flag(description: string) {
  return Type.Optional(Type.Boolean({ default: false, description }))
}

/** The configuration of `json-schema`. */
export const jsonSchemaSchema = policyOptions(
  {
    schema: Type.Optional(source),
    schemas: optionalList(source, 'Several schemas; `match` says how they decide together.', {
      minItems: 1,
      maxItems: 50,
    }),
    references: optionalList(
      source,
      'Schemas that the others refer to by their `$id`. Nothing is ever fetched.',
      { minItems: 1, maxItems: 50 },
    ),
    match: optionalOneOf(
      ['any', 'all', 'first'],
      '`any`: one schema has to accept, and a refusal says what each one misses; `first`: the same, and a refusal says what the first one misses; `all`: every schema has to accept.',
      'any',
    ),
    select: optionalString(
      'A JSON path (RFC 9535) to what is checked, such as `$.order`. Every value that it finds has to be valid, and it has to find one.',
      { minLength: 1, maxLength: 2048, default: '$' },
    ),
    phase: optionalOneOf(['request', 'response', 'both'], 'Which bodies are checked.', 'request'),
    draft: optionalOneOf(
      ['04', '07', '2019-09', '2020-12'],
      'The draft of the schemas. Absent: the one that `$schema` names, else 2020-12.',
    ),
    formats: optionalFlag(true, 'Checks `format`; without it the keyword says nothing.'),
    coerce: flag('Changes values to the type that the schema asks for: `"5"` to `5`.'),
    removeAdditional: flag('Removes members that `additionalProperties: false` does not allow.'),
    applyDefaults: flag('Adds members that are missing and have a `default`.'),
    mode: optionalOneOf(
      ['enforce', 'report'],
      '`report` lets everything pass and marks what is not valid with `x-gw-validation: failed`, for the upstream or, in the response, for the client.',
      'enforce',
    ),
    status: optionalOneOf(
      [400, 422],
      'The status of a refusal for a request that is JSON but not valid.',
      400,
    ),
    ...jsonLimitOptions,
  },
  [
    'A request that is not valid is answered 400 `GW_SCHEMA_INVALID` (or 422), a body that is not JSON in UTF-8 400 `GW_BODY_UNPARSABLE`, one in a content coding, whatever its size, or in another charset 415 `GW_MEDIA_TYPE`. The detail lists JSON pointers and what is missed there, never values. Every request is checked, one without a body too, which is not JSON: keep the policy to the methods that carry a body with `when`. Of the media type only the charset is looked at.',
    'Of responses those with a status of 200 to 299 are checked, except 204, 205 and 206. One that is not valid is answered 502 `GW_RESPONSE_INVALID`; what was wrong stands in the variable `validation`, which the traffic log has, as it does in the mode `report`.',
    'Schemas mean what their draft says, as the official test suite has it, or are refused when the document is loaded: references that lead in a circle; `$dynamicRef` to an anchor that stands in several schemas; `$recursiveRef` where a schema has `$recursiveAnchor: true`; `unevaluatedItems` beside `contains` (2020-12); in drafts 04 and 07 keywords beside `$ref`, which these ignore; schemas of schemas (`$vocabulary`). For one value as many as 1,000,000 references are followed; a body that needs more is not valid.',
    'Patterns are matched in linear time; look-around and back references are refused when the document is loaded. `uniqueItems` and formats are bounded too: a text of more than 4,096 characters (320 for host names and addresses of mail) has no format but `byte`, `binary` and `password`.',
    'When `coerce`, `removeAdditional` or `applyDefaults` changed something, the changed document is written again and becomes the body: numbers as JavaScript has them (an integer above 2^53 loses digits), white space and duplicate names gone.',
    'A body of 32 KB and more is checked on a thread.',
  ],
)

/** The configuration of `json-schema`, derived from its schema. */
export type JsonSchemaConfig = Static<typeof jsonSchemaSchema>
