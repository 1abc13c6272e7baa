import { findCards } from './card.js'
import { findEmails } from './email.js'
import { findIbans } from './iban.js'
import { findPhones } from './phone.js'
import { type Reading, readingsOf, writtenAt } from './reading.js'
import { findAwsKeys, findJwts, findPrivateKeys } from './secrets.js'
import { type Spans, united } from './spans.js'
import { findTckns } from './tckn.js'

/**
 * Returns the positions of values of one type in a text. If the text is truncated, an incomplete value at its
 * end counts.
 */
export type FindValues = (text: string, isCut: boolean) => Spans

/** Value types that are recognized by their format. */
export const VALUE_TYPES = {
  card: anyReading(findCards),
  iban: anyReading(findIbans),
  tckn: anyReading(findTckns),
  email: anyReading(findEmails),
  phone: anyReading(findPhones),
  jwt: anyReading(findJwts),
  'private-key': anyReading(findPrivateKeys),
  'aws-key': anyReading(findAwsKeys),
} as const satisfies Record<string, FindValues>

/** Name of a value type. */
export type ValueTypeName = keyof typeof VALUE_TYPES

/** Also finds values that are written with escapes or with characters that resemble ASCII. */
function anyReading(find: (reading: Reading, isCut: boolean) => Spans): FindValues {
  return (text, isCut) => {
    const readings = readingsOf(text)
    let spans = find(readings[0]!, isCut)
    for (let i = 1; i < readings.length; i++) {
      const behind = find(readings[i]!, isCut)
      if (behind.length === 0) continue
      spans = united(
        spans,
        behind.map((position) => writtenAt(readings, i, position)),
      )
    }
    return spans
  }
}
