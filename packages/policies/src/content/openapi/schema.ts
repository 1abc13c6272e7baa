import type { Static } from '@sinclair/typebox'
import { jsonLimitOptions } from '../../engines/json-schema/json-bounds.js'
import { optionalFlag, optionalOneOf, optionalString, policyOptions } from '../../shared/options/options.js'
import { valueSource } from '../../shared/options/text-source.js'

const description = valueSource('an OpenAPI description')

/** Schema of the `openapi` configuration. */
export const openapiSchema = policyOptions(
  {
    description,
    basePath: optionalString(
      'Prefix of the described paths in requests, such as `/api/v1`. The `servers` of the description are ignored.',
      { pattern: '^(/[^?#]*[^/?#])?$', maxLength: 1024, default: '' },
    ),
    unknownOperation: optionalOneOf(
      ['refuse', 'pass'],
      'Handling of requests whose path or method is not described. `refuse` answers 404 or 405, `pass` forwards them unchecked.',
      'refuse',
      { deprecatedValues: { reject: 'refuse' } },
    ),
    unknownQuery: optionalOneOf(
      ['refuse', 'pass'],
      'Handling of requests with a query parameter that is not described.',
      'pass',
      { deprecatedValues: { reject: 'refuse' } },
    ),
    mode: optionalOneOf(
      ['enforce', 'report'],
      '`enforce` refuses invalid requests. `report` forwards them with the header `x-gw-validation: failed`.',
      'enforce',
    ),
    responses: optionalOneOf(
      ['enforce', 'report', 'off'],
      'Checking of responses. `report` marks invalid ones with `x-gw-validation: failed`, `enforce` replaces them with 502.',
      'report',
    ),
    onUnsupported: optionalOneOf(
      ['refuse', 'skip'],
      'Handling of patterns that cannot be matched in linear time (look-around, back references). `refuse` refuses the description. `skip` ignores these patterns, and `gw validate` lists them.',
      'refuse',
    ),
    formats: optionalFlag(true, 'Checks `format`. If false, the keyword is ignored.'),
    status: optionalOneOf([400, 422], 'Status for invalid parameters and bodies.', 400),
    ...jsonLimitOptions,
  },
  [
    'The description is OpenAPI 3.0 or 3.1 in one file. References to other files are refused, so bundle it first. The description is validated when the document is loaded, and nothing is fetched. `gw import openapi` generates a document with routes and this policy from a description.',
    'The policy checks the path and its parameters, the query, header fields, cookies, the media type and the body. A path that is not described gets 404, a method 405, a media type 415 `GW_MEDIA_TYPE`. Everything else gets 400 (or 422) `GW_SCHEMA_INVALID`. The detail lists locations and violations, never values. A body is refused if none is described. HEAD is checked as GET.',
    'Parameters are parsed according to `style` and `explode`: `simple`, `label`, `matrix`, `form`, `spaceDelimited`, `pipeDelimited`, `deepObject`, and `content` with JSON. A repeated single value is refused. Numbers use JSON syntax: `0x7`, `+7`, `07`, ` 7` and `1e1` for an integer are refused. Booleans are `true` and `false`. A `deepObject` may nest (`p[a][b]=1`). A path with `;` parameters gets 404 if it is another described path without them. JSON in a parameter is parsed as strictly as a body. `allowEmptyValue: true` accepts an empty value and `false` refuses it. Otherwise the schema decides. Bodies are checked if they are JSON or `application/x-www-form-urlencoded`. For other bodies, only the media type is checked.',
    '`readOnly` members are not required in requests, and `writeOnly` members are not required in responses. This also holds if the mark and `required` are in different parts of an `allOf`, `oneOf` or `anyOf`, or behind references. A `oneOf` whose choices differ only in such a member is treated as `anyOf`. `discriminator`, `xml`, `links`, `callbacks` and `security` are ignored. The limits for patterns and sizes are those of `json-schema`.',
    'For responses, the policy checks the status, the media type, header fields and JSON bodies. The variable `validation` contains the violations, and the traffic log includes it.',
    'JSON bodies of 32 KB or more are checked on a thread. Descriptions are also parsed on a thread, and compiled one schema at a time, so the worker keeps serving. A reload does not recompile unchanged descriptions.',
  ],
)

/** Configuration of `openapi`, derived from its schema. */
export type OpenapiConfig = Static<typeof openapiSchema>
