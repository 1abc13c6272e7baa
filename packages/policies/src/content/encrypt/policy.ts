import { type CompileEnv, definePolicy, setHeader } from '@sluice/core'
import { cipherOf } from '../../crypto/cipher/cipher.js'
import { compileContext } from '../../crypto/cipher/context.js'
import { type FieldLocations, fieldLocations } from '../../crypto/cipher/field-locations.js'
import { writeSealed } from '../../crypto/cipher/sealed-text.js'
import { KeyRing } from '../../crypto/keys/key-ring.js'
import { type FieldStep, fieldHooks, sideRefusal } from '../../shared/field-location/field-steps.js'
import { namesOf } from '../../shared/field-location/location.js'
import type { Side } from '../../shared/message/side.js'
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
    const side = config.phase
    const ring = new KeyRing(config.keys)
    const fields = config.fields.map((field) => ({ field, ...fieldLocations(field, side, 'to') }))
    return fieldHooks({
      name: 'encrypt',
      side,
      locations: fields.flatMap(({ from, to }) => [from, to]),
      steps: fields.map((each) => compileField(each, { ring, side, env, allowWeak: config.allowWeak })),
      maxBodyBytes: config.maxBodyBytes,
    })
  },
})

interface Surroundings {
  readonly ring: KeyRing
  readonly side: Side
  readonly env: CompileEnv
  readonly allowWeak: boolean
}

function compileField(
  { field, from, to }: FieldLocations & { field: FieldConfig },
  around: Surroundings,
): FieldStep {
  const { side, env } = around
  const cipher = cipherOf(field.algorithm, around.allowWeak, field.context !== undefined)
  const seal = cipher.encryptor(around.ring.get(field.key))
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
  return (draft) => {
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
}
