import type { Reading } from './reading.js'
import { NO_SPANS, type Spans } from './spans.js'

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g

/** Finds private keys in PEM or OpenPGP armour. A key without an end line extends to the end of the text. */
export function findPrivateKeys({ text }: Reading): Spans {
  if (!text.includes('PRIVATE KEY')) return NO_SPANS
  const spans: number[] = []
  BEGIN.lastIndex = 0
  for (let begin = BEGIN.exec(text); begin !== null; begin = BEGIN.exec(text)) {
    END.lastIndex = BEGIN.lastIndex
    const isEnded = END.exec(text) !== null
    const end = isEnded ? END.lastIndex : text.length
    spans.push(begin.index, end)
    BEGIN.lastIndex = end
  }
  return spans
}
