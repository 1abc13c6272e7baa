import { compilePlace, type Place } from '../../shared/field-location/place.js'
import type { Side } from '../../shared/message/side.js'
import type { SealedEncoding } from './sealed-text.js'

/** Where a value is taken from, and where what becomes of it goes. */
export interface FieldPlaces {
  readonly from: Place
  readonly to: Place
}

interface Written {
  readonly from: string
  readonly to?: string
  readonly encoding?: SealedEncoding
  readonly contentType?: string
}

/** @param sealed which of them holds the encrypted value. @throws Error for places that cannot hold what is meant for them. */
export function fieldPlaces(field: Written, side: Side, sealed: keyof FieldPlaces): FieldPlaces {
  const from = compilePlace(field.from, side)
  const places = { from, to: field.to === undefined ? from : compilePlace(field.to, side) }
  if (field.encoding === 'raw' && !places[sealed].isWholeBody) {
    throw new Error(`'${places[sealed].text}' cannot hold raw bytes; write encoding: base64`)
  }
  if (field.contentType !== undefined && !places.to.isWholeBody) {
    throw new Error("'contentType' is for to: body; remove it")
  }
  return places
}
