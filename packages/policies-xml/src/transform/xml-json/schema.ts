import type { Static } from '@sinclair/typebox'
import * as field from '@sluice/policies/shared/options/options'

/** Defaults of the options. */
export const DEFAULTS = {
  attributePrefix: '@',
  textKey: '#text',
  root: 'root',
  item: 'item',
  maxDepth: 100,
  maxBodyBytes: '1mb',
  maxOutputBytes: '10mb',
} as const

const XML_NAME = '^[A-Za-z_][A-Za-z0-9_.-]{0,127}$'

/** Schema of the `xml-json` configuration. */
export const xmlJsonSchema = field.policyOptions(
  {
    direction: field.oneOf(['to-json', 'to-xml'], 'Direction of the conversion.'),
    phase: field.optionalOneOf(
      ['request', 'response'],
      'Messages to convert. To convert both ways, use the policy twice.',
      'request',
    ),
    attributePrefix: field.optionalString(
      'Prefix of member names that are attributes. If empty, attributes become members like elements, and no member becomes an attribute.',
      { default: DEFAULTS.attributePrefix, maxLength: 16 },
    ),
    textKey: field.optionalString(
      'Member with the text of an element that also has attributes or child elements.',
      { default: DEFAULTS.textKey, minLength: 1, maxLength: 64 },
    ),
    forceArray: field.optionalList(
      field.string('Path or name.', { minLength: 1, maxLength: 512 }),
      'Elements that are always arrays, even if there is only one. Give a path from the root element, `/order/items/item`, or a name, `item`.',
      { maxItems: 100 },
    ),
    numbers: field.optionalOneOf(
      ['string', 'number'],
      'to-json: type of numeric texts. `number` converts texts that JSON can represent exactly: up to 15 digits, no leading zeros.',
      'string',
    ),
    unwrap: field.optionalFlag(
      false,
      'to-json: omits the root element. to-xml: uses the single member as the root element.',
    ),
    stripPrefixes: field.optionalFlag(false, 'to-json: omits namespace prefixes and their declarations.'),
    ignoreNull: field.optionalFlag(false, 'Omits null members and nil elements.'),
    ignoreEmpty: field.optionalFlag(
      false,
      'Omits empty texts, objects and arrays, and elements without content and attributes.',
    ),
    nil: field.optionalFlag(
      true,
      'Maps `xsi:nil="true"` to null and back. If false, it is an ordinary attribute, and null becomes an empty element.',
    ),
    root: field.optionalString('to-xml: name of the root element, unless `unwrap` is set.', {
      pattern: XML_NAME,
      default: DEFAULTS.root,
    }),
    item: field.optionalString('to-xml: element name for the items of an unnamed array.', {
      pattern: XML_NAME,
      default: DEFAULTS.item,
    }),
    maxDepth: field.optionalInteger('Maximum nesting of the body.', {
      minimum: 1,
      maximum: 250,
      default: DEFAULTS.maxDepth,
    }),
    maxBodyBytes: field.optionalSize('Maximum body size, up to 10mb.', DEFAULTS.maxBodyBytes),
    maxOutputBytes: field.optionalSize('Maximum result size, up to 50mb.', DEFAULTS.maxOutputBytes),
  },
  [
    'The result replaces the body. The content type becomes `application/json` or `application/xml; charset=utf-8`. An empty body stays unchanged.',
    'An element becomes a member with its name. Elements with the same name become an array. An element with only text becomes a string, an empty one an empty string. An element with attributes or child elements becomes an object, with its text in `textKey`. Comments, processing instructions and white space between elements are dropped. The order of elements with different names, and of text between elements, is lost.',
    'The conversion to XML is the reverse. Members become elements, members with `attributePrefix` become attributes, and arrays become elements with the same name. XML converted to JSON and back is the same, except for the losses above.',
    'A request gets 400 `GW_TRANSFORM_INPUT`, and a response 502 `GW_RESPONSE_INVALID`, if the body is not well-formed, has a DOCTYPE, is nested too deep, or has duplicate names. The same applies to numbers that would lose digits (integers beyond 2^53) and to names that are invalid in XML. A result above `maxOutputBytes` gets 500 `GW_TRANSFORM_FAILED`. A body with a content coding gets 415 `GW_MEDIA_TYPE`. Bodies of 32 KB or more are converted on a thread. If too many wait, the response is 503 `GW_OVERLOADED`.',
    'Responses with status 200 to 299 are converted. Other responses are converted only if their content type is XML (to-json) or JSON (to-xml), such as SOAP faults. Use `when` to exclude errors. Partial responses (206) are never converted.',
  ],
)

/** Configuration of `xml-json`, derived from its schema. */
export type XmlJsonConfig = Static<typeof xmlJsonSchema>
