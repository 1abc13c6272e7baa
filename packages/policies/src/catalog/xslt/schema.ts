import type { Static } from '@sinclair/typebox'
import { DURATION_PATTERN, SIZE_PATTERN } from '@sluice/core'
import {
  closed,
  optionalClosed,
  optionalFile,
  optionalOneOf,
  optionalRecord,
  optionalString,
  optionalText,
  policyOptions,
  string,
} from '../../shared/options.js'

export const DEFAULT_TIMEOUT = '250ms'
export const DEFAULT_MAX_BODY = '1mb'
export const DEFAULT_MAX_OUTPUT = '10mb'

const file = string('Path of a file.', { minLength: 1, maxLength: 4096, path: true })

const stylesheet = closed('The stylesheet; either `file` or `inline`.', {
  file: optionalFile('Path of the file that holds it.'),
  inline: optionalText(2_000_000, 'The stylesheet itself.'),
})

const param = closed('A parameter.', {
  type: optionalOneOf(
    ['string', 'number', 'boolean'],
    'What the stylesheet gets. A value that is none of its type is refused with 400.',
    'string',
  ),
  value: string(
    'The value; may hold {{placeholders}}. One that renders empty leaves the default of the stylesheet.',
    { maxLength: 8192 },
  ),
})

/** The configuration of `xslt`. */
export const xsltSchema = policyOptions(
  {
    stylesheet,
    phase: optionalOneOf(['request', 'response', 'both'], 'Which bodies are transformed.', 'request'),
    imports: optionalRecord(
      file,
      'Name to file: what the stylesheet may name in `xsl:import`, `xsl:include` and `document()`, as it is written there. Nothing else can be read.',
      { maxProperties: 100 },
    ),
    version: optionalOneOf(
      ['1.0', '2.0', '3.0'],
      'The version of XSLT; default: what the stylesheet says of itself.',
    ),
    params: optionalRecord(param, 'Name to value: the global parameters (`xsl:param`) of the stylesheet.', {
      maxProperties: 50,
    }),
    select: optionalText(
      2000,
      'XPath 1.0 of an element that is transformed in the place of the whole body, such as `/*/*[local-name()="Body"]/*`.',
    ),
    namespaces: optionalRecord(
      string('A namespace.', { minLength: 1 }),
      'Prefix to namespace, for the prefixes in `select`, beside `soap`, `soap12`, `wsse`, `wsu`, `ds`, `xenc`, `xs` and `xsi`.',
      { maxProperties: 50 },
    ),
    output: optionalClosed('The result.', {
      contentType: optionalString(
        'Content type of the result; default: `text/html`, `text/plain` or `application/json` for these output methods, else that of the body.',
        { minLength: 3, maxLength: 256 },
      ),
    }),
    timeout: optionalString('Longest time for one transformation, up to 10s.', {
      pattern: DURATION_PATTERN,
      default: DEFAULT_TIMEOUT,
    }),
    maxBodyBytes: optionalString('Largest body that is transformed, up to 10mb.', {
      pattern: SIZE_PATTERN,
      default: DEFAULT_MAX_BODY,
    }),
    maxOutputBytes: optionalString('Largest result, up to 50mb.', {
      pattern: SIZE_PATTERN,
      default: DEFAULT_MAX_OUTPUT,
    }),
  },
  [
    'The result takes the place of the body, and its type that of the content type; it is always in UTF-8. An empty body is left alone. XSLT 1.0 runs on libxslt with EXSLT (common, math, sets, functions, strings, dates); 2.0 and 3.0 run on SaxonJS, in a process of its own, and are several times slower.',
    'Stylesheets and what they import are read when the document is deployed; one that does not compile, imports what is not in `imports`, names variables, templates, attribute sets or functions that nobody declares, writes files or asks for an encoding other than UTF-8 fails the deployment. So does one of XSLT 2.0 or 3.0 that calls JavaScript (any namespace of Saxonica) or evaluates texts as code: `xsl:evaluate`, `function-lookup()`, `transform()`, `load-xquery-module()`, shadow attributes of static declarations. While requests run, nothing is read: `document()` finds what `imports` has, and neither files nor the network.',
    'A body that is not well-formed, has a DOCTYPE, is nested deeper than 100 or ends the stylesheet by `xsl:message terminate="yes"` is refused with 400 `GW_TRANSFORM_INPUT`; a response with 502 `GW_RESPONSE_INVALID`. A stylesheet that fails, runs for longer than `timeout`, calls itself too often or makes more than `maxOutputBytes` ends with 500 `GW_TRANSFORM_FAILED`; what the engine says of it stands in the operation log (`xslt_failed`), up to 500 characters, and may quote the body. A body in a content coding is refused with 415 `GW_MEDIA_TYPE`, whatever its size. Bodies from 32 KB on are transformed on a thread; when too many wait, the answer is 503 `GW_OVERLOADED`.',
    'Of responses those with a status of 200 to 299 are transformed, and of the others those whose content type is XML, such as SOAP faults; an error page of another type reaches the client as it is. Use `when` to leave errors out. A part of a document (206) is never transformed.',
  ],
)

/** The configuration of `xslt`, derived from its schema. */
export type XsltConfig = Static<typeof xsltSchema>
