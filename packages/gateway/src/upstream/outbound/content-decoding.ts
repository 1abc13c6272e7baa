import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { type HttpAnswer, HttpCallFailed, headerJoined } from '@sluice/core'

type Decode = (body: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Uint8Array>

const gunzip: Decode = promisify(zlib.gunzip)
/** Decoders for content codings that servers use without being asked (RFC 9110 section 8.4.1). */
const DECODERS: ReadonlyMap<string, Decode> = new Map([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', promisify(zlib.inflate)],
  ['br', promisify(zlib.brotliDecompress)],
])

/**
 * Decodes the body of a response. Unknown or combined codings are left as they are. Rejects with HttpCallFailed if the
 * body is invalid, or exceeds the limit once decoded.
 */
export async function decodedAnswer(answer: HttpAnswer, maxBytes: number): Promise<HttpAnswer> {
  const coding = headerJoined(answer.headers, 'content-encoding')
  const decode = coding === null ? undefined : DECODERS.get(coding.trim().toLowerCase())
  if (decode === undefined || answer.body.length === 0) return answer
  try {
    const body = await decode(answer.body, { maxOutputLength: maxBytes })
    return { ...answer, headers: withoutCoding(answer.headers), body }
  } catch (error) {
    const isLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    if (isLarge) throw new HttpCallFailed('tooLarge', `the response exceeds ${maxBytes} bytes`)
    throw new HttpCallFailed('invalid', `the response body is not valid ${coding}`)
  }
}

function withoutCoding(headers: readonly string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < headers.length; i += 2)
    if (headers[i] !== 'content-encoding') kept.push(headers[i]!, headers[i + 1]!)
  return kept
}
