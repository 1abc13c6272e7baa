import { createHash, timingSafeEqual } from 'node:crypto'
import type { XmlElement } from 'libxml2-wasm'
import { attributeOf, base64Bytes, optionalChild, plainText, requiredChild } from './elements.js'
import { SecurityFault } from './fault.js'
import type { Identity } from './identity.js'
import { NS, TOKEN } from './names.js'
import { assertFresh, instantOf, type TimestampRules } from './timestamp.js'

/** How a password is shown. */
export type PasswordType = 'digest' | 'text'

/** Who may show a password, and how. */
export interface UsernameRules {
  readonly users: ReadonlyMap<string, { readonly password: string; readonly identity: Identity }>
  readonly types: ReadonlySet<PasswordType>
}

/** Who showed the password, and the nonce that must not come again; null when the token has none. */
export interface Authenticated {
  readonly identity: Identity
  readonly nonce: string | null
}

const MAX_TEXT_LENGTH = 1024
const MAX_NONCE_LENGTH = 256
/** Compared with when nobody has that name, so that the time shows nothing. */
const NOBODY = { password: 'nobody', identity: null }

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
    throw new SecurityFault('UnsupportedSecurityToken', 'a password of this type is not taken')
  const nonce = nonceOf(token)
  const created = optionalChild(token, NS.wsu, 'Created')
  if (created !== null) assertFresh(instantOf(created), freshness, nowMs)
  if (type === 'digest' && (nonce === null || created === null)) {
    throw new SecurityFault('InvalidSecurity', 'a digest without nonce and creation time')
  }
  const user = rules.users.get(name) ?? NOBODY
  const expected =
    type === 'text' ? user.password : passwordDigest(nonce!, plainText(created!).trim(), user.password)
  const isRight = isSameText(boundedText(password), expected)
  if (!isRight || user.identity === null) throw new SecurityFault('FailedAuthentication', 'not this user')
  // A nonce counts for as long as its creation time is fresh, so that one without a time could come again later.
  const isOnce = nonce !== null && created !== null
  return { identity: user.identity, nonce: isOnce ? `${name}\n${nonce.toString('base64')}` : null }
}

/** Base64(SHA-1(nonce + created + password)), section 3.1 of the profile. */
export function passwordDigest(nonce: Uint8Array, created: string, password: string): string {
  return createHash('sha1').update(nonce).update(created, 'utf8').update(password, 'utf8').digest('base64')
}

/** No type means text. */
function passwordType(password: XmlElement): PasswordType {
  const type = attributeOf(password, 'Type')
  if (type === null || type === TOKEN.passwordText) return 'text'
  if (type === TOKEN.passwordDigest) return 'digest'
  throw new SecurityFault('UnsupportedSecurityToken', 'an unknown type of password')
}

function nonceOf(token: XmlElement): Buffer | null {
  const nonce = optionalChild(token, NS.wsse, 'Nonce')
  if (nonce === null) return null
  const encoding = attributeOf(nonce, 'EncodingType')
  if (encoding !== null && encoding !== TOKEN.base64)
    throw new SecurityFault('InvalidSecurity', 'a nonce in no Base64')
  return base64Bytes(nonce, MAX_NONCE_LENGTH)
}

function boundedText(element: XmlElement): string {
  const text = plainText(element, 'FailedAuthentication')
  if (text.length > MAX_TEXT_LENGTH)
    throw new SecurityFault('FailedAuthentication', `${element.name} is too long`)
  return text
}

/** Digests have one length, whatever the texts have. */
function isSameText(one: string, other: string): boolean {
  return timingSafeEqual(sha256(one), sha256(other))
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest()
}
