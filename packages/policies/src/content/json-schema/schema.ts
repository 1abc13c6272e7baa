import { type Static, Type } from '@sinclair/typebox'
import { jsonLimitOptions } from '../../engines/json-schema/json-bounds.js'
import * as field from '../../shared/options/options.js'
import { valueSource } from '../../shared/options/text-source.js'

const source = valueSource('a JSON schema')

function flag(description: string) {
  return Type.Optional(Type.Boolean({ default: false, description }))
}

/** Schema of the configuration of `json-schema`. */
export const jsonSchemaSchema = field.policyOptions(
  {
    schema: Type.Optional(source),
    schemas: field.optionalList(source, 'Several schemas, combined as `match` says.', {
      minItems: 1,
      maxItems: 50,
    }),
    references: field.optionalList(
      source,
      'Schemas that the others refer to by their `$id`. Schemas are never fetched.',
      { minItems: 1, maxItems: 50 },
    ),
    match: field.optionalOneOf(
      ['any', 'all', 'first'],
      'Combination of several schemas. `any`: one schema must accept the document, and an error lists the violations of each. `first`: the same, but an error lists only those of the first schema. `all`: every schema must accept it.',
      'any',
    ),
    select: field.optionalString(
      'JSON path (RFC 9535) to the values to validate, such as `$.order`. It must match at least one value, and every matched value must be valid.',
      { minLength: 1, maxLength: 2048, default: '$' },
    ),
    phase: field.optionalOneOf(['request', 'response', 'both'], 'Bodies to validate.', 'request'),
    draft: field.optionalOneOf(
      ['04', '07', '2019-09', '2020-12'],
      'Draft of the schemas. Default: the one named in `$schema`, otherwise 2020-12.',
    ),
    formats: field.optionalFlag(true, 'Validates `format`. If false, the keyword is ignored.'),
    coerce: flag('Converts values to the type that the schema requires: `"5"` to `5`.'),
    removeAdditional: flag('Removes members that `additionalProperties: false` does not allow.'),
    applyDefaults: flag('Adds missing members that have a `default`.'),
    mode: field.optionalOneOf(
      ['enforce', 'report'],
      '`report` lets invalid bodies pass and marks them with `x-gw-validation: failed`, in the request for the upstream or in the response for the client.',
      'enforce',
    ),
    status: field.optionalOneOf([400, 422], 'Status for a request whose body is JSON but not valid.', 400),
    ...jsonLimitOptions,
  },
  [
    'An invalid request gets 400 `GW_SCHEMA_INVALID` (or 422). A body that is not JSON in UTF-8 gets 400 `GW_BODY_UNPARSABLE`. A body of any size with a content coding or in another charset gets 415 `GW_MEDIA_TYPE`. The detail lists JSON pointers and the violated rules, never values. Every request is validated, and a missing body is not valid JSON: use `when` to limit the policy to methods with a body. The media type is ignored except for its charset.',
    'Responses with status 200 to 299 are validated, except 204, 205 and 206. An invalid response is replaced with 502 `GW_RESPONSE_INVALID`. The violations are recorded in the variable `validation` for the traffic log, also in `report` mode.',
    'Schemas are interpreted as in the official test suite of their draft. Some features are rejected when the document is loaded: circular references, `$dynamicRef` to an anchor defined in several schemas, `$recursiveRef` with `$recursiveAnchor: true`, `unevaluatedItems` beside `contains` (2020-12), keywords beside `$ref` in drafts 04 and 07, which ignore them, and meta-schemas (`$vocabulary`). Validating one value follows at most 1,000,000 references. A body that needs more is invalid.',
    'Patterns are matched in linear time. Look-around and back-references are rejected when the document is loaded. `uniqueItems` and formats are bounded too. Text over 4,096 characters (320 for host names and email addresses) does not match any format except `byte`, `binary` and `password`.',
    'If `coerce`, `removeAdditional` or `applyDefaults` changes the document, it is serialised again and replaces the body. Numbers become JavaScript numbers (integers above 2^53 lose digits), and white space and duplicate names are lost.',
    'Bodies of 32 KB and more are validated on a worker thread.',
  ],
)

/** Configuration of `json-schema`, derived from its schema. */
export type JsonSchemaConfig = Static<typeof jsonSchemaSchema>
