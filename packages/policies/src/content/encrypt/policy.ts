import { type CompileEnv, definePolicy, type Outcome, setHeader } from '@sluice/core'
import { cipherOf } from '../../crypto/cipher/cipher.js'
import { compileContext } from '../../crypto/cipher/context.js'
import { fieldLocations } from '../../crypto/cipher/field-locations.js'
import { writeSealed } from '../../crypto/cipher/sealed-text.js'
import { KeyRing } from '../../crypto/keys/key-ring.js'
import type { Draft } from '../../shared/field-location/draft.js'
import { type FieldStep, fieldHooks, sideRefusal } from '../../shared/field-location/field-steps.js'
import { namesOf } from '../../shared/field-location/location.js'
import { type EncryptConfig, encryptSchema } from './schema.js'

type FieldConfig = EncryptConfig['fields'][number]

/** Encrypts values of a message. */
export const encrypt = definePolicy({
  name: 'encrypt',
  summary: 'Encrypts headers, fields of a JSON body or the whole body.',
  schema: encryptSchema,
  cost: 'cpu',
  secretNames: ({ fields }) => namesOf(fields.map(({ from }) => from)),
  compile(config, env) {
    const ring = new KeyRing(config.keys)
    const steps = config.fields.map((field) => compileField(field, config, ring, env))
    return fieldHooks('encrypt', config, steps)
  },
})

function compileField(
  field: FieldConfig,
  { phase: side, allowWeak }: EncryptConfig,
  ring: KeyRing,
  env: CompileEnv,
): FieldStep {
  const { from, to } = fieldLocations(field, side, 'to')
  const cipher = cipherOf(field.algorithm, allowWeak, field.context !== undefined)
  const seal = cipher.encryptor(ring.get(field.key))
  const context = compileContext(field.context)
  const { encoding } = field
  const keyId = field.writeKeyId ? field.key : null
  const contentType = field.contentType ?? (encoding === 'raw' ? 'application/octet-stream' : 'text/plain')
  const removesSource = from.text !== to.text && !field.keepSource
  const missing = sideRefusal(env, side, 'GW_BAD_REQUEST', `the ${side} has no value at '${from.text}'`)
  const noRoom = sideRefusal(
    env,
    side,
    'GW_BODY_UNPARSABLE',
    `the value at '${from.text}' is too long, or '${to.text}' cannot be written`,
  )
  const run = (draft: Draft): Outcome => {
    const plain = from.read(draft)
    if (plain === null) {
      if (!field.optional) return missing
      if (from.text !== to.text) to.remove(draft)
      return null
    }
    const sealed = seal(plain, context(draft.x))
    if (sealed === null) return noRoom
    if (removesSource) from.remove(draft)
    if (!to.write(draft, writeSealed(sealed, encoding, keyId), false)) return noRoom
    if (to.isWholeBody) setHeader(draft.headers, 'content-type', contentType)
    return null
  }
  return { locations: [from, to], run }
}
