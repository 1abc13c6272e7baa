import { compileLocation, type FieldLocation } from '../../shared/field-location/location.js'
import type { Side } from '../../shared/message/side.js'
import type { SealedEncoding } from './sealed-text.js'

/** Where a value is taken from, and where what becomes of it goes. */
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

/** @param sealed which of them holds the encrypted value. @throws Error for locations that cannot hold what is meant for them. */
export function fieldLocations(field: Written, side: Side, sealed: keyof FieldLocations): FieldLocations {
  const from = compileLocation(field.from, side)
  const locations = { from, to: field.to === undefined ? from : compileLocation(field.to, side) }
  if (field.encoding === 'raw' && !locations[sealed].isWholeBody) {
    throw new Error(`'${locations[sealed].text}' cannot hold raw bytes; write encoding: base64`)
  }
  if (field.contentType !== undefined && !locations.to.isWholeBody) {
    throw new Error("'contentType' is for to: body; remove it")
  }
  return locations
}
