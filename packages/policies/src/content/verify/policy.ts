import { type CompileEnv, definePolicy, type Eventual } from '@sluice/core'
import { KeyRing } from '../../crypto/keys/key-ring.js'
import { asymmetricCheck, firstVerified } from '../../crypto/keys/signature.js'
import { signatureChecks } from '../../crypto/keys/signature-checks.js'
import { ecdsaForm } from '../../crypto/keys/signature-options.js'
import { decode } from '../../shared/encoding/byte-text.js'
import type { Draft } from '../../shared/field-location/draft.js'
import { type FieldStep, fieldHooks, sideRefusal } from '../../shared/field-location/field-steps.js'
import { compileLocation } from '../../shared/field-location/location.js'
import type { Side } from '../../shared/message/side.js'
import { overloadRefusal } from '../../shared/outcome/overload.js'
import { whenSettled } from '../../shared/outcome/when-settled.js'
import { type VerifyConfig, verifySchema } from './schema.js'

type SignatureConfig = VerifyConfig['signatures'][number]

/** The `verify` policy. Verifies detached signatures of message parts. */
export const verify = definePolicy({
  name: 'verify',
  summary: 'Verifies detached signatures of headers, fields of a JSON body or the whole body.',
  schema: verifySchema,
  cost: 'cpu',
  compile(config, env) {
    const ring = new KeyRing(config.keys)
    const steps = config.signatures.map((one) => compileSignature(one, ring, config.phase, env))
    const step = fieldHooks('verify', config, steps)
    return { ...step, decidesOnBody: step.onRequestBody !== undefined }
  },
})

function compileSignature(config: SignatureConfig, ring: KeyRing, side: Side, env: CompileEnv): FieldStep {
  const from = compileLocation(config.from, side)
  const location = compileLocation(config.signature, side)
  if (from.text === location.text)
    throw new Error(`'${from.text}' cannot be its own signature: choose another location`)
  const form = ecdsaForm(config)
  const keyChecks = config.keys.map((id) => asymmetricCheck(config.algorithm, ring.get(id), form))
  const checks = signatureChecks(env)
  const overloaded = overloadRefusal('too many signatures are being checked: try again later')
  const missing = sideRefusal(env, side, 'GW_SIGNATURE_MISSING', `sign '${from.text}' in '${location.text}'`)
  const invalid = sideRefusal(
    env,
    side,
    'GW_SIGNATURE_INVALID',
    `the signature in '${location.text}' is not valid`,
  )
  const run = (draft: Draft): Eventual => {
    const written = location.read(draft)
    const bytes = from.read(draft)
    if (written === null) return bytes === null && config.optional ? null : missing
    const signature = decode(Buffer.from(written).toString('latin1'), config.encoding)
    if (bytes === null || signature === null) return invalid
    const search = firstVerified(keyChecks, (check) => ({ check, input: bytes, signature }))
    return whenSettled(checks.run(draft.x, search), (found) => {
      if (found === null) return overloaded
      if (found === undefined) return invalid
      if (config.strip) location.remove(draft)
      return null
    })
  }
  return { locations: [from, location], run }
}
