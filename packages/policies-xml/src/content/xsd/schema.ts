import type { Static } from '@sinclair/typebox'
import { SIZE_PATTERN } from '@sluice/core'
import * as field from '@sluice/policies/shared/options/options'

/** Default of `contentTypes`. */
export const DEFAULT_CONTENT_TYPES = ['application/xml', 'text/xml', 'application/soap+xml', '*+xml']

const schema = field.closed(
  'Schema document: `file` or `inline`. A plain string is the path of a file.',
  {
    file: field.optionalString('Path of an XML Schema file. Set this or `inline`.', {
      minLength: 1,
      path: true,
    }),
    inline: field.optionalString('Text of an XML Schema. Set this or `file`.', { minLength: 1 }),
    systemId: field.optionalText(
      1024,
      'Name used in `schemaLocation` by schemas that include or import it. Default: the file name without folders.',
    ),
  },
  { shorthand: 'file' },
)

/** Schema of the `xsd` configuration. */
export const xsdSchema = field.policyOptions(
  {
    schemas: field.list(
      schema,
      'All schema documents: the root schema and those that it includes and imports.',
      { minItems: 1, maxItems: 1000 },
    ),
    root: field.optionalString('`systemId` of the root schema. Default: the first schema.', { minLength: 1 }),
    select: field.optionalText(
      2000,
      'Part to validate. `soap-body` is the single element in the body of a SOAP 1.1 or 1.2 envelope. An XPath 1.0 expression selects elements that must all be valid. Default: the whole document.',
    ),
    namespaces: field.optionalRecord(
      field.string('Namespace.'),
      'Namespaces by prefix, for `select`. Predefined prefixes: `soap`, `soap12`, `wsse`, `wsu`, `ds`, `xenc`, `xs` and `xsi`.',
    ),
    phase: field.optionalOneOf(['request', 'response', 'both'], 'Messages to validate.', 'request'),
    mode: field.optionalOneOf(
      ['enforce', 'report'],
      '`enforce` refuses invalid bodies. `report` forwards them with the header `x-gw-validation: failed`.',
      'enforce',
    ),
    maxErrors: field.optionalInteger('Maximum number of violations to list.', {
      default: 10,
      minimum: 1,
      maximum: 100,
    }),
    maxBodyBytes: field.optionalString('Maximum body size, at most 10mb.', {
      pattern: SIZE_PATTERN,
      default: '1mb',
    }),
    maxDepth: field.optionalInteger('Maximum nesting of elements, including the root element.', {
      default: 100,
      minimum: 1,
      maximum: 250,
    }),
    contentTypes: field.optionalList(
      field.string('Media type. `*+xml` matches all with that suffix.', { minLength: 3 }),
      'Accepted media types, without parameters.',
      { default: DEFAULT_CONTENT_TYPES, minItems: 1, maxItems: 100 },
    ),
  },
  [
    'Schemas are XML Schema 1.0 (libxml2). They are compiled when the gateway document is loaded. Invalid schemas and references to missing schemas are reported then, with their line. Nothing is read at run time, and `xsi:schemaLocation` in bodies is ignored.',
    'An invalid request gets 400 `GW_SCHEMA_INVALID`. The detail lists the line, the path (XPath) and the violation, never values. A body that is not well-formed, has a DOCTYPE or is nested too deep gets 400 `GW_BODY_UNPARSABLE`. Another media type or charset, or a content coding, gets 415 `GW_MEDIA_TYPE`. Every request is checked, and an empty body is not XML. Use `when` to apply the policy only to methods with a body.',
    'Responses with status 200 to 299 are checked, except 204, 205 and 206. Invalid and unreadable responses are replaced with 502 `GW_RESPONSE_INVALID`. The variable `validation` contains the violations, also with `mode: report`, and the traffic log includes it.',
    'A SOAP 1.1 fault with status 200 is invalid unless the schema includes it. With `select: soap-body`, a body with more than one element is invalid, so that nothing unchecked passes.',
    'libxml2 misreads some patterns. A schema that contains one is refused, with an error that names its line and what to write instead. These are refused: unescaped hyphens and subtracted inverse classes (`[\\w-.]`, `[a-z-[^b]]`), a minimum count for an item that can be empty (`(a?){3}`), an inverse class where another class with common characters may come next (`[^@]+[^.]x`), and a group with a count that does not determine how it continues (`(ab*){2}b`).',
    'Bodies of 32 KB or more are validated on a thread. So are all bodies if a pattern can match a text in more than one way, such as `(a|aa)+b`, `.*[0-9]{12}` or `([a-z]+-)*[a-z]+`. libxml2 backtracks on these, and may take very long. This does not apply to patterns where the next character decides the position, such as `[a-z]+(-[a-z]+)*`. If too many bodies wait for a thread, the response is 503 `GW_OVERLOADED`. A validation is aborted after 2 s, or after ten million pattern steps for one value. The response is then 500 `GW_POLICY_ERROR`, and the operator log says that the schema takes too long. With `mode: report`, such messages pass with `x-gw-validation: skipped`.',
  ],
)

/** Configuration of `xsd`, derived from its schema. */
export type XsdConfig = Static<typeof xsdSchema>
