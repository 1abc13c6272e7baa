import { LOCATION_FORMS } from '../../shared/field-location/location.js'
import { optionalFlag, optionalOneOf, optionalSize, string } from '../../shared/options/options.js'

/** Schema of a location option. */
export function locationOption(description: string) {
  return string(description, { minLength: 1, maxLength: 512 })
}

/** Schema of the message that the definitions apply to. */
export const phaseOption = optionalOneOf(['request', 'response'], 'Message with the locations.', 'request')

/** Schema of the maximum body size. */
export const maxBodyOption = optionalSize('Maximum body size for locations in the body.', '1mb')

/** Schema of the option that makes a value optional. */
export const optionalOption = optionalFlag(
  false,
  'Let messages pass without a value at the source. The value at the target is then removed.',
)

/** Schema of the encoding of encrypted values. */
export const sealedEncodingOption = optionalOneOf(
  ['base64', 'base64url', 'hex', 'raw'],
  'Encoding of the encrypted bytes. `raw` is only for a whole body.',
  'base64',
)

/** Reference text about locations. */
export const LOCATIONS_TEXT = `Locations are ${LOCATION_FORMS}. In JSON only the bytes of the value change. The value of a string is its decoded text, any other value is used as written. Null, an empty string and an empty body count as missing. Duplicate headers, query parameters and object names are refused with 400, a body that is not JSON with 400 \`GW_BODY_UNPARSABLE\`, and a body with a content coding with 415 \`GW_MEDIA_TYPE\`. In responses each of these is 502 \`GW_RESPONSE_INVALID\`. The body is collected only if a location is in it. If it changes, headers about the old bytes are removed (digests, the ETag, \`content-encoding\`, \`accept-ranges\`), except for headers that the policy itself sets.`
