import assert from 'node:assert/strict'
import type { KeyObject } from 'node:crypto'
import type { Static } from '@sinclair/typebox'
import type { Exchange, Outcome, Step } from '@sluice/core'
import { type ExchangeFields, keyPair } from '@sluice/core/testing'
import { linesOf, receivedRequest } from '../../../shared/message/request-facts.js'
import { exchange, testEnv } from '../../../testing.js'
import { contentDigest, type DigestAlgorithm } from '../content-digest.js'
import { httpSignature } from '../policy.js'
import type { httpSignatureSchema, RequestVerificationConfig, SigningConfig } from '../schema.js'
import { MessageSigner } from '../signer.js'

export type Config = Static<typeof httpSignatureSchema>

export function pem(key: KeyObject): string {
  return String(key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }))
}

export const pair = keyPair('ed25519')
export const rsa = keyPair('rsa', { modulusLength: 2048 })
export const signingKey = { id: 'k1', algorithm: 'ed25519' as const, key: pem(pair.privateKey) }
export const keys = [
  {
    id: 'k1',
    algorithm: 'ed25519' as const,
    key: pem(pair.publicKey),
    consumer: 'acme',
    groups: ['partners'],
  },
]
export function digestField(body: Uint8Array, algorithm: DigestAlgorithm): string {
  const field = contentDigest(body, algorithm)
  assert.ok(typeof field === 'string')
  return field
}

export const BODY = Buffer.from('{"a":1}')
export const TARGET = ['@method', '@authority', '@path', '@query']

export function request(fields: ExchangeFields = {}): Exchange {
  return exchange({
    method: 'POST',
    authority: 'API.example.com:443',
    scheme: 'https',
    rawPath: '/caf%C3%A9/%7Euser',
    path: '/café/~user',
    query: 'q=a%20b&q=+',
    contentLength: BODY.length,
    headers: ['content-type', 'application/json', 'content-digest', digestField(BODY, 'sha-256')],
    ...fields,
  })
}

/** Signs a request like a client. */
export function signed(x: Exchange, config: Partial<SigningConfig> = {}, atMs = x.startedAt): Exchange {
  const components = [
    ...TARGET,
    ...(linesOf(x.headers, 'content-digest').length > 0 ? ['content-digest'] : []),
  ]
  const signature = new MessageSigner('request', { key: signingKey, components, ...config }).sign({
    message: { request: receivedRequest(x), response: null },
    headers: x.headers,
    body: null,
    nowMs: atMs,
  })
  assert.equal(signature, null)
  return x
}

export async function compile(config: Config, table?: Map<string, unknown>): Promise<Step> {
  const step = await httpSignature.compile(config, testEnv(table))
  assert.ok(step !== null)
  return step
}

export async function run(
  config: Partial<RequestVerificationConfig>,
  x: Exchange,
  body: Uint8Array = BODY,
): Promise<Outcome> {
  const step = await compile({ verify: { keys, ...config } })
  return (await step.onRequest!(x)) ?? (await step.onRequestBody?.(x, body)) ?? null
}

export async function code(
  config: Partial<RequestVerificationConfig>,
  x: Exchange,
  body?: Uint8Array,
): Promise<string> {
  return (await run(config, x, body))?.problem?.code ?? ''
}

export async function detail(
  config: Partial<RequestVerificationConfig>,
  x: Exchange,
  body?: Uint8Array,
): Promise<string> {
  return (await run(config, x, body))?.problem?.detail ?? ''
}

export function header(x: Exchange, name: string): string {
  return x.headers[x.headers.indexOf(name) + 1]!
}

export function replaceHeader(x: Exchange, name: string, change: (value: string) => string): Exchange {
  x.headers[x.headers.indexOf(name) + 1] = change(header(x, name))
  return x
}
