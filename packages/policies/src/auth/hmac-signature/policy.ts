import { definePolicy, type Exchange, type Outcome, type Step, setHeader } from '@sluice/core'
import { secretBytes } from '../../crypto/keys/secret-key.js'
import { wallClockNow } from '../../crypto/replay/time-window.js'
import { sentRequest } from '../../shared/message/request-facts.js'
import { whenSettled } from '../../shared/outcome/when-settled.js'
import { Gate } from './gate.js'
import { Mac } from './mac.js'
import { completed } from './payload.js'
import { type HmacSignatureConfig, hmacSignatureSchema } from './schema.js'
import { compileScheme, type Scheme } from './scheme.js'
import { writeTime } from './signature-time.js'

/** Verifies or creates HMAC signatures, as webhooks use them. */
export const hmacSignature = definePolicy({
  name: 'hmac-signature',
  summary:
    'Verifies the HMAC signatures of webhooks (GitHub, Stripe, Slack, Shopify, custom), or signs requests to the upstream.',
  schema: hmacSignatureSchema,
  cost: 'cpu',
  decides: ({ mode }) => (mode === 'sign' ? null : 'access'),
  compile(config, env) {
    const scheme = compileScheme(config)
    const mac = new Mac(scheme.algorithm, secretsOf(config, scheme.algorithm))
    if (config.mode === 'sign') return signing(config, scheme, mac)
    const gate = new Gate(config, scheme, mac, env)
    return {
      name: 'hmac-signature',
      onRequest: (x) => gate.admit(x),
      ...(scheme.payload.needsBody && {
        decidesOnBody: true,
        onRequestBody: (x: Exchange, body: Uint8Array) => gate.complete(x, body),
      }),
    }
  },
})

function secretsOf({ mode, secrets, secretEncoding }: HmacSignatureConfig, hash: string): Buffer[] {
  const use = { purpose: mode, algorithms: [hash.replace('sha', 'HS')] } as const
  return secrets.map((secret, i) => secretBytes(secret, secretEncoding, use, `secret ${i + 1}`))
}

/** Signs each attempt with its own time. */
function signing(config: HmacSignatureConfig, scheme: Scheme, mac: Mac): Step {
  if (config.replay !== undefined) throw new Error("'replay' is only for mode: verify; remove it")
  return {
    name: 'hmac-signature',
    ...(scheme.payload.needsBody && { onRequestBody: collect }),
    onAttempt(x) {
      const timestamp = writeTime(wallClockNow(x), scheme.timestamp?.format ?? 'unix')
      const pieces = completed(scheme.payload.draft(sentRequest(x), timestamp), x.body ?? EMPTY)
      const signature = whenSettled(pieces, (all) => mac.sign(all))
      return whenSettled(signature, (bytes) => put(x, scheme, bytes, timestamp))
    },
  }
}

const EMPTY = new Uint8Array(0)

function put(x: Exchange, scheme: Scheme, signature: Buffer, timestamp: string): null {
  if (scheme.timestamp !== null) setHeader(x.headers, scheme.timestamp.header, timestamp)
  setHeader(x.headers, scheme.header, scheme.field.write(signature, timestamp))
  return null
}

/** Does nothing: a step with this hook makes the gateway buffer the request body. */
function collect(): Outcome {
  return null
}
