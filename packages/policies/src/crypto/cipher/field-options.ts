import { LOCATION_FORMS } from '../../shared/field-location/location.js'
import { optionalFlag, optionalOneOf, optionalSize, string } from '../../shared/options.js'

export const DEFAULT_MAX_BODY = '1mb'

/** A location option with its own description. */
export function locationOption(description: string) {
  return string(description, { minLength: 1, maxLength: 512 })
}

/** The side of the exchange that definitions are about. */
export const phaseOption = optionalOneOf(
  ['request', 'response'],
  'Which message the locations are in.',
  'request',
)

export const maxBodyOption = optionalSize('Largest body that is read for locations in it.', DEFAULT_MAX_BODY)

export const optionalOption = optionalFlag(
  false,
  'Lets messages pass that have nothing there; what stands at the target is removed then.',
)

export const sealedEncodingOption = optionalOneOf(
  ['base64', 'base64url', 'hex', 'raw'],
  'How the encrypted bytes are written; `raw` only as a whole body.',
  'base64',
)

/** What a description of locations says. */
export const LOCATIONS_TEXT = `Locations are ${LOCATION_FORMS}. In JSON only the bytes of the value change: a string is taken without its quotes and escapes, any other value as it stands there. Null, an empty string and an empty body are nothing. A header or query parameter that is repeated, and a name that stands twice in an object, are refused with 400; a body that is not JSON with 400 \`GW_BODY_UNPARSABLE\`; one in a content coding with 415 \`GW_MEDIA_TYPE\`. On the response side each of these is 502 \`GW_RESPONSE_INVALID\`. The body is collected only where a location is in it. Where it is changed, what was said about the bytes before (digests, the ETag, \`content-encoding\`, \`accept-ranges\`) is removed, but not a field that the policy itself has written.`
