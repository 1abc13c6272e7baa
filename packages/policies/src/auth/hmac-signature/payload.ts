import { isToken } from '@sluice/core'
import { bodyDigest, type DigestName } from '../../crypto/digest/body-digest.js'
import type { RequestFacts } from '../../shared/message/request-facts.js'
import { whenSettled } from '../../shared/outcome/when-settled.js'
import type { Pieces } from './mac.js'

type BodyPiece = (body: Uint8Array) => string | Uint8Array | Promise<string>
/** Payload with the parts from the head filled in. */
export type Draft = readonly (string | BodyPiece)[]

/** Compiled payload template. */
export interface Payload {
  readonly needsBody: boolean
  readonly hasTimestamp: boolean
  /** Fills in the parts that come from the request head. */
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

/**
 * Compiles a payload template. @throws Error if a placeholder is invalid, or if the payload does not depend
 * on the request.
 */
export function compilePayload(template: string): Payload {
  const pieces = template
    .split(/(\{\{.*?\}\})/s)
    .filter((part) => part !== '')
    .map(pieceOf)
  if (!pieces.some((piece) => 'body' in piece || 'head' in piece))
    throw new Error("'payload' does not sign any part of the request; use for example {{timestamp}}.{{body}}")
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

/** Fills in the body. Returns a promise only if a large body is hashed. */
export function completed(draft: Draft, body: Uint8Array): Pieces | Promise<Pieces> {
  const pieces = draft.map((piece) => (typeof piece === 'string' ? piece : piece(body)))
  const isLate = pieces.some((piece) => piece instanceof Promise)
  return isLate ? Promise.all(pieces) : (pieces as Pieces)
}

function pieceOf(part: string): Piece {
  if (!part.startsWith('{{') || !part.endsWith('}}')) {
    if (part.includes('{{')) throw new Error("'payload' contains '{{' without '}}'; close the placeholder")
    return { text: part }
  }
  const name = part.slice(2, -2)
  if (Object.hasOwn(HEAD_PIECES, name)) return { head: HEAD_PIECES[name]! }
  if (Object.hasOwn(BODY_PIECES, name)) return { body: BODY_PIECES[name]! }
  const field = name.startsWith('header.') ? name.slice('header.'.length).toLowerCase() : ''
  if (!isToken(field)) {
    const known = [...Object.keys(HEAD_PIECES), 'header.NAME', ...Object.keys(BODY_PIECES)]
    throw new Error(`'payload' contains the unknown placeholder '${part}'; use ${known.join(', ')}`)
  }
  return { head: (facts) => facts.lines(field).join(', ') }
}
