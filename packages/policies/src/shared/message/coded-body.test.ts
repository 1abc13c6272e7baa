import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange, Outcome, Policy, Step } from '@sluice/core'
import { contentFilter } from '../../content/content-filter/policy.js'
import { jsonSchema } from '../../content/json-schema/policy.js'
import { redact } from '../../content/redact/policy.js'
import { catalog } from '../../full-catalog.js'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { transform } from '../../transform/transform/policy.js'
import type { Side } from './side.js'

const [xsd, xmlJson, xslt] = ['xsd', 'xml-json', 'xslt'].map((name) => catalog.get(name)!) as [
  Policy,
  Policy,
  Policy,
]

const STYLESHEET =
  '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><b/></xsl:template></xsl:stylesheet>'
const SCHEMA =
  '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="a" type="xs:string"/></xs:schema>'

/** All policies that read bodies as text, with a limit of one kilobyte. */
function policiesOn(phase: Side): [Policy, object][] {
  const maxBodyBytes = '1kb'
  return [
    [transform, { [phase]: { jsonata: { inline: '1' } }, maxBodyBytes }],
    [jsonSchema, { schema: { inline: {} }, phase, maxBodyBytes }],
    [xsd, { schemas: [{ inline: SCHEMA }], phase, maxBodyBytes }],
    [xslt, { stylesheet: { inline: STYLESHEET }, phase, maxBodyBytes }],
    [xmlJson, { direction: 'to-json', phase, maxBodyBytes }],
    [
      contentFilter,
      { rules: [{ name: 'r', pattern: 'x', targets: ['body'], phase }], maxScanBytes: maxBodyBytes },
    ],
    [redact, { rules: [{ keys: ['a'], action: 'delete', phase }], maxBodyBytes }],
  ]
}

async function compile([policy, config]: [Policy, object]): Promise<Step> {
  assert.deepEqual(schemaMistakes(policy, config), [], policy.name)
  const step = await policy.compile(config as never, testEnv())
  assert.ok(step !== null)
  return step
}

const CODED = ['content-type', 'application/xml', 'content-encoding', 'gzip']
const LARGE = Buffer.alloc(2000, 'x')

function coded(length: number): Exchange {
  return exchange({
    method: 'POST',
    status: 200,
    contentLength: length,
    responseLength: length,
    headers: [...CODED],
    responseHeaders: [...CODED],
  })
}

test('a body in a content coding is refused for that, before it is collected and whatever its size', async (t) => {
  for (const written of policiesOn('request')) {
    const step = await compile(written)
    await t.test(step.name, async () => {
      const code = async (outcome: unknown) => ((await outcome) as Outcome)?.problem?.code
      for (const length of [-1, 100, 2000]) {
        assert.equal(await code(step.onRequest!(coded(length))), 'GW_MEDIA_TYPE', `${length} bytes`)
      }
      assert.equal(await code(step.onRequestBody!(coded(2000), LARGE)), 'GW_MEDIA_TYPE')
      assert.equal(await code(step.onRequest!(coded(0))), undefined, 'there is no body')
    })
  }
})

test('a response body in a content coding is refused too', async (t) => {
  for (const written of policiesOn('response')) {
    const step = await compile(written)
    await t.test(step.name, async () => {
      const code = async (outcome: unknown) => ((await outcome) as Outcome)?.problem?.code
      assert.equal(await code(step.onResponse!(coded(-1))), 'GW_RESPONSE_INVALID')
      assert.equal(await code(step.onResponse!(coded(0))), undefined)
      for (const bodiless of [{ method: 'HEAD' }, { status: 304 }]) {
        assert.equal(await code(step.onResponse!(Object.assign(coded(100), bodiless))), undefined)
      }
    })
  }
})
