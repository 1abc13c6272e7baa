import { type Static, Type } from '@sinclair/typebox'
import { SIZE_PATTERN } from '@sluice/core'

/** Default of `contentTypes`. */
export const DEFAULT_CONTENT_TYPES = ['application/xml', 'text/xml', 'application/soap+xml', '*+xml']

const schema = Type.Object(
  {
    file: Type.Optional(
      Type.String({
        minLength: 1,
        path: true,
        description: 'Path of an XML Schema file; give this or `inline`.',
      }),
    ),
    inline: Type.Optional(
      Type.String({ minLength: 1, description: 'The text of an XML Schema; give this or `file`.' }),
    ),
    systemId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description:
          'The name by which other schemas include or import it, as their `schemaLocation` has it; default: the name of the file without its folders.',
      }),
    ),
  },
  { additionalProperties: false, description: 'One schema document.' },
)

/** The configuration of `xsd`. */
export const xsdSchema = Type.Object(
  {
    schemas: Type.Array(schema, {
      minItems: 1,
      maxItems: 1000,
      description: 'All schema documents: the root schema and what it includes and imports.',
    }),
    root: Type.Optional(
      Type.String({ minLength: 1, description: 'The `systemId` of the root schema; default: the first.' }),
    ),
    select: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2000,
        description:
          'What is validated: `soap-body`, the one element in the body of a SOAP 1.1 or 1.2 envelope, or an XPath 1.0, all of whose elements are validated; default: the whole document.',
      }),
    ),
    namespaces: Type.Optional(
      Type.Record(Type.String(), Type.String({ description: 'A namespace.' }), {
        description:
          'What prefixes in `select` stand for, beside `soap`, `soap12`, `wsse`, `wsu`, `ds`, `xenc`, `xs` and `xsi`.',
      }),
    ),
    phase: Type.Optional(
      Type.Union([Type.Literal('request'), Type.Literal('response'), Type.Literal('both')], {
        default: 'request',
        description: 'Which bodies are validated.',
      }),
    ),
    mode: Type.Optional(
      Type.Union([Type.Literal('enforce'), Type.Literal('report')], {
        default: 'enforce',
        description:
          '`report` lets bodies pass that are not valid, and says so in `x-gw-validation: failed`.',
      }),
    ),
    maxErrors: Type.Optional(
      Type.Integer({ default: 10, minimum: 1, maximum: 100, description: 'Most mistakes that are listed.' }),
    ),
    maxBodyBytes: Type.Optional(
      Type.String({ pattern: SIZE_PATTERN, default: '1mb', description: 'Largest body; at most 10mb.' }),
    ),
    maxDepth: Type.Optional(
      Type.Integer({
        default: 100,
        minimum: 1,
        maximum: 250,
        description: 'Most elements inside one another, the root element included.',
      }),
    ),
    contentTypes: Type.Optional(
      Type.Array(Type.String({ minLength: 3, description: 'A media type; `*+xml` is any that ends so.' }), {
        default: DEFAULT_CONTENT_TYPES,
        minItems: 1,
        maxItems: 100,
        description: 'The media types that are accepted, without parameters.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description: [
      'Schemas are XML Schema 1.0 (libxml2), compiled when the document of the gateway is loaded; one that is broken, or names one that is not listed, is reported then, with its line. Nothing is read while requests run, and `xsi:schemaLocation` in a body is not followed.',
      'A request that is not valid is answered 400 `GW_SCHEMA_INVALID`; the detail lists line, path (XPath) and what is missed there, never values. One that is not well-formed, has a DOCTYPE or is nested too deep is answered 400 `GW_BODY_UNPARSABLE`, one of another media type or charset, or with a content coding, whatever its size, 415 `GW_MEDIA_TYPE`. Every request is checked, one without a body too, which is no XML: keep the policy to the methods that carry a body with `when`.',
      'Of responses those with a status of 200 to 299 are checked, except 204, 205 and 206. One that is not valid, or cannot be read, is answered 502 `GW_RESPONSE_INVALID`; what was wrong stands in the variable `validation`, which the traffic log has, as it does in the mode `report`.',
      'A fault of SOAP 1.1 with status 200 is not valid where the schema does not have it. With `select: soap-body` an envelope whose body has more than one element is not valid, so that nothing passes beside what was checked.',
      'Patterns mean what XML Schema says: classes, counts and groups that libxml2 misreads are written for it as ranges and repetitions. Messages have the pattern as it was written.',
      'A body of 32 KB and more is validated on a thread, and every body where a pattern of the schema can match a text in more than one way, such as `(a|aa)+b`, `.*[0-9]{12}` or `([a-z]+-)*[a-z]+`: libxml2 tries one way after the other, and may take very long. Where the next character always decides which part of the pattern it belongs to, as in `[a-z]+(-[a-z]+)*`, short bodies are validated at once. When too many wait for a thread, the answer is 503 `GW_OVERLOADED`. A validation that takes longer than 2 s, or in which a pattern takes more than ten million steps for one value, is ended without a verdict: 500 `GW_POLICY_ERROR`, whatever the body is, and the log of the operator says that the schema takes too long. In the mode `report` such messages pass with `x-gw-validation: skipped`.',
    ].join('\n\n'),
  },
)

/** The configuration of `xsd`, derived from its schema. */
export type XsdConfig = Static<typeof xsdSchema>
