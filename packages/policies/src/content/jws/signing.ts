import { type Exchange, setHeader } from '@sluice/core'
import type { BodyWork } from '../../crypto/jose/body-step.js'
import { loadKey } from '../../crypto/jose/load-key.js'
import { hasInsecureExponent, weaknessOf } from '../../crypto/keys/key-strength.js'
import { type Signer, signer } from '../../crypto/keys/signature.js'
import { headersOf, replaceBody, type Side } from '../../shared/message/side.js'
import type { JwsConfig } from './schema.js'
import { signingInput } from './signed-message.js'
import { fieldNamed } from './verification.js'

type Attach = (x: Exchange, signed: Signed) => void

interface Signed {
  readonly head: string
  readonly input: Uint8Array
  readonly signature: Buffer
}

/** Signs every message that has a body. @throws Error if the key is invalid. */
export function signing(
  config: JwsConfig & { readonly sign: NonNullable<JwsConfig['sign']> },
  side: Side,
): BodyWork {
  const { form, unencoded } = config
  const isUnencoded = form === 'detached' && unencoded
  const { sign, head } = compileSigner(config, isUnencoded)
  const attach = attachment(side, config)
  return (x, body) => {
    if (body.length === 0 && form !== 'detached') return null
    const input = signingInput(head, body, isUnencoded)
    const signature = sign(input)
    if (signature instanceof Promise) {
      return signature.then((late) => {
        attach(x, { head, input, signature: late })
        return null
      })
    }
    attach(x, { head, input, signature })
    return null
  }
}

/** Compiles the signer and the protected header, which is the same for every message. */
function compileSigner(
  { sign, allowWeak }: JwsConfig & { readonly sign: NonNullable<JwsConfig['sign']> },
  isUnencoded: boolean,
): { readonly sign: Signer; readonly head: string } {
  const { algorithm: alg, typ, cty } = sign
  try {
    const material = loadKey(sign.key, 'sign')
    const { key, kid } = material
    if (material.alg !== null && material.alg !== alg)
      throw new Error(`is a JWK for ${material.alg}, not for ${alg}`)
    const made = signer(alg, key)
    const weakness = allowWeak ? null : weaknessOf(key, alg)
    if (weakness !== null) throw new Error(`${weakness}, or set allowWeak`)
    if (hasInsecureExponent(key)) throw new Error('is an RSA key with an insecure exponent')
    const header = {
      alg,
      ...(kid !== null && { kid }),
      ...(typ !== undefined && { typ }),
      ...(cty !== undefined && { cty }),
      ...(isUnencoded && { b64: false, crit: ['b64'] }),
    }
    return { sign: made, head: Buffer.from(JSON.stringify(header)).toString('base64url') }
  } catch (cause) {
    throw new Error(`the key under 'sign' ${(cause as Error).message}`, { cause })
  }
}

function attachment(side: Side, { form, header }: JwsConfig): Attach {
  if (form === 'detached') {
    const name = fieldNamed(header)
    return (x, { head, signature }) =>
      setHeader(headersOf(x, side), name, `${head}..${signature.toString('base64url')}`)
  }
  if (form === 'compact') {
    return (x, { input, signature }) => {
      const body = Buffer.concat([input, Buffer.from(`.${signature.toString('base64url')}`, 'latin1')])
      replaceBody(x, side, body, 'application/jose')
    }
  }
  return (x, { head, input, signature }) => {
    const payload = Buffer.from(
      input.buffer,
      input.byteOffset + head.length + 1,
      input.length - head.length - 1,
    )
    const members = {
      payload: payload.toString('latin1'),
      protected: head,
      signature: signature.toString('base64url'),
    }
    replaceBody(x, side, Buffer.from(JSON.stringify(members)), 'application/jose+json')
  }
}
