import type { Static } from '@sinclair/typebox'
import { jsonLimitOptions } from '../../engines/json-schema/json-bounds.js'
import { optionalFlag, optionalOneOf, optionalString, policyOptions } from '../../shared/options.js'
import { valueSource } from '../../shared/text-source.js'

const description = valueSource('an OpenAPI description')

/** The configuration of `openapi`. */
export const openapiSchema = policyOptions(
  {
    description,
    basePath: optionalString(
      'What stands before the paths of the description in requests, such as `/api/v1`. The `servers` of the description are not looked at.',
      { pattern: '^(/[^?#]*[^/?#])?$', maxLength: 1024, default: '' },
    ),
    unknownOperation: optionalOneOf(
      ['reject', 'pass'],
      'What becomes of a request whose path or method is not described: refused with 404 or 405, or let through unchecked.',
      'reject',
    ),
    unknownQuery: optionalOneOf(
      ['reject', 'pass'],
      'What becomes of a request with a query parameter that is not described.',
      'pass',
    ),
    mode: optionalOneOf(
      ['enforce', 'report'],
      '`report` lets every request pass and marks those that are not valid with `x-gw-validation: failed` for the upstream.',
      'enforce',
    ),
    responses: optionalOneOf(
      ['enforce', 'report', 'off'],
      'Whether responses are checked. `report` marks those that are not valid with `x-gw-validation: failed`; `enforce` answers 502 in their place.',
      'report',
    ),
    onUnsupported: optionalOneOf(
      ['refuse', 'skip'],
      'Handling of patterns that cannot be matched in linear time (look-around, back references). `refuse` refuses the description. `skip` ignores these patterns, and `gw validate` lists them.',
      'refuse',
    ),
    formats: optionalFlag(true, 'Checks `format`; without it the keyword says nothing.'),
    status: optionalOneOf(
      [400, 422],
      'The status of a refusal for parameters and bodies that are not valid.',
      400,
    ),
    ...jsonLimitOptions,
  },
  [
    'The description is OpenAPI 3.0 or 3.1 in one file: references to other files are refused, so bundle it first. It is checked itself when the document is loaded, and nothing is ever fetched. `gw import openapi` writes a document with routes and this policy from one.',
    'Checked are the path with its parameters, the query, header fields, cookies, the media type and the body. A path that is not described is answered 404, a method 405, a media type 415 `GW_MEDIA_TYPE`, all else 400 (or 422) `GW_SCHEMA_INVALID`; the detail lists locations and what is missed there, never values. A body where none is described is refused. HEAD is checked as GET.',
    'Parameters are read as their `style` and `explode` say: `simple`, `label`, `matrix`, `form`, `spaceDelimited`, `pipeDelimited`, `deepObject`, and `content` with JSON. A repeated single value is refused. Numbers use JSON syntax: `0x7`, `+7`, `07`, ` 7` and `1e1` for an integer are refused. Booleans are `true` and `false`. A `deepObject` may nest (`p[a][b]=1`). A path with `;` parameters is answered 404 if it is another described path without them. JSON in a parameter is read as strictly as a body. `allowEmptyValue: true` lets an empty value pass and `false` refuses it; without it the schema decides. Bodies are checked where they are JSON or `application/x-www-form-urlencoded`; of others only the media type.',
    '`readOnly` members are not required in requests, `writeOnly` ones not in responses, also when the mark and `required` stand in different parts of an `allOf`, `oneOf`, `anyOf` or behind references. A `oneOf` whose choices differ in such a member counts as `anyOf`. `discriminator`, `xml`, `links`, `callbacks` and `security` say nothing here. Patterns and sizes are bounded as in `json-schema`.',
    'Of responses the status, the media type, header fields and JSON bodies are checked. What was wrong stands in the variable `validation`, which the traffic log has.',
    'JSON bodies of 32 KB or more are checked on a thread. Descriptions are parsed on a thread too, and compiled one schema at a time, so the worker keeps serving. A reload does not recompile unchanged descriptions.',
  ],
)

/** The configuration of `openapi`, derived from its schema. */
export type OpenapiConfig = Static<typeof openapiSchema>
