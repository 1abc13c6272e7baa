import { UnreadableBody } from '@sluice/core'

/** The parser's messages quote the document, so the client gets these words instead. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/tag mismatch/i, 'a start tag and an end tag do not match'],
  [/Premature end/i, 'it ends before all of its elements are closed'],
  [/Document is empty|Start tag expected/i, 'it does not begin with an element'],
  [/Extra content/i, 'something follows its root element'],
  [/Excessive depth/i, 'its elements are nested too deep'],
  [/Resource limit|too long/i, 'a name or a text in it is too long'],
  [/redefined/i, 'an element has the same attribute twice'],
  [/namespace|prefix|xmlns/i, 'a namespace prefix is not declared as it has to be'],
  [/Unsupported version|XML declaration/i, 'its XML declaration is not valid'],
  [/encoding/i, 'its bytes are not text of its encoding'],
  [/Entity|CharRef/i, "a reference is not valid, or an '&' is not written as &amp;"],
  [/AttValue|attribute/i, 'an attribute is not valid'],
  [/Char |character/i, 'a character in it is not allowed in XML'],
  [/comment/i, 'a comment is not valid'],
  [/name/i, 'a name is not valid'],
]

/** Where the parser stopped, and in which words of its own. */
export interface ParserComplaint {
  readonly message: string
  readonly line: number
  readonly col: number
}

/** A document that the parser does not take. */
export function malformedXml({ message, line, col }: ParserComplaint): UnreadableBody {
  const reason = REASONS.find(([pattern]) => pattern.test(message))?.[1] ?? 'it cannot be read'
  return unreadableXml(`is not well-formed XML: ${reason} (line ${line}, column ${col})`)
}

/** A body that the gate refuses. @param what goes on after "the body" */
export function unreadableXml(what: string): UnreadableBody {
  return new UnreadableBody('GW_BODY_UNPARSABLE', `the body ${what}`)
}
