import { UnreadableBody } from '@sluice/core'
import { type XmlElement, XmlError } from 'libxml2-wasm'
import { type CheckRules, ELEMENTS, type Strippable } from './check-rules.js'
import { undecryptable } from './ciphers.js'
import { decryptMessage } from './decryption.js'
import { childElements, childrenNamed, isElement, onlyElement } from './elements.js'
import { assertUniqueIds, referredIds } from './envelope.js'
import { SecurityFault } from './fault.js'
import type { Identity } from './identity.js'
import type { Message } from './message.js'
import { NS } from './names.js'
import { checkSignatures, type SignedBy } from './signature-check.js'
import { checkTimestamp } from './timestamp.js'
import { checkUsernameToken } from './username-token.js'

/** Removes the header or elements of it. Returns true if something was removed. */
function stripSecurity(security: XmlElement, kinds: ReadonlySet<Strippable>): boolean {
  if (kinds.has('header')) {
    security.remove()
    return true
  }
  let isChanged = false
  for (const kind of kinds) {
    if (kind === 'header') continue
    for (const element of childrenNamed(security, ...ELEMENTS[kind])) {
      element.remove()
      isChanged = true
    }
  }
  return isChanged
}

/** Result of a successful check. */
export interface Checked {
  readonly identity: Identity | null
  /** Values that must not occur again. */
  readonly once: readonly string[]
}

interface Check {
  readonly message: Message
  readonly rules: CheckRules
  readonly nowMs: number
  /**
   * True from the first decryption on. Then all failures are reported alike, because a distinct error would
   * reveal encrypted data.
   */
  hidesReason: boolean
}

/**
 * Checks a message, decrypts it, and removes elements as configured.
 * @throws SecurityFault; UnreadableBody if the decrypted message is not well-formed.
 */
export function checkMessage(message: Message, rules: CheckRules, nowMs: number): Checked {
  const check = { message, rules, nowMs, hidesReason: false }
  try {
    return run(check)
  } catch (problem) {
    const isExpected =
      problem instanceof SecurityFault || problem instanceof UnreadableBody || problem instanceof XmlError
    if (isExpected && check.hidesReason) throw undecryptable()
    // Input without a canonical form, such as relative namespaces.
    if (problem instanceof XmlError) throw new SecurityFault('InvalidSecurity', problem.message)
    throw problem
  }
}

function run(check: Check): Checked {
  const { message, rules, nowMs } = check
  const security = message.security(rules.actor)
  if (security === null) {
    if (rules.allowsUnsecuredFaults && isFault(message)) return { identity: null, once: [] }
    throw new SecurityFault('InvalidSecurity', 'no Security header')
  }
  assertUniqueIds(message.document, referredIds(security))
  // Checks the timestamp before any cryptography. An encrypted one is checked after the decryption.
  const isOpen = rules.decryption === null
  checkTimestamp(security, isOpen ? rules.timestamp : { ...rules.timestamp, isRequired: false }, nowMs)
  const [opened, signedBy] = openAndVerify(check, security)
  if (!isOpen) checkTimestamp(opened, rules.timestamp, nowMs)
  const checked = authenticate(check, opened, signedBy)
  if (rules.strip.size > 0 && stripSecurity(opened, rules.strip)) message.touch()
  return checked
}

/** Decrypts and verifies in reverse order of the sender, who adds each element at the front of the header. */
function openAndVerify(check: Check, security: XmlElement): [XmlElement, SignedBy | null] {
  if (check.rules.decryption === null) return [security, verify(check, security)]
  if (isSignedLast(security)) {
    const signedBy = verify(check, security)
    return [decrypt(check, security), signedBy]
  }
  const opened = decrypt(check, security)
  return [opened, verify(check, opened)]
}

function isSignedLast(security: XmlElement): boolean {
  const first = childElements(security).find(
    (child) => isElement(child, NS.ds, 'Signature') || isElement(child, NS.xenc, 'EncryptedKey'),
  )
  return first?.name === 'Signature'
}

function verify({ message, rules, nowMs }: Check, security: XmlElement): SignedBy | null {
  if (rules.signature === null) return null
  return checkSignatures(message.envelope, security, rules.signature, nowMs)
}

/**
 * Decrypts the message, and returns its Security header, which must be as unambiguous as the encrypted one.
 */
function decrypt(check: Check, security: XmlElement): XmlElement {
  const { message, rules } = check
  if (rules.decryption === null) return security
  check.hidesReason = childrenNamed(security, NS.xenc, 'EncryptedKey').length > 0
  const decrypted = decryptMessage(message, security, rules.decryption)
  if (decrypted === null) return security
  message.rewrite(decrypted)
  const opened = message.security(rules.actor)
  if (opened === null) throw new SecurityFault('InvalidSecurity', 'no Security header')
  assertUniqueIds(message.document, referredIds(opened))
  return opened
}

function authenticate({ rules, nowMs }: Check, security: XmlElement, signedBy: SignedBy | null): Checked {
  const once: string[] = []
  if (signedBy !== null && rules.isSignatureOnce)
    once.push(...signedBy.marks.map((mark) => `signature\n${mark}`))
  if (rules.usernameToken === null) return { identity: signedBy?.identity ?? null, once }
  const { identity, nonce } = checkUsernameToken(security, rules.usernameToken, rules.timestamp, nowMs)
  if (nonce !== null) once.push(`nonce\n${nonce}`)
  return { identity, once }
}

function isFault({ envelope }: Message): boolean {
  const only = onlyElement(envelope.body)
  return only !== null && isElement(only, envelope.root.namespaceUri, 'Fault')
}
