import { asciiForm } from './ascii-form.js'
import { findAwsKeys } from './aws-key.js'
import { findCards } from './card.js'
import { findEmails } from './email.js'
import { foundBehindEscapes } from './escaped-view.js'
import { findIbans } from './iban.js'
import { findJwts } from './jwt.js'
import { findPhones } from './phone.js'
import { findPrivateKeys } from './private-key.js'
import type { Spans } from './spans.js'
import { findTckns } from './tckn.js'

/** Finds the values of one type in a text. A text that is cut may end in the beginning of one, which counts too. */
export type FindValues = (text: string, isCut: boolean) => Spans

/** The types of values that are known by their form. */
export const VALUE_TYPES = {
  card: anyForm(findCards),
  iban: anyForm(findIbans),
  tckn: anyForm(findTckns),
  email: anyForm(findEmails),
  phone: anyForm(findPhones),
  jwt: anyForm(findJwts),
  'private-key': anyForm(findPrivateKeys),
  'aws-key': anyForm(findAwsKeys),
} as const satisfies Record<string, FindValues>

/** The name of such a type. */
export type ValueTypeName = keyof typeof VALUE_TYPES

/** Finds values also where they are written with escapes, or with characters that only look like ASCII. */
function anyForm(find: FindValues): FindValues {
  return (text, isCut) => foundBehindEscapes(text, (plain) => find(asciiForm(plain), isCut))
}
