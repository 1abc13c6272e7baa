import { isFieldValue } from '@sluice/core'
import { fieldName } from '../../shared/message/field-name.js'
import { compilePayload, type Payload } from './payload.js'
import type { HmacSignatureConfig } from './schema.js'
import { plainField, type SignatureField, stripeField } from './signature-field.js'
import type { TimeFormat } from './signature-time.js'

/** A signature scheme: payload, algorithm, and location of the signature. */
export interface Scheme {
  readonly header: string
  readonly field: SignatureField
  readonly algorithm: string
  readonly payload: Payload
  /** Header with the time, or null if the signature field contains it or no time is signed. */
  readonly timestamp: { readonly header: string; readonly format: TimeFormat } | null
}

/** Schemes as documented by the senders of webhooks. */
const PRESETS: Readonly<Record<Exclude<HmacSignatureConfig['preset'], 'custom'>, Scheme>> = {
  github: {
    header: 'x-hub-signature-256',
    field: plainField('sha256=', 'hex'),
    algorithm: 'sha256',
    payload: compilePayload('{{body}}'),
    timestamp: null,
  },
  stripe: {
    header: 'stripe-signature',
    field: stripeField,
    algorithm: 'sha256',
    payload: compilePayload('{{timestamp}}.{{body}}'),
    timestamp: null,
  },
  slack: {
    header: 'x-slack-signature',
    field: plainField('v0=', 'hex'),
    algorithm: 'sha256',
    payload: compilePayload('v0:{{timestamp}}:{{body}}'),
    timestamp: { header: 'x-slack-request-timestamp', format: 'unix' },
  },
  shopify: {
    header: 'x-shopify-hmac-sha256',
    field: plainField('', 'base64'),
    algorithm: 'sha256',
    payload: compilePayload('{{body}}'),
    timestamp: null,
  },
}

const CUSTOM_ONLY = ['header', 'prefix', 'encoding', 'algorithm', 'payload', 'timestamp'] as const

/** Compiles the scheme. @throws Error if options contradict the preset or each other. */
export function compileScheme(config: HmacSignatureConfig): Scheme {
  if (config.preset === 'custom') return customScheme(config)
  const extra = CUSTOM_ONLY.find((option) => config[option] !== undefined)
  if (extra !== undefined)
    throw new Error(`'${extra}' is fixed by the preset '${config.preset}'; remove it, or use preset: custom`)
  return PRESETS[config.preset]
}

function customScheme(config: HmacSignatureConfig): Scheme {
  const { header, prefix = '', algorithm = 'sha256', timestamp } = config
  if (header === undefined) throw new Error("'header' is missing; name the header with the signature")
  if (!isFieldValue(prefix)) throw new Error("'prefix' contains a character that is not allowed in a header")
  if (algorithm === 'sha1' && config.allowWeak !== true)
    throw new Error(
      "algorithm 'sha1' is weak; use sha256, or set allowWeak: true if the sender supports nothing else",
    )
  const payload = compilePayload(config.payload ?? '{{body}}')
  if (payload.hasTimestamp !== (timestamp !== undefined))
    throw new Error(
      payload.hasTimestamp
        ? "'payload' contains {{timestamp}}; name its header under 'timestamp'"
        : "'timestamp' is not signed and could be changed; add {{timestamp}} to 'payload'",
    )
  return {
    header: fieldName('request', header),
    field: plainField(prefix, config.encoding ?? 'hex'),
    algorithm,
    payload,
    timestamp:
      timestamp === undefined
        ? null
        : { header: fieldName('request', timestamp.header), format: timestamp.format },
  }
}
