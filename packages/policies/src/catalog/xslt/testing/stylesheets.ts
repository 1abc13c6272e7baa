import assert from 'node:assert/strict'
import type { Exchange, Outcome, Step } from '@sluice/core'
import { exchange, schemaMistakes, type TestEnv } from '../../../testing.js'
import { xslt } from '../policy.js'
import type { XsltConfig } from '../schema.js'

/** A stylesheet of these templates. */
export function stylesheet(templates: string, version = '1.0', attributes = ''): string {
  return `<xsl:stylesheet version="${version}" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" ${attributes}>${templates}</xsl:stylesheet>`
}

/** A template for the document with this content. */
export function template(content: string): string {
  return `<xsl:output omit-xml-declaration="yes"/><xsl:template match="/">${content}</xsl:template>`
}

/** Compiles, after the schema has had its say. */
export async function compiled(config: XsltConfig, env: TestEnv): Promise<Step> {
  // The schema fills its defaults in, the timeout too.
  assert.deepEqual(schemaMistakes(xslt, structuredClone(config)), [])
  // Saxon's first run takes seconds where the machine is busy; what is tested is its result.
  const step = await xslt.compile({ timeout: '10s', ...config }, env)
  assert.ok(step !== null)
  return step
}

/** What became of a request body: the new one as text, or the refusal. */
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

/** The same for a response body. */
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

/** Asserts that it was refused, with this code. */
export function assertRefused(outcome: string | Outcome, code: string, detail: RegExp): void {
  assert.ok(outcome !== null && typeof outcome !== 'string', String(outcome))
  assert.equal(outcome.problem?.code, code, outcome.problem?.detail)
  assert.match(outcome.problem?.detail ?? '', detail)
}
