import { getHashes, hash } from 'node:crypto'
import { isFieldValue } from '@sluice/core'
import type { Challenge } from './digest-challenge.js'

/** Algorithms of RFC 7616 section 6.1, strongest first, with their names in node:crypto. */
const HASHES: Readonly<Record<string, string>> = {
  'SHA-512-256': 'sha512-256',
  'SHA-256': 'sha256',
  MD5: 'md5',
}
const STRENGTH = Object.keys(HASHES)
const AVAILABLE = new Set(getHashes())

/** Supported part of a Digest challenge. */
export interface SupportedChallenge {
  /** Algorithm as written by the target, for example `SHA-256` or `MD5-sess`. */
  readonly algorithm: string
  /** Name of the hash in node:crypto. */
  readonly hash: string
  readonly isSession: boolean
  readonly realm: string
  readonly nonce: string
  /** Value to return unchanged, or null if the challenge has none. */
  readonly opaque: string | null
  /** Quality of protection, or null for a target that only supports RFC 2069. */
  readonly qop: 'auth' | 'auth-int' | null
  readonly hidesUser: boolean
  /** True if only the nonce has expired. The password may be correct. */
  readonly isStale: boolean
}

/** Returns the strongest supported challenge, or null if there is none. */
export function strongestChallenge(
  challenges: readonly Challenge[],
  allowsWeak: boolean,
): SupportedChallenge | null {
  const supported = challenges.flatMap(({ scheme, parameters }) => {
    const challenge = scheme === 'digest' ? supportedChallenge(parameters) : null
    return challenge === null || (challenge.hash === 'md5' && !allowsWeak) ? [] : [challenge]
  })
  const rank = ({ algorithm }: SupportedChallenge): number => STRENGTH.indexOf(baseOf(algorithm))
  return supported.toSorted((a, b) => rank(a) - rank(b))[0] ?? null
}

function supportedChallenge(parameters: ReadonlyMap<string, string>): SupportedChallenge | null {
  const algorithm = parameters.get('algorithm') ?? 'MD5'
  const name = HASHES[baseOf(algorithm)]
  const [realm, nonce] = [parameters.get('realm'), parameters.get('nonce')]
  if (name === undefined || !AVAILABLE.has(name) || realm === undefined || !nonce) return null
  const offered =
    parameters
      .get('qop')
      ?.toLowerCase()
      .split(',')
      .map((word) => word.trim()) ?? null
  const qop =
    offered === null
      ? null
      : offered.includes('auth')
        ? 'auth'
        : offered.includes('auth-int')
          ? 'auth-int'
          : ''
  if (qop === '' || ![...parameters.values()].every(isFieldValue)) return null
  return {
    ...{ algorithm, hash: name, isSession: /-sess$/i.test(algorithm), realm, nonce, qop },
    opaque: parameters.get('opaque') ?? null,
    hidesUser: parameters.get('userhash')?.toLowerCase() === 'true',
    isStale: parameters.get('stale')?.toLowerCase() === 'true',
  }
}

function baseOf(algorithm: string): string {
  return algorithm.replace(/-sess$/i, '').toUpperCase()
}

/** A request to authenticate. */
export interface DigestRequest {
  readonly method: string
  /** Path and query as sent. */
  readonly uri: string
  /** Request body, used with `auth-int`. */
  readonly body: Uint8Array
  readonly username: string
  readonly password: string
  /** Random client nonce. */
  readonly cnonce: string
  /** Number of requests made with the nonce, including this one. */
  readonly count: number
}

/** Computes the `authorization` value (RFC 7616 section 3.4). */
export function digestResponse(challenge: SupportedChallenge, request: DigestRequest): string {
  const { algorithm, realm, nonce, opaque, qop, hidesUser, isSession } = challenge
  const { method, uri, username, password, cnonce } = request
  const digest = (data: string | Uint8Array): string => hash(challenge.hash, data, 'hex')
  const count = request.count.toString(16).padStart(8, '0')
  const secret = digest(`${username}:${realm}:${password}`)
  const a1 = isSession ? digest(`${secret}:${nonce}:${cnonce}`) : secret
  const a2 = digest(`${method}:${uri}${qop === 'auth-int' ? `:${digest(request.body)}` : ''}`)
  const middle = qop === null ? nonce : `${nonce}:${count}:${cnonce}:${qop}`
  const parts = [
    hidesUser ? `username=${quoted(digest(`${username}:${realm}`))}` : userPart(username),
    ...[`realm=${quoted(realm)}`, `uri=${quoted(uri)}`, `algorithm=${algorithm}`, `nonce=${quoted(nonce)}`],
    ...(qop === null && !isSession ? [] : [`cnonce=${quoted(cnonce)}`]),
    ...(qop === null ? [] : [`nc=${count}`, `qop=${qop}`]),
    `response=${quoted(digest(`${a1}:${middle}:${a2}`))}`,
    ...(opaque === null ? [] : [`opaque=${quoted(opaque)}`]),
    ...(hidesUser ? ['userhash=true'] : []),
  ]
  return `Digest ${parts.join(', ')}`
}

/** Returns the user name parameter. Names with non-ASCII characters are encoded as in RFC 8187. */
function userPart(username: string): string {
  if (isFieldValue(username)) return `username=${quoted(username)}`
  const encoded = encodeURIComponent(username).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  )
  return `username*=UTF-8''${encoded}`
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}
