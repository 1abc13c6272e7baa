import type { Static } from '@sinclair/typebox'
import { SIZE_PATTERN } from '@sluice/core'
import {
  closed,
  list,
  optionalInteger,
  optionalList,
  optionalOneOf,
  optionalRecord,
  optionalString,
  optionalText,
  policyOptions,
  string,
} from '../../shared/options.js'

/** Default of `contentTypes`. */
export const DEFAULT_CONTENT_TYPES = ['application/xml', 'text/xml', 'application/soap+xml', '*+xml']

const schema = closed('One schema document.', {
  file: optionalString('Path of an XML Schema file; give this or `inline`.', { minLength: 1, path: true }),
  inline: optionalString('The text of an XML Schema; give this or `file`.', { minLength: 1 }),
  systemId: optionalText(
    1024,
    'The name by which other schemas include or import it, as their `schemaLocation` has it; default: the name of the file without its folders.',
  ),
})

/** The configuration of `xsd`. */
export const xsdSchema = policyOptions(
  {
    schemas: list(schema, 'All schema documents: the root schema and what it includes and imports.', {
      minItems: 1,
      maxItems: 1000,
    }),
    root: optionalString('The `systemId` of the root schema; default: the first.', { minLength: 1 }),
    select: optionalText(
      2000,
      'What is validated: `soap-body`, the one element in the body of a SOAP 1.1 or 1.2 envelope, or an XPath 1.0, all of whose elements are validated; default: the whole document.',
    ),
    namespaces: optionalRecord(
      string('A namespace.'),
      'What prefixes in `select` stand for, beside `soap`, `soap12`, `wsse`, `wsu`, `ds`, `xenc`, `xs` and `xsi`.',
    ),
    phase: optionalOneOf(['request', 'response', 'both'], 'Which bodies are validated.', 'request'),
    mode: optionalOneOf(
      ['enforce', 'report'],
      '`report` lets bodies pass that are not valid, and says so in `x-gw-validation: failed`.',
      'enforce',
    ),
    maxErrors: optionalInteger('Most mistakes that are listed.', { default: 10, minimum: 1, maximum: 100 }),
    maxBodyBytes: optionalString('Largest body; at most 10mb.', { pattern: SIZE_PATTERN, default: '1mb' }),
    maxDepth: optionalInteger('Most elements inside one another, the root element included.', {
      default: 100,
      minimum: 1,
      maximum: 250,
    }),
    contentTypes: optionalList(
      string('A media type; `*+xml` is any that ends so.', { minLength: 3 }),
      'The media types that are accepted, without parameters.',
      { default: DEFAULT_CONTENT_TYPES, minItems: 1, maxItems: 100 },
    ),
  },
  [
    'Schemas are XML Schema 1.0 (libxml2), compiled when the document of the gateway is loaded; one that is broken, or names one that is not listed, is reported then, with its line. Nothing is read while requests run, and `xsi:schemaLocation` in a body is not followed.',
    'A request that is not valid is answered 400 `GW_SCHEMA_INVALID`; the detail lists line, path (XPath) and what is missed there, never values. One that is not well-formed, has a DOCTYPE or is nested too deep is answered 400 `GW_BODY_UNPARSABLE`, one of another media type or charset, or with a content coding, whatever its size, 415 `GW_MEDIA_TYPE`. Every request is checked, one without a body too, which is no XML: keep the policy to the methods that carry a body with `when`.',
    'Of responses those with a status of 200 to 299 are checked, except 204, 205 and 206. One that is not valid, or cannot be read, is answered 502 `GW_RESPONSE_INVALID`; what was wrong stands in the variable `validation`, which the traffic log has, as it does in the mode `report`.',
    'A fault of SOAP 1.1 with status 200 is not valid where the schema does not have it. With `select: soap-body` an envelope whose body has more than one element is not valid, so that nothing passes beside what was checked.',
    'Patterns mean what XML Schema says: classes, counts and groups that libxml2 misreads are written for it as ranges and repetitions. Messages have the pattern as it was written.',
    'A body of 32 KB and more is validated on a thread, and every body where a pattern of the schema can match a text in more than one way, such as `(a|aa)+b`, `.*[0-9]{12}` or `([a-z]+-)*[a-z]+`: libxml2 tries one way after the other, and may take very long. Where the next character always decides which part of the pattern it belongs to, as in `[a-z]+(-[a-z]+)*`, short bodies are validated at once. When too many wait for a thread, the answer is 503 `GW_OVERLOADED`. A validation that takes longer than 2 s, or in which a pattern takes more than ten million steps for one value, is ended without a verdict: 500 `GW_POLICY_ERROR`, whatever the body is, and the log of the operator says that the schema takes too long. In the mode `report` such messages pass with `x-gw-validation: skipped`.',
  ],
)

/** The configuration of `xsd`, derived from its schema. */
export type XsdConfig = Static<typeof xsdSchema>
