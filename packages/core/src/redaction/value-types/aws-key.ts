import type { Reading } from './reading.js'
import { matchingSpans, type Spans, withCutEnd } from './spans.js'

const KEY_ID = /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/g
const CUT = /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{2,15}$/

/** Finds AWS access key IDs. Secret keys have no recognizable format and must be masked by name. */
export function findAwsKeys({ text }: Reading, isCut: boolean): Spans {
  const spans = matchingSpans(text, KEY_ID, () => true)
  return isCut ? withCutEnd(spans, text, CUT, 24) : spans
}
