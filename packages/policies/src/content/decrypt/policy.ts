import { type CompileEnv, definePolicy, type Eventual, type Outcome, setHeader } from '@sluice/core'
import type { Decrypted } from '../../crypto/cipher/encryptor.js'
import { type FieldLocations, fieldLocations } from '../../crypto/cipher/field-locations.js'
import { KeyRing } from '../../crypto/keys/key-ring.js'
import type { Draft } from '../../shared/field-location/draft.js'
import { type FieldStep, fieldHooks, sideRefusal } from '../../shared/field-location/field-steps.js'
import { namesOf } from '../../shared/field-location/location.js'
import type { Side } from '../../shared/message/side.js'
import { whenSettled } from '../../shared/outcome/when-settled.js'
import { compileOpener, type Opener } from './opener.js'
import { type DecryptConfig, decryptSchema } from './schema.js'

type FieldConfig = DecryptConfig['fields'][number]

/** Decrypts values of a message. */
export const decrypt = definePolicy({
  name: 'decrypt',
  summary: 'Decrypts headers, fields of a JSON body or the whole body.',
  schema: decryptSchema,
  cost: 'cpu',
  secretNames: ({ fields }) => namesOf(fields.map(({ from, to }) => to ?? from)),
  async compile(config, env) {
    const ring = new KeyRing(config.keys)
    const steps = config.fields.map(async (field) => {
      const locations = locationsOf(field, config.phase)
      const open = await compileOpener(field, ring, config.allowWeak)
      return compileField({ field, open, ...locations }, config.phase, env)
    })
    return fieldHooks('decrypt', config, await Promise.all(steps))
  },
})

/** Compiles the locations of a field. @throws Error if a location cannot contain the value. */
function locationsOf(field: FieldConfig, side: Side): FieldLocations {
  const locations = fieldLocations(field, side, 'from')
  if (field.as === 'json' && !locations.to.text.startsWith('json.'))
    throw new Error("'as: json' is only for to: json.…; remove it")
  return locations
}

interface Field extends FieldLocations {
  readonly field: FieldConfig
  readonly open: Opener
}

function compileField({ field, from, to, open }: Field, side: Side, env: CompileEnv): FieldStep {
  const failed = sideRefusal(env, side, 'GW_DECRYPT_FAILED', `a value in the ${side} could not be decrypted`)
  const put = (draft: Draft, plain: Decrypted): Outcome => {
    if (plain === null || !to.write(draft, plain, field.as === 'json')) return failed
    if (field.contentType !== undefined) setHeader(draft.headers, 'content-type', field.contentType)
    return null
  }
  const run = (draft: Draft): Eventual => {
    const written = from.read(draft)
    if (written === null) {
      if (!field.optional) return failed
      if (from.text !== to.text) to.remove(draft)
      return null
    }
    return whenSettled(open(written, draft.x), (plain) => put(draft, plain))
  }
  return { locations: [from, to], run }
}
