import { compileLocation, type FieldLocation } from '../../shared/field-location/location.js'
import type { Side } from '../../shared/message/side.js'
import type { SealedEncoding } from './sealed-text.js'

/** Source and target of a value. */
export interface FieldLocations {
  readonly from: FieldLocation
  readonly to: FieldLocation
}

interface Written {
  readonly from: string
  readonly to?: string
  readonly encoding?: SealedEncoding
  readonly contentType?: string
}

/**
 * Compiles the locations of a definition.
 * @param sealed the one with the encrypted value.
 * @throws Error for a location that cannot hold its value.
 */
export function fieldLocations(field: Written, side: Side, sealed: keyof FieldLocations): FieldLocations {
  const from = compileLocation(field.from, side)
  const locations = { from, to: field.to === undefined ? from : compileLocation(field.to, side) }
  if (field.encoding === 'raw' && !locations[sealed].isWholeBody)
    throw new Error(`'${locations[sealed].text}' cannot hold raw bytes; use encoding: base64`)
  if (field.contentType !== undefined && !locations.to.isWholeBody)
    throw new Error("'contentType' requires to: body; remove it")
  return locations
}
