import type { Exchange, Outcome, Step } from '@sluice/core'
import { setFields } from '@sluice/core/testing'
import { exchange, testEnv } from '../../../testing.js'
import { openapi } from '../policy.js'
import type { OpenapiConfig } from '../schema.js'

/** Responses of an operation whose responses are not tested. */
export const OK = { responses: { 200: { description: 'd' } } }

/** Returns the `content` of a JSON body. */
export const json = (schema: object) => ({ 'application/json': { schema } })

/** Compiles a step for a description. */
export function compile(description: object, more: Partial<OpenapiConfig> = {}): Promise<Step> {
  return openapi.compile({ description: { inline: description }, ...more }, testEnv()) as Promise<Step>
}

/** Header fields of a response. */
export type Answer = Partial<Omit<Exchange, 'body'>> & { readonly body?: string }

interface Sent {
  readonly method?: string
  readonly headers?: readonly string[]
  readonly body?: string
}

/** Sends a request through a step. A body is JSON unless the fields say otherwise. */
export async function send(
  step: Step,
  target: string,
  { method = 'GET', headers = [], body = '' }: Sent = {},
) {
  const [path = '', query = ''] = target.split('?')
  const type = body === '' ? [] : ['content-type', 'application/json']
  const bytes = Buffer.from(body)
  const x = exchange({
    method,
    path,
    query,
    headers: [...(headers.includes('content-type') ? [] : type), ...headers],
    body: bytes,
  })
  let outcome: Outcome = (await step.onRequest?.(x)) ?? null
  outcome ??= (await step.onRequestBody?.(x, bytes)) ?? null
  return { x, outcome, status: outcome?.status ?? 200, detail: outcome?.problem?.detail ?? '' }
}

/** Sends the response of an exchange through a step. */
export async function answer(step: Step, x: Exchange, fields: Answer): Promise<Outcome> {
  const { body = '', status = 200, upstreamStatus = status, ...rest } = fields
  setFields(x, { status, responseHeaders: [], attempts: { status: upstreamStatus }, ...rest })
  const bytes = Buffer.from(body)
  return (await step.onResponse?.(x)) ?? (await step.onResponseBody?.(x, bytes)) ?? null
}
