import {
  type CompileEnv,
  type Exchange,
  headerCount,
  headerValue,
  isToken,
  OFFLOAD_BYTES,
} from '@sluice/core'
import { type BodyWork, messageRefusal } from '../../crypto/jose/body-step.js'
import { plainType } from '../../crypto/jose/jws-header.js'
import type { KeySet, SignatureKey } from '../../crypto/jose/key-set.js'
import { compileKeySet } from '../../crypto/jose/local-key-set.js'
import { firstVerified } from '../../crypto/keys/signature.js'
import { signatureChecks } from '../../crypto/keys/signature-checks.js'
import { headersOf, replaceBody, type Side } from '../../shared/message/side.js'
import { overloadRefusal } from '../../shared/outcome/overload.js'
import { whenSettled } from '../../shared/outcome/when-settled.js'
import type { JwsConfig, JwsForm } from './schema.js'
import { readCompact, readDetached, readFlattened, type SignedMessage } from './signed-message.js'

/** Result of reading a message: a signature, or a reason why there is none. */
type Reading = SignedMessage | 'missing' | 'malformed'
type Reader = (x: Exchange, body: Uint8Array) => Reading

/** Verifies the signature of every message. @throws Error if a key is invalid. */
export function verification(
  config: JwsConfig & { readonly verify: NonNullable<JwsConfig['verify']> },
  side: Side,
  env: CompileEnv,
): BodyWork {
  const { verify, form } = config
  const keys: KeySet = compileKeySet({ ...verify, allowWeak: config.allowWeak }, verify.algorithms)
  const types = verify.types === undefined ? null : new Set(verify.types.map(plainType))
  const read = reader(form, side, config)
  const refusals = compileRefusals(side, form, env)
  const checks = signatureChecks(env)
  const accept = (x: Exchange, { payload }: SignedMessage, key: SignatureKey | undefined) => {
    if (key === undefined) return refusals.invalid
    if (side === 'request') x.setVar('jws', key.kid ?? '')
    if (form !== 'detached' && verify.payload !== 'keep') replaceBody(x, side, payload, verify.contentType)
    return null
  }
  return (x, body) => {
    const message = read(x, body)
    if (typeof message === 'string') return refusals[message]
    if (types !== null && !types.has(plainType(message.header.typ ?? ''))) return refusals.invalid
    const candidates = keys.candidates(message.header.alg, message.kid)
    const { input, signature } = message
    const signer = whenSettled(candidates, (found) => {
      const search = firstVerified(found, ({ check }) => ({ check, input, signature }))
      return input.length >= OFFLOAD_BYTES ? checks.runLater(x, search) : checks.run(x, search)
    })
    return whenSettled(signer, (found) => (found === null ? refusals.overloaded : accept(x, message, found)))
  }
}

function reader(form: JwsForm, side: Side, { header, unencoded }: JwsConfig): Reader {
  if (form === 'detached') return detachedReader(side, fieldNamed(header), unencoded)
  const read = form === 'compact' ? readCompact : readFlattened
  return (_, body) => (body.length === 0 ? 'missing' : (read(body) ?? 'malformed'))
}

function detachedReader(side: Side, name: string, isUnencoded: boolean): Reader {
  return (x, body) => {
    const headers = headersOf(x, side)
    const lines = headerCount(headers, name)
    if (lines !== 1) return lines === 0 ? 'missing' : 'malformed'
    return readDetached(headerValue(headers, name)!, body, isUnencoded) ?? 'malformed'
  }
}

/**
 * Returns the header name of detached signatures in lower case. @throws Error if it is not a valid field
 * name.
 */
export function fieldNamed(written: string): string {
  const name = written.toLowerCase()
  if (!isToken(name)) throw new Error(`'${written}' is not a valid header name; use letters, digits and '-'`)
  return name
}

function compileRefusals(side: Side, form: JwsForm, env: CompileEnv) {
  const location =
    form === 'detached'
      ? 'it in its header'
      : `a JWS in ${form === 'json' ? 'flattened JSON' : 'compact'} serialisation`
  return {
    missing: messageRefusal(
      side,
      env,
      'GW_SIGNATURE_MISSING',
      `the message has no signature; send ${location}`,
    ),
    malformed: messageRefusal(
      side,
      env,
      form === 'detached' ? 'GW_SIGNATURE_INVALID' : 'GW_BODY_UNPARSABLE',
      `the signature cannot be read; send ${location}`,
    ),
    overloaded: overloadRefusal('too many signatures are being checked; try again'),
    invalid: messageRefusal(side, env, 'GW_SIGNATURE_INVALID', 'the signature is not accepted'),
  }
}
