import { UnreadableBody } from '@sluice/core'

/** Explanations by parser message. The parser's own messages quote the document and must not reach clients. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/tag mismatch/i, 'a start tag and an end tag do not match'],
  [/Premature end/i, 'it ends before all of its elements are closed'],
  [/Document is empty|Start tag expected/i, 'it does not begin with an element'],
  [/Extra content/i, 'there is content after the root element'],
  [/Excessive depth/i, 'its elements are nested too deeply'],
  [/Resource limit|too long/i, 'a name or a text in it is too long'],
  [/redefined/i, 'an element has the same attribute twice'],
  [/namespace|prefix|xmlns/i, 'a namespace prefix is not declared correctly'],
  [/Unsupported version|XML declaration/i, 'its XML declaration is not valid'],
  [/encoding/i, 'its bytes do not match its encoding'],
  [/Entity|CharRef/i, "a reference is not valid, or an '&' is not escaped as &amp;"],
  [/AttValue|attribute/i, 'an attribute is not valid'],
  [/Char |character/i, 'a character in it is not allowed in XML'],
  [/comment/i, 'a comment is not valid'],
  [/name/i, 'a name is not valid'],
]

/** Error message and position of the parser. */
export interface ParserProblem {
  readonly message: string
  readonly line: number
  readonly col: number
}

/** Creates the error for a document that the parser rejects. */
export function malformedXml({ message, line, col }: ParserProblem): UnreadableBody {
  const reason = REASONS.find(([pattern]) => pattern.test(message))?.[1] ?? 'it cannot be read'
  return unreadableXml(`is not well-formed XML: ${reason} (line ${line}, column ${col})`)
}

/** Creates the error for a body that is refused. @param what text after "the body" */
export function unreadableXml(what: string): UnreadableBody {
  return new UnreadableBody('GW_BODY_UNPARSABLE', `the body ${what}`)
}
