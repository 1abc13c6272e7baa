import { headerJoined, isJsonType, mediaType, UnreadableBody } from '@sluice/core'

/**
 * Media types of each body kind, and the characters with which such a body begins. A slash starts a comment, which
 * lenient parsers skip.
 */
const KINDS = {
  json: { begins: '{[/', isType: isJsonType },
  xml: { begins: '<', isType: (type: string) => type.endsWith('/xml') || type.endsWith('+xml') },
} as const
/** White space, byte order marks, and the zero bytes that UTF-16 puts between ASCII characters. */
const SKIPPED: ReadonlySet<number> = new Set([0, 0x09, 0x0a, 0x0d, 0x1e, 0x20, 0xef, 0xbb, 0xbf, 0xfe, 0xff])

/**
 * Marks a parse error as ambiguous if the body claims to be of this kind: the upstream may be able to read what the
 * gateway could not. Bodies of another kind are left to routes that do not inspect them.
 */
export function claimedKindError(
  kind: keyof typeof KINDS,
  { code, message, isAmbiguous }: UnreadableBody,
  { headers, body }: { readonly headers: readonly string[]; readonly body: Uint8Array },
): UnreadableBody {
  return new UnreadableBody(code, message, isAmbiguous || claims(kind, headers, body))
}

function claims(kind: keyof typeof KINDS, headers: readonly string[], body: Uint8Array): boolean {
  const type = mediaType(headerJoined(headers, 'content-type') ?? '')
  if (KINDS[kind].isType(type)) return true
  const first = String.fromCharCode(body.find((byte) => !SKIPPED.has(byte)) ?? 0)
  if (KINDS[kind].begins.includes(first)) return true
  // Without a media type, only a first character of another kind proves that the body is not of this kind.
  return type === '' && !Object.values(KINDS).some(({ begins }) => begins.includes(first))
}
