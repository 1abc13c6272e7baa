import type { Static } from '@sinclair/typebox'
import {
  oneOf,
  optionalFlag,
  optionalInteger,
  optionalList,
  optionalOneOf,
  optionalSize,
  optionalString,
  policyOptions,
  string,
} from '../../shared/options.js'

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

/** The configuration of `xml-json`. */
export const xmlJsonSchema = policyOptions(
  {
    direction: oneOf(['to-json', 'to-xml'], 'What the body becomes.'),
    phase: optionalOneOf(
      ['request', 'response'],
      'Which bodies are transformed. For a conversion back, use the policy twice.',
      'request',
    ),
    attributePrefix: optionalString(
      'What stands before the name of an attribute as a member. Empty: attributes become members like elements, and nothing becomes an attribute.',
      { default: DEFAULTS.attributePrefix, maxLength: 16 },
    ),
    textKey: optionalString(
      'The member that holds the text of an element which has attributes or elements, too.',
      { default: DEFAULTS.textKey, minLength: 1, maxLength: 64 },
    ),
    forceArray: optionalList(
      string('A path or a name.', { minLength: 1, maxLength: 512 }),
      'Elements that are an array even when there is one: by path from the root element, `/order/items/item`, or by name wherever they are, `item`.',
      { maxItems: 100 },
    ),
    numbers: optionalOneOf(
      ['string', 'number'],
      'to-json: whether texts that are numbers become numbers. Only those that JSON can say in full: up to 15 digits, no leading zeros.',
      'string',
    ),
    unwrap: optionalFlag(
      false,
      'to-json: leaves out the root element. to-xml: the single member is the root element.',
    ),
    stripPrefixes: optionalFlag(false, 'to-json: leaves out namespace prefixes and their declarations.'),
    ignoreNull: optionalFlag(false, 'Leaves out members that are null, and nil elements.'),
    ignoreEmpty: optionalFlag(
      false,
      'Leaves out empty texts, objects, arrays and elements without content and attributes.',
    ),
    nil: optionalFlag(
      true,
      '`xsi:nil="true"` stands for null, both ways. Otherwise it is an attribute like others, and null becomes an empty element.',
    ),
    root: optionalString('to-xml: name of the root element, unless `unwrap` takes it from the JSON.', {
      pattern: XML_NAME,
      default: DEFAULTS.root,
    }),
    item: optionalString('to-xml: name of the elements of an array that has no name of its own.', {
      pattern: XML_NAME,
      default: DEFAULTS.item,
    }),
    maxDepth: optionalInteger('Deepest nesting of the body.', {
      minimum: 1,
      maximum: 250,
      default: DEFAULTS.maxDepth,
    }),
    maxBodyBytes: optionalSize('Largest body that is transformed, up to 10mb.', DEFAULTS.maxBodyBytes),
    maxOutputBytes: optionalSize('Largest result, up to 50mb.', DEFAULTS.maxOutputBytes),
  },
  [
    'The result takes the place of the body, and `application/json` or `application/xml; charset=utf-8` that of the content type. An empty body is left alone.',
    'An element becomes the member of its name, elements of the same name an array. One with text only is a string, an empty one an empty string; with attributes or elements it is an object, its text the member `textKey`. Comments and processing instructions are left out, white space between elements too; the order among elements of different names and of texts between elements is lost.',
    'The way back is the same: members become elements, those that begin with `attributePrefix` attributes, arrays elements of the same name. JSON that came from XML becomes that XML again, but for what is named above.',
    'A body that is not well-formed, has a DOCTYPE, is nested too deep, has a name twice, a number that would lose digits (integers beyond 2^53) or a name that no element can have, is refused with 400 `GW_TRANSFORM_INPUT`; a response with 502 `GW_RESPONSE_INVALID`. More than `maxOutputBytes` end with 500 `GW_TRANSFORM_FAILED`. A body in a content coding is refused with 415 `GW_MEDIA_TYPE`, whatever its size. Bodies from 32 KB on are transformed on a thread; when too many wait, the answer is 503 `GW_OVERLOADED`.',
    'Of responses those with a status of 200 to 299 are transformed, and of the others those whose content type is XML (to-json) or JSON (to-xml), such as SOAP faults; an error page of another type reaches the client as it is. Use `when` to leave errors out. A part of a document (206) is never transformed.',
  ],
)

/** The configuration of `xml-json`, derived from its schema. */
export type XmlJsonConfig = Static<typeof xmlJsonSchema>
