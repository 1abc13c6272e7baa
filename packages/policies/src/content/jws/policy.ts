import { definePolicy, parseSize } from '@sluice/core'
import { bodyStep } from '../../crypto/jose/body-step.js'
import { jwsSchema } from './schema.js'
import { signing } from './signing.js'
import { verification } from './verification.js'

/** Signs bodies, or verifies signed bodies. */
export const jws = definePolicy({
  name: 'jws',
  summary: 'Signs request or response bodies as JWS (RFC 7515), or verifies their signatures.',
  schema: jwsSchema,
  cost: 'cpu',
  compile(config, env) {
    const { phase: side, verify, sign, maxBodyBytes } = config
    const maxBytes = maxBodyBytes === undefined ? null : parseSize(maxBodyBytes)
    if ((verify === undefined) === (sign === undefined)) throw new Error("write either 'verify' or 'sign'")
    const work =
      verify === undefined
        ? signing({ ...config, sign: sign! }, side)
        : verification({ ...config, verify }, side, env)
    const step = bodyStep('jws', side, work, { env, maxBytes })
    return { ...step, decidesOnBody: verify !== undefined && side === 'request' }
  },
})
