import assert from 'node:assert/strict'
import type { Exchange, Outcome, Step } from '@sluice/core'
import { exchange, schemaMistakes, type TestEnv } from '@sluice/policies/testing'
import { xslt } from '../policy.js'
import type { XsltConfig } from '../schema.js'

/** Returns a stylesheet with these templates. */
export function stylesheet(templates: string, version = '1.0', attributes = ''): string {
  return `<xsl:stylesheet version="${version}" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" ${attributes}>${templates}</xsl:stylesheet>`
}

/** Returns a template for the root with this content. */
export function template(content: string): string {
  return `<xsl:output omit-xml-declaration="yes"/><xsl:template match="/">${content}</xsl:template>`
}

/** Validates and compiles a configuration. */
export async function compiled(config: XsltConfig, env: TestEnv): Promise<Step> {
  // The schema also fills in the defaults.
  assert.deepEqual(schemaMistakes(xslt, structuredClone(config)), [])
  // The first run of Saxon takes seconds on a busy machine, so the timeout is long.
  const step = await xslt.compile({ timeout: '10s', ...config }, env)
  assert.ok(step !== null)
  return step
}

/** Returns the new request body as text, or the refusal. */
export async function requestAfter(
  step: Step,
  body: string | Uint8Array,
  fields: Partial<Exchange> = {},
): Promise<string | Outcome> {
  const bytes = Buffer.from(body)
  const x = exchange({ body: bytes, headers: ['content-type', 'text/xml'], ...fields })
  const outcome = await step.onRequestBody!(x, bytes)
  return outcome ?? Buffer.from(x.body!).toString('utf8')
}

/** Returns the new response body as text, or the refusal. */
export async function responseAfter(
  step: Step,
  body: string,
  fields: Partial<Exchange> = {},
): Promise<string | Outcome> {
  const bytes = Buffer.from(body)
  const x = exchange({
    status: 200,
    responseBody: bytes,
    responseHeaders: ['content-type', 'text/xml'],
    ...fields,
  })
  const outcome = await step.onResponseBody!(x, bytes)
  return outcome ?? Buffer.from(x.responseBody!).toString('utf8')
}

/** Asserts a refusal with this code. */
export function assertRefused(outcome: string | Outcome, code: string, detail: RegExp): void {
  assert.ok(outcome !== null && typeof outcome !== 'string', String(outcome))
  assert.equal(outcome.problem?.code, code, outcome.problem?.detail)
  assert.match(outcome.problem?.detail ?? '', detail)
}
