import { createHash, timingSafeEqual } from 'node:crypto'
import type { XmlElement } from 'libxml2-wasm'
import { attributeOf, base64Bytes, optionalChild, plainText, requiredChild } from './elements.js'
import { SecurityFault } from './fault.js'
import type { Identity } from './identity.js'
import { NS, TOKEN } from './names.js'
import { assertFresh, instantOf, type TimestampRules } from './timestamp.js'

/** Form of a password. */
export type PasswordType = 'digest' | 'text'

/** Accepted users and password forms. */
export interface UsernameRules {
  readonly users: ReadonlyMap<string, { readonly password: string; readonly identity: Identity }>
  readonly types: ReadonlySet<PasswordType>
}

/** Authenticated user, with the nonce that must not occur again, or null. */
export interface Authenticated {
  readonly identity: Identity
  readonly nonce: string | null
}

const MAX_TEXT_LENGTH = 1024
const MAX_NONCE_LENGTH = 256
/** Stand-in for an unknown user, so that the timing reveals nothing. */
const UNKNOWN_USER = { password: 'nobody', identity: null }

/** Checks the only UsernameToken of a Security header (UsernameToken Profile 1.1.1). @throws SecurityFault */
export function checkUsernameToken(
  security: XmlElement,
  rules: UsernameRules,
  freshness: TimestampRules,
  nowMs: number,
): Authenticated {
  const token = requiredChild(security, NS.wsse, 'UsernameToken')
  const name = boundedText(requiredChild(token, NS.wsse, 'Username'))
  const password = requiredChild(token, NS.wsse, 'Password', 'FailedAuthentication')
  const type = passwordType(password)
  if (!rules.types.has(type))
    throw new SecurityFault('UnsupportedSecurityToken', 'this password type is not accepted')
  const nonce = nonceOf(token)
  const created = optionalChild(token, NS.wsu, 'Created')
  if (created !== null) assertFresh(instantOf(created), freshness, nowMs)
  if (type === 'digest' && (nonce === null || created === null))
    throw new SecurityFault('InvalidSecurity', 'a password digest needs a nonce and a creation time')
  const user = rules.users.get(name) ?? UNKNOWN_USER
  const expected =
    type === 'text' ? user.password : passwordDigest(nonce!, plainText(created!).trim(), user.password)
  const isRight = isSameText(boundedText(password), expected)
  if (!isRight || user.identity === null)
    throw new SecurityFault('FailedAuthentication', 'wrong user name or password')
  // A nonce is remembered while its creation time is fresh. Without a creation time it could be replayed
  // later.
  const isOnce = nonce !== null && created !== null
  return { identity: user.identity, nonce: isOnce ? `${name}\n${nonce.toString('base64')}` : null }
}

/** Returns Base64(SHA-1(nonce + created + password)), section 3.1 of the profile. */
export function passwordDigest(nonce: Uint8Array, created: string, password: string): string {
  return createHash('sha1').update(nonce).update(created, 'utf8').update(password, 'utf8').digest('base64')
}

/** Returns the form of a password. Text is the default. */
function passwordType(password: XmlElement): PasswordType {
  const type = attributeOf(password, 'Type')
  if (type === null || type === TOKEN.passwordText) return 'text'
  if (type === TOKEN.passwordDigest) return 'digest'
  throw new SecurityFault('UnsupportedSecurityToken', 'unknown password type')
}

function nonceOf(token: XmlElement): Buffer | null {
  const nonce = optionalChild(token, NS.wsse, 'Nonce')
  if (nonce === null) return null
  const encoding = attributeOf(nonce, 'EncodingType')
  if (encoding !== null && encoding !== TOKEN.base64)
    throw new SecurityFault('InvalidSecurity', 'the nonce is not base64')
  return base64Bytes(nonce, MAX_NONCE_LENGTH)
}

function boundedText(element: XmlElement): string {
  const text = plainText(element, 'FailedAuthentication')
  if (text.length > MAX_TEXT_LENGTH)
    throw new SecurityFault('FailedAuthentication', `${element.name} is too long`)
  return text
}

/** Compares in constant time. Digests have the same length for all texts. */
function isSameText(one: string, other: string): boolean {
  return timingSafeEqual(sha256(one), sha256(other))
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest()
}
