import { isToken } from '@sluice/core'
import { bodyDigest, type DigestName } from '../../crypto/digest/body-digest.js'
import type { RequestFacts } from '../../shared/message/request-facts.js'
import { whenSettled } from '../../shared/when-settled.js'
import type { Pieces } from './mac.js'

/** A piece of what is signed that waits for the body. */
type BodyPiece = (body: Uint8Array) => string | Uint8Array | Promise<string>
/** What is signed, as far as it is known without the body. */
export type Draft = readonly (string | BodyPiece)[]

/** What is signed, compiled from its template. */
export interface Payload {
  readonly needsBody: boolean
  readonly hasTimestamp: boolean
  /** Takes all that the head of the request says. */
  draft(facts: RequestFacts, timestamp: string): Draft
}

type HeadPiece = (facts: RequestFacts, timestamp: string) => string

const HEAD_PIECES: Readonly<Record<string, HeadPiece>> = {
  method: (facts) => facts.method,
  host: (facts) => facts.lines('host')[0] ?? '',
  path: (facts) => facts.path,
  query: (facts) => facts.query,
  timestamp: (_, timestamp) => timestamp,
}

const BODY_PIECES: Readonly<Record<string, BodyPiece>> = {
  body: (body) => body,
  'body.sha256.hex': digestPiece('sha256', 'hex'),
  'body.sha256.base64': digestPiece('sha256', 'base64'),
  'body.sha512.hex': digestPiece('sha512', 'hex'),
  'body.sha512.base64': digestPiece('sha512', 'base64'),
}

function digestPiece(name: DigestName, encoding: 'hex' | 'base64'): BodyPiece {
  return (body) => whenSettled(bodyDigest(name, body), (digest) => digest.toString(encoding))
}

type Piece = { readonly text: string } | { readonly head: HeadPiece } | { readonly body: BodyPiece }

/** @throws Error when a placeholder is not closed or not known, or nothing of the request is signed. */
export function compilePayload(template: string): Payload {
  const pieces = template
    .split(/(\{\{.*?\}\})/s)
    .filter((part) => part !== '')
    .map(pieceOf)
  if (!pieces.some((piece) => 'body' in piece || 'head' in piece)) {
    throw new Error("'payload' signs nothing of the request; write for example {{timestamp}}.{{body}}")
  }
  return {
    needsBody: pieces.some((piece) => 'body' in piece),
    hasTimestamp: template.includes('{{timestamp}}'),
    draft: (facts, timestamp) =>
      pieces.map((piece) => {
        if ('text' in piece) return piece.text
        return 'head' in piece ? piece.head(facts, timestamp) : piece.body
      }),
  }
}

/** The pieces once the body is there; a promise only where a large body is hashed. */
export function completed(draft: Draft, body: Uint8Array): Pieces | Promise<Pieces> {
  const pieces = draft.map((piece) => (typeof piece === 'string' ? piece : piece(body)))
  const isLate = pieces.some((piece) => piece instanceof Promise)
  return isLate ? Promise.all(pieces) : (pieces as Pieces)
}

function pieceOf(part: string): Piece {
  if (!part.startsWith('{{') || !part.endsWith('}}')) {
    if (part.includes('{{')) throw new Error("'payload' has '{{' without '}}'; close the placeholder")
    return { text: part }
  }
  const name = part.slice(2, -2)
  if (Object.hasOwn(HEAD_PIECES, name)) return { head: HEAD_PIECES[name]! }
  if (Object.hasOwn(BODY_PIECES, name)) return { body: BODY_PIECES[name]! }
  const field = name.startsWith('header.') ? name.slice('header.'.length).toLowerCase() : ''
  if (!isToken(field)) {
    const known = [...Object.keys(HEAD_PIECES), 'header.NAME', ...Object.keys(BODY_PIECES)]
    throw new Error(`'payload' has a placeholder '${part}' that is not known; write ${known.join(', ')}`)
  }
  return { head: (facts) => facts.lines(field).join(', ') }
}
