import { firstVerified, type SignatureCheck } from '../../crypto/keys/signature.js'
import type { Check } from '../../crypto/keys/signature-checks.js'
import type { TimeWindow } from '../../crypto/replay/time-window.js'
import { type Component, compileComponent, type FieldShapes, type SignedMessage } from './component.js'
import { type Coverage, coveredKeys } from './coverage.js'
import { signatureBase } from './signature-base.js'
import { type MessageSignature, signaturesOf } from './signature-set.js'

/** A key that is accepted for signatures. */
export interface KnownKey<K> {
  readonly algorithm: string
  readonly check: SignatureCheck
  /** Owner of the key, as the caller defines it. */
  readonly owner: K
}

/** Requirements for a signature. */
export interface Requirements<K> {
  readonly kind: 'request' | 'response'
  readonly keys: ReadonlyMap<string, KnownKey<K>>
  readonly coverage: Coverage
  readonly shapes: FieldShapes
  readonly window: TimeWindow
  readonly label: string | null
  readonly tag: string | null
  readonly needsNonce: boolean
}

/** Result of verifying a message. */
export type Verdict<K> =
  | {
      readonly isValid: true
      readonly signature: MessageSignature
      readonly owner: K
      readonly coversDigest: boolean
    }
  | Failed

interface Failed {
  readonly isValid: false
  readonly reason: Failure
  readonly detail: string
}

/** Reason why no signature is valid. */
export type Failure = 'missing' | 'malformed' | 'component' | 'coverage' | 'time' | 'nonce' | 'invalid'

/** A received message and its signature fields. */
export interface ReceivedMessage {
  readonly message: SignedMessage
  /** Lines of the field `signature-input`. */
  readonly inputs: readonly string[]
  readonly signatures: readonly string[]
  readonly hasBody: boolean
  readonly nowMs: number
}

/**
 * Prepares the verification: finds signatures that meet every requirement that needs no key.
 * Returns a verdict if there is nothing to verify with a key. Failures are reported for the first signature.
 */
export function prepareVerification<K>(
  requirements: Requirements<K>,
  received: ReceivedMessage,
): Verdict<K> | Check<Verdict<K>> {
  if (received.inputs.length === 0 && received.signatures.length === 0) return failed('missing')
  const set = signaturesOf(received.inputs.join(', '), received.signatures.join(', '))
  if (set === null) return failed('malformed')
  const { label, tag } = requirements
  const candidates = set.filter(
    (signature) => (label === null || signature.label === label) && (tag === null || signature.tag === tag),
  )
  const prepared = candidates.map((signature) => prepare(requirements, received, signature))
  const first = prepared[0] ?? failed('missing')
  const failure = 'isValid' in first ? first : failed('invalid')
  const verifiable = prepared.filter((one): one is Verifiable<K> => !('isValid' in one))
  if (verifiable.length === 0) return failure
  const verified = firstVerified(verifiable, ({ key, base, signature }) => ({
    check: key.check,
    input: base,
    signature: signature.bytes,
  }))
  const verdictOf = (found: Verifiable<K> | undefined) => (found === undefined ? failure : valid(found))
  return { now: () => verdictOf(verified.now()), later: async () => verdictOf(await verified.later()) }
}

/** Verifies a message synchronously. */
export function validate<K>(requirements: Requirements<K>, received: ReceivedMessage): Verdict<K> {
  const found = prepareVerification(requirements, received)
  return 'isValid' in found ? found : found.now()
}

/** A signature that meets all requirements except for the verification of its bytes. */
interface Verifiable<K> {
  readonly signature: MessageSignature
  readonly key: KnownKey<K>
  readonly base: Uint8Array
  readonly coversDigest: boolean
}

function valid<K>({ signature, key, coversDigest }: Verifiable<K>): Verdict<K> {
  return { isValid: true, signature, owner: key.owner, coversDigest }
}

function prepare<K>(
  requirements: Requirements<K>,
  received: ReceivedMessage,
  signature: MessageSignature,
): Failed | Verifiable<K> {
  const { input, created, expires, keyid, alg, nonce } = signature
  const components: Component[] = []
  for (const item of input.items) {
    const component = compileComponent(item, requirements.kind, requirements.shapes)
    if (typeof component === 'string') return failed('component', component)
    components.push(component)
  }
  const covered = coveredKeys(components)
  if (covered === null) return failed('malformed')
  if (!requirements.coverage.isEnough(covered, received.hasBody)) return failed('coverage')
  const isTimely = created !== null && requirements.window.has(created * 1000, received.nowMs)
  if (!isTimely || (expires !== null && expires * 1000 <= received.nowMs)) return failed('time')
  if (requirements.needsNonce && (nonce === null || nonce === '')) return failed('nonce')
  const key = keyid === null ? undefined : requirements.keys.get(keyid)
  if (key === undefined || (alg !== null && alg !== key.algorithm)) return failed('invalid')
  const base = signatureBase(components, input, received.message)
  if ('absent' in base)
    return failed('component', `component ${base.absent.id}: the message does not contain it exactly once`)
  const bytes = Buffer.from(base.text, 'latin1')
  return { signature, key, base: bytes, coversDigest: covered.has('"content-digest"') }
}

function failed(reason: Failure, detail = ''): Failed {
  return { isValid: false, reason, detail }
}
