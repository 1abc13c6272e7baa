import { type Static, Type } from '@sinclair/typebox'
import { SIZE_PATTERN } from '@sluice/core'

/** Default of `contentTypes`. */
export const DEFAULT_CONTENT_TYPES = ['application/xml', 'text/xml', 'application/soap+xml', '*+xml']

const schema = Type.Object(
  {
    file: Type.Optional(
      Type.String({ minLength: 1, description: 'Path of an XML Schema file; give this or `inline`.' }),
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
      'Schemas are XML Schema 1.0, compiled when the document is deployed; a schema that is broken, or that names one that is not listed, fails the deployment. Nothing is read from files or servers while requests run, and `xsi:schemaLocation` in a body is not followed.',
      'A request that is not valid is answered with 400 `GW_SCHEMA_INVALID`, whose detail lists line, path and mistake; one that is not well-formed, has a DOCTYPE or is nested too deep with 400 `GW_BODY_UNPARSABLE`; one of another media type, or in a content coding, with 415 `GW_MEDIA_TYPE`. Requests without a body are not well-formed: keep the policy to the methods that carry one with `when`.',
      'Responses are validated when their status is 2xx and they have a body. One that is not valid, or cannot be read, is answered with 502 `GW_RESPONSE_INVALID`, without saying what is in it.',
      'With `mode: report` all of this passes, but for bodies that are too large; the upstream, or for a response the client, sees `x-gw-validation: failed`. A field of that name that comes from the other side is removed. In both modes the mistakes are in the variable `xsdViolations`.',
      'With `select: soap-body` a body of the envelope with more than one element is not valid, so that nothing passes beside what was validated.',
      'Bodies from 32 KiB on are validated on a thread; when too many wait for one, the answer is 503 `GW_OVERLOADED`.',
    ].join('\n\n'),
  },
)

/** The configuration of `xsd`, derived from its schema. */
export type XsdConfig = Static<typeof xsdSchema>
