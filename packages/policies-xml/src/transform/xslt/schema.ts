import type { Static } from '@sinclair/typebox'
import { DURATION_PATTERN, SIZE_PATTERN } from '@sluice/core'
import * as field from '@sluice/policies/shared/options/options'
import { textSource } from '@sluice/policies/shared/options/text-source'

/** Default of `timeout`. */
export const DEFAULT_TIMEOUT = '250ms'
/** Default of `maxBodyBytes`. */
export const DEFAULT_MAX_BODY = '1mb'
/** Default of `maxOutputBytes`. */
export const DEFAULT_MAX_OUTPUT = '10mb'

const stylesheet = textSource('the stylesheet', 2_000_000)

const param = field.closed('Stylesheet parameter.', {
  type: field.optionalOneOf(
    ['string', 'number', 'boolean'],
    'Type of the value. A value of another type is refused with 400.',
    'string',
  ),
  value: field.string(
    'Value, may contain {{placeholders}}. If it is empty, the default of the stylesheet applies.',
    { maxLength: 8192 },
  ),
})

/** Schema of the `xslt` configuration. */
export const xsltSchema = field.policyOptions(
  {
    stylesheet,
    phase: field.optionalOneOf(['request', 'response', 'both'], 'Messages to transform.', 'request'),
    imports: field.optionalRecord(
      textSource('the import'),
      'Sources by the name used in `xsl:import`, `xsl:include` and `document()`. Nothing else can be read.',
      { maxProperties: 100 },
    ),
    version: field.optionalOneOf(
      ['1.0', '2.0', '3.0'],
      'XSLT version. Default: the version that the stylesheet declares.',
    ),
    params: field.optionalRecord(param, 'Global parameters (`xsl:param`) of the stylesheet, by name.', {
      maxProperties: 50,
    }),
    select: field.optionalText(
      2000,
      'XPath 1.0 expression for the element to transform in place of the whole body, such as `/*/*[local-name()="Body"]/*`.',
    ),
    namespaces: field.optionalRecord(
      field.string('Namespace.', { minLength: 1 }),
      'Namespaces by prefix, for `select`. Predefined prefixes: `soap`, `soap12`, `wsse`, `wsu`, `ds`, `xenc`, `xs` and `xsi`.',
      { maxProperties: 50 },
    ),
    output: field.optionalClosed('Result options.', {
      contentType: field.optionalString(
        'Content type of the result. Default: `text/html`, `text/plain` or `application/json` for these output methods, otherwise that of the body.',
        { minLength: 3, maxLength: 256 },
      ),
    }),
    timeout: field.optionalString('Time limit of a transformation, up to 10s.', {
      pattern: DURATION_PATTERN,
      default: DEFAULT_TIMEOUT,
    }),
    maxBodyBytes: field.optionalString('Maximum body size, up to 10mb.', {
      pattern: SIZE_PATTERN,
      default: DEFAULT_MAX_BODY,
    }),
    maxOutputBytes: field.optionalString('Maximum result size, up to 50mb.', {
      pattern: SIZE_PATTERN,
      default: DEFAULT_MAX_OUTPUT,
    }),
  },
  [
    'The result replaces the body and its content type. It is always UTF-8. An empty body stays unchanged. XSLT 1.0 runs on libxslt with EXSLT (common, math, sets, functions, strings, dates). XSLT 2.0 and 3.0 run on SaxonJS in a separate process, and are several times slower.',
    'Stylesheets and their imports are read when the document is deployed. The deployment fails if a stylesheet does not compile, imports a file that is not in `imports`, writes files, or asks for an encoding other than UTF-8. It also fails for undeclared variables, templates, attribute sets or functions. With XSLT 2.0 and 3.0 it fails for calls of JavaScript (any Saxonica namespace) and for dynamic code: `xsl:evaluate`, `function-lookup()`, `transform()`, `load-xquery-module()`, shadow attributes of static declarations. Nothing is read at run time: `document()` finds only `imports`, never files or the network.',
    'A request gets 400 `GW_TRANSFORM_INPUT`, and a response 502 `GW_RESPONSE_INVALID`, if the body is not well-formed, has a DOCTYPE, is nested deeper than 100, or triggers `xsl:message terminate="yes"`. A stylesheet that fails, exceeds `timeout`, recurses too deep or exceeds `maxOutputBytes` gets 500 `GW_TRANSFORM_FAILED`. The operation log has the message of the engine (`xslt_failed`), up to 500 characters, which may quote the body. A body with a content coding gets 415 `GW_MEDIA_TYPE`. Bodies of 32 KB or more are transformed on a thread. If too many wait, the response is 503 `GW_OVERLOADED`.',
    'Responses with status 200 to 299 are transformed. Other responses are transformed only if their content type is XML, such as SOAP faults. Use `when` to exclude errors. Partial responses (206) are never transformed.',
  ],
)

/** Configuration of `xslt`, derived from its schema. */
export type XsltConfig = Static<typeof xsltSchema>
