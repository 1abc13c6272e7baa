import { headerJoined, isJsonType, mediaType, UnreadableBody } from '@sluice/core'

/** First characters of bodies, beside their media types. A slash begins a comment, which lenient readers skip. */
const KINDS = {
  json: { begins: '{[/', isType: isJsonType },
  xml: { begins: '<', isType: (type: string) => type.endsWith('/xml') || type.endsWith('+xml') },
} as const
/** White space, and what byte order marks and UTF-16 put before or between ASCII characters. */
const SKIPPED: ReadonlySet<number> = new Set([0, 0x09, 0x0a, 0x0d, 0x1e, 0x20, 0xef, 0xbb, 0xbf, 0xfe, 0xff])

/**
 * Marks the error of a body that claims to be of this kind as ambiguous: the upstream may read what the gateway could
 * not. A body of another kind is left to routes that do not ask it.
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
  // Without a type, only the beginning of another kind says that it is none of this.
  return type === '' && !Object.values(KINDS).some(({ begins }) => begins.includes(first))
}
