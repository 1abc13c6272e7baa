import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Exchange, type Outcome, type Policy, type Step, UnreadableBody } from '@sluice/core'
import { contentFilter } from '../content/content-filter/policy.js'
import { jsonSchema } from '../content/json-schema/policy.js'
import { openapi } from '../content/openapi/policy.js'
import { redact } from '../content/redact/policy.js'
import { catalog } from '../full-catalog.js'
import { exchange, testEnv } from '../testing.js'
import { script } from '../transform/script/policy.js'
import { transform } from '../transform/transform/policy.js'

const [xsd, xmlJson, xslt] = ['xsd', 'xml-json', 'xslt'].map((name) => catalog.get(name)!) as [
  Policy,
  Policy,
  Policy,
]

/**
 * Charsets in which ASCII bytes can mean other characters. A reader that trusts them reads another document than the
 * policy.
 */
const CHARSETS = [
  'utf-7',
  'shift_jis',
  'ibm037',
  'UTF-7',
  '"utf-7"',
  'utf-8; charset=utf-7',
  'iso-2022-jp',
  'unknown',
]

const JSON_BODY = '{"a":"x"}'
const XML_BODY = '<a>x</a>'
const STYLESHEET =
  '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><b/></xsl:template></xsl:stylesheet>'
const SCHEMA =
  '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="a" type="xs:string"/></xs:schema>'
const DESCRIPTION = {
  openapi: '3.0.3',
  info: { title: 't', version: '1' },
  paths: {
    '/': {
      post: {
        requestBody: {
          content: {
            'application/json': { schema: { type: 'object' } },
            'application/x-www-form-urlencoded': { schema: { type: 'object' } },
          },
        },
        responses: { 200: { description: 'd' } },
      },
    },
  },
}

const FORM = 'application/x-www-form-urlencoded'
const READERS: readonly (readonly [Policy, object, string, string])[] = [
  [jsonSchema, { schema: { inline: { type: 'object' } } }, 'application/json', JSON_BODY],
  [openapi, { description: { inline: DESCRIPTION } }, 'application/json', JSON_BODY],
  [openapi, { description: { inline: DESCRIPTION } }, FORM, 'a=x'],
  [
    redact,
    { secret: 's'.repeat(32), rules: [{ phase: 'request', keys: ['b'], action: 'delete' }] },
    'application/json',
    JSON_BODY,
  ],
  [
    redact,
    { secret: 's'.repeat(32), rules: [{ phase: 'request', keys: ['b'], action: 'delete' }] },
    FORM,
    'a=x',
  ],
  [
    redact,
    { secret: 's'.repeat(32), rules: [{ phase: 'request', types: ['card'], action: 'delete' }] },
    'text/plain',
    'x',
  ],
  [contentFilter, { packs: ['xss'] }, 'application/json', JSON_BODY],
  [contentFilter, { packs: ['xss'] }, 'text/plain', 'x'],
  [contentFilter, { packs: ['xss'] }, FORM, 'a=x'],
  [xmlJson, { direction: 'to-xml' }, 'application/json', JSON_BODY],
  [xmlJson, { direction: 'to-json' }, 'text/xml', XML_BODY],
  [transform, { request: { template: { inline: '{{$.a}}' } } }, 'application/json', JSON_BODY],
  [transform, { request: { jsonata: { inline: 'a' } } }, 'application/json', JSON_BODY],
  [
    script,
    { body: 'request', script: { inline: 'export function onRequest(ctx) { ctx.req.body.json() }' } },
    'application/json',
    JSON_BODY,
  ],
  [xslt, { stylesheet: { inline: STYLESHEET } }, 'text/xml', XML_BODY],
  [xsd, { schemas: [{ systemId: 'a.xsd', inline: SCHEMA }] }, 'text/xml', XML_BODY],
]

async function send(step: Step, type: string, body: string): Promise<Outcome> {
  const bytes = Buffer.from(body)
  const x: Exchange = exchange({ method: 'POST', path: '/', headers: ['content-type', type], body: bytes })
  try {
    return (await step.onRequest?.(x)) ?? (await step.onRequestBody?.(x, bytes)) ?? null
  } catch (error) {
    if (error instanceof UnreadableBody) return { status: 0, problem: { code: error.code } } as never
    throw error
  }
}

for (const [policy, config, type, body] of READERS) {
  test(`${policy.name} refuses ${type} in a charset that it does not read`, async () => {
    const step = (await policy.compile(config as never, testEnv())) as Step
    for (const plain of [type, `${type}; charset=utf-8`, `${type}; charset="UTF-8"`]) {
      assert.equal((await send(step, plain, body))?.problem?.code, undefined, plain)
    }
    for (const charset of CHARSETS) {
      const answer = await send(step, `${type}; charset=${charset}`, body)
      assert.equal(answer?.problem?.code, 'GW_MEDIA_TYPE', charset)
    }
  })
}
