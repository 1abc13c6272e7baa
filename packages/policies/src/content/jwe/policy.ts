import { type CompileEnv, definePolicy, type Outcome, parseSize } from '@sluice/core'
import { type BodyWork, bodyStep, messageRefusal } from '../../crypto/jose/body-step.js'
import { replaceBody, type Side } from '../../shared/message/side.js'
import { onOverload, overloadRefusal } from '../../shared/outcome/overload.js'
import { decryptionPlan, encryptionPlan } from './plain-key.js'
import { type JweConfig, jweSchema } from './schema.js'
import { compileTranscoder } from './transcoder.js'

const overloaded = onOverload(
  overloadRefusal('too many messages are being encrypted or decrypted; try again'),
)

/** Encrypts bodies, or decrypts encrypted bodies. */
export const jwe = definePolicy({
  name: 'jwe',
  summary: 'Encrypts request or response bodies as JWE (RFC 7516), or decrypts them.',
  schema: jweSchema,
  cost: 'cpu',
  compile(config, env) {
    const { phase: side, encrypt, decrypt, maxBodyBytes } = config
    const maxBytes = maxBodyBytes === undefined ? null : parseSize(maxBodyBytes)
    if ((decrypt === undefined) === (encrypt === undefined))
      throw new Error("write either 'decrypt' or 'encrypt'")
    const work = decrypt === undefined ? encryption(encrypt!, side, env) : decryption(decrypt, side, env)
    return bodyStep('jwe', side, work, { env, maxBytes })
  },
})

function decryption(config: NonNullable<JweConfig['decrypt']>, side: Side, env: CompileEnv): BodyWork {
  const transcode = compileTranscoder(decryptionPlan(config), env)
  const failed = messageRefusal(side, env, 'GW_DECRYPT_FAILED', 'the body could not be decrypted')
  return (x, body) =>
    transcode(body, x).then((plaintext): Outcome => {
      if (plaintext === null) return failed
      replaceBody(x, side, plaintext, config.contentType)
      return null
    }, overloaded)
}

function encryption(config: NonNullable<JweConfig['encrypt']>, side: Side, env: CompileEnv): BodyWork {
  const transcode = compileTranscoder(encryptionPlan(config), env)
  return (x, body) => {
    if (body.length === 0) return null
    return transcode(body, x).then((message): Outcome => {
      replaceBody(x, side, message!, 'application/jose')
      return null
    }, overloaded)
  }
}
