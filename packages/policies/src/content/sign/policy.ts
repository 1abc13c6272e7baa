import { type CompileEnv, definePolicy, type Eventual } from '@sluice/core'
import { KeyRing } from '../../crypto/keys/key-ring.js'
import { asymmetricSigner } from '../../crypto/keys/signature.js'
import { ecdsaForm } from '../../crypto/keys/signature-options.js'
import { encode } from '../../shared/encoding/byte-text.js'
import type { Draft } from '../../shared/field-location/draft.js'
import { type FieldStep, fieldHooks, sideRefusal } from '../../shared/field-location/field-steps.js'
import { compileLocation } from '../../shared/field-location/location.js'
import type { Side } from '../../shared/message/side.js'
import { whenSettled } from '../../shared/outcome/when-settled.js'
import { type SignConfig, signSchema } from './schema.js'

type SignatureConfig = SignConfig['signatures'][number]

/** The `sign` policy. Adds detached signatures of message parts. */
export const sign = definePolicy({
  name: 'sign',
  summary: 'Signs headers, fields of a JSON body or the whole body, and adds the signatures to the message.',
  schema: signSchema,
  cost: 'cpu',
  compile(config, env) {
    const ring = new KeyRing(config.keys)
    const steps = config.signatures.map((one) => compileSignature(one, ring, config.phase, env))
    return fieldHooks('sign', config, steps)
  },
})

function compileSignature(config: SignatureConfig, ring: KeyRing, side: Side, env: CompileEnv): FieldStep {
  const from = compileLocation(config.from, side)
  const to = compileLocation(config.to, side)
  if (from.text === to.text || to.isWholeBody)
    throw new Error(
      `the signature of '${from.text}' cannot be written to '${to.text}': choose another location`,
    )
  const form = ecdsaForm(config)
  const signBytes = asymmetricSigner(config.algorithm, ring.get(config.key), form)
  const missing = sideRefusal(env, side, 'GW_BAD_REQUEST', `the ${side} has nothing at '${from.text}'`)
  const noRoom = sideRefusal(env, side, 'GW_BODY_UNPARSABLE', `the ${side} has no room for '${to.text}'`)
  const put = (draft: Draft, signature: Buffer) => {
    const text = encode(signature, config.encoding)
    return to.write(draft, Buffer.from(text), false) ? null : noRoom
  }
  const run = (draft: Draft): Eventual => {
    const bytes = from.read(draft)
    if (bytes === null) {
      if (!config.optional) return missing
      to.remove(draft)
      return null
    }
    return whenSettled(signBytes(bytes), (signature) => put(draft, signature))
  }
  return { locations: [from, to], run }
}
