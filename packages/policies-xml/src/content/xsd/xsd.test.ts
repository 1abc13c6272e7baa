import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { CheckFailure, type Exchange, type Outcome, Overload, Overtime, type Step } from '@sluice/core'
import { exchange, schemaMistakes, testEnv } from '@sluice/policies/testing'
import { type Libxml, loadLibxml } from '../../engines/xml/libxml.js'
import { openXmlBytes } from '../../engines/xml/memory.js'
import { xmlOf } from '../../engines/xml/xml-of.js'
import { xsd } from './policy.js'
import { line, order, orderOf, PURCHASE_SCHEMAS } from './testing/purchase.js'

type Config = Parameters<typeof xsd.compile>[0]

const XML = ['content-type', 'application/xml']

async function stepOf(t: TestContext, config: Partial<Config> = {}): Promise<Step> {
  const env = testEnv()
  t.after(() => env.close())
  const step = await xsd.compile({ schemas: PURCHASE_SCHEMAS, ...config }, env)
  assert.ok(step !== null)
  return step
}

/** Runs the request phase as the gateway does. */
async function request(
  step: Step,
  body: string,
  fields: Partial<Exchange> = {},
): Promise<[Outcome, Exchange]> {
  const bytes = Buffer.from(body)
  const x = exchange({ method: 'POST', headers: [...XML], body: bytes, ...fields })
  try {
    const outcome = (await step.onRequest?.(x)) ?? (await step.onRequestBody?.(x, bytes)) ?? null
    return [outcome, x]
  } finally {
    x.views?.close()
    assert.equal(openXmlBytes(), 0)
  }
}

async function response(
  step: Step,
  body: string,
  fields: Partial<Exchange> = {},
): Promise<[Outcome, Exchange]> {
  const bytes = Buffer.from(body)
  const x = exchange({ status: 200, responseHeaders: [...XML], responseBody: bytes, ...fields })
  const outcome = (await step.onResponse?.(x)) ?? (await step.onResponseBody?.(x, bytes)) ?? null
  x.views?.close()
  return [outcome, x]
}

const INVALID = order(line(1).replace('AB-', 'ab-'))

test('a valid request passes unchanged, an invalid one is refused with the location', async (t) => {
  const step = await stepOf(t)
  const [passed, x] = await request(step, orderOf(2))
  assert.equal(passed, null)
  assert.deepEqual(x.headers, XML)
  const [refused] = await request(step, INVALID)
  assert.equal(refused?.status, 400)
  assert.equal(refused?.problem?.code, 'GW_SCHEMA_INVALID')
  assert.match(refused?.problem?.detail ?? '', /^the body is not valid: line 2, \/.+: Element 'article'/)
  assert.equal(step.onResponseBody, undefined)
})

test('a small body is decided synchronously', async (t) => {
  const step = await stepOf(t)
  const body = Buffer.from(orderOf(1))
  const x = exchange({ headers: [...XML], body })
  assert.equal(step.onRequestBody?.(x, body), null)
  x.views?.close()
})

test('the document is shared with other policies', async (t) => {
  const step = await stepOf(t)
  const body = Buffer.from(orderOf(1))
  const x = exchange({ headers: [...XML], body })
  const view = xmlOf(x, body)
  const taken = openXmlBytes()
  step.onRequestBody?.(x, body)
  assert.equal(openXmlBytes(), taken)
  assert.equal(view.document.root.name, 'order')
  x.views?.close()
})

test('a large body is validated on a thread with the same verdict', async (t) => {
  const step = await stepOf(t)
  const large = orderOf(600)
  assert.ok(large.length > 32 * 1024)
  const body = Buffer.from(large)
  assert.ok(step.onRequestBody?.(exchange({ headers: [...XML], body }), body) instanceof Promise)
  assert.equal((await request(step, large))[0], null)
  const [refused] = await request(step, large.replace('AB-1500', 'nothing'))
  assert.match(refused?.problem?.detail ?? '', /line 501, .*article/)
  const [malformed] = await request(step, large.slice(0, -1))
  assert.equal(malformed?.problem?.code, 'GW_BODY_UNPARSABLE')
})

test('with ambiguous patterns, small bodies also go to a thread', async (t) => {
  const schemas = PURCHASE_SCHEMAS.map((schema) => ({
    ...schema,
    inline: schema.inline.replace('[A-Z]{2}-', '[A-Z]{0,35}[A-Z0-9]{0,35}-'),
  }))
  const step = await stepOf(t, { schemas })
  const body = Buffer.from(orderOf(1))
  assert.ok(step.onRequestBody?.(exchange({ headers: [...XML], body }), body) instanceof Promise)
  assert.equal((await request(step, orderOf(1)))[0], null)
})

test('if no thread is free, the request is refused, or marked in report mode', async () => {
  const env = { ...testEnv(), offload: () => ({ run: () => Promise.reject(new Overload('full')) }) }
  const large = orderOf(600)
  const enforced = await xsd.compile({ schemas: PURCHASE_SCHEMAS }, env)
  const [refused] = await request(enforced!, large)
  assert.equal(refused?.status, 503)
  assert.ok(refused?.headers.includes('retry-after'))
  const reporting = await xsd.compile({ schemas: PURCHASE_SCHEMAS, mode: 'report' }, env)
  const [passed, x] = await request(reporting!, large)
  assert.equal(passed, null)
  assert.deepEqual(x.headers.slice(-2), ['x-gw-validation', 'skipped'])
  const failing = { ...testEnv(), offload: () => ({ run: () => Promise.reject(new Error('thread broke')) }) }
  const broken = await xsd.compile({ schemas: PURCHASE_SCHEMAS }, failing)
  await assert.rejects(request(broken!, large), /thread broke/)
})

test('a crashed library lets nothing pass, whatever onError says', async (t) => {
  const enforced = await stepOf(t)
  const reporting = await stepOf(t, { mode: 'report' })
  const library = (await loadLibxml()) as { raw: Libxml['raw'] }
  const { raw } = library
  t.after(() => {
    library.raw = raw
  })
  for (const fault of [new Error('unreachable'), new RangeError('Maximum call stack size exceeded')]) {
    const xmlSchemaValidateOneElement = (): never => {
      throw fault
    }
    library.raw = { ...raw, xmlSchemaValidateOneElement }
    await assert.rejects(request(enforced, orderOf(1)), (error) => {
      assert.ok(error instanceof CheckFailure)
      assert.equal(error.code, 'GW_POLICY_ERROR')
      assert.ok(error.message.includes(fault.message))
      return !error.detail.includes(fault.message)
    })
    await assert.rejects(request(reporting, orderOf(1)), fault)
  }
})

test('an endless validation is a policy error, or marked in report mode', async () => {
  const overtime = { ...testEnv(), offload: () => ({ run: () => Promise.reject(new Overtime('late')) }) }
  const slow = (pattern: string) =>
    PURCHASE_SCHEMAS.map((schema) => ({ ...schema, inline: schema.inline.replace('[A-Z]{2}-', pattern) }))
  const givesUp = order(line(1).replace('AB-', 'A'.repeat(60)))
  for (const [env, schemas, body] of [
    [overtime, PURCHASE_SCHEMAS, orderOf(600)],
    [testEnv(), slow('([A-Z]+[A-Z]+)+-'), givesUp],
  ] as const) {
    const enforced = await xsd.compile({ schemas }, env)
    await assert.rejects(request(enforced!, body), (error) => {
      assert.ok(error instanceof CheckFailure)
      assert.match(error.message, /the schema takes too long/)
      return error.detail === 'the body could not be validated in time'
    })
    const reporting = await xsd.compile({ schemas, mode: 'report' }, env)
    const [passed, x] = await request(reporting!, body)
    assert.equal(passed, null)
    assert.deepEqual(x.headers.slice(-2), ['x-gw-validation', 'skipped'])
    env.close()
  }
})

test('unreadable bodies are refused with their own code', async (t) => {
  const step = await stepOf(t, { maxDepth: 3, maxBodyBytes: '16kb' })
  const cases: readonly (readonly [body: string, headers: string[], code: string])[] = [
    ['', XML, 'GW_BODY_UNPARSABLE'],
    ['{}', XML, 'GW_BODY_UNPARSABLE'],
    ['<!DOCTYPE a><a/>', XML, 'GW_BODY_UNPARSABLE'],
    ['<a><b><c><d/></c></b></a>', XML, 'GW_BODY_UNPARSABLE'],
    [orderOf(300), XML, 'GW_BODY_TOO_LARGE'],
    [orderOf(1), ['content-type', 'application/json'], 'GW_MEDIA_TYPE'],
    [orderOf(1), [], 'GW_MEDIA_TYPE'],
    [orderOf(1), [...XML, ...XML], 'GW_MEDIA_TYPE'],
    [orderOf(1), ['content-type', 'text/xml; charset=utf-7'], 'GW_MEDIA_TYPE'],
    [orderOf(1), ['content-type', 'text/xml; a="; charset=utf-8"; charset=utf-7'], 'GW_MEDIA_TYPE'],
    [orderOf(1), ['content-type', 'text/xml; charset=utf-8; charset=utf-7'], 'GW_MEDIA_TYPE'],
    [orderOf(1), ['content-type', "text/xml; charset*=utf-8''utf-7"], 'GW_MEDIA_TYPE'],
    [orderOf(1), [...XML, 'content-encoding', 'gzip'], 'GW_MEDIA_TYPE'],
  ]
  for (const [body, headers, code] of cases) {
    const [refused] = await request(step, body, { headers: [...headers] })
    assert.equal(refused?.problem?.code, code, `${headers}: ${body.slice(0, 30)}`)
  }
})

test('media types are compared without case and parameters, suffixes as a whole', async (t) => {
  const step = await stepOf(t)
  for (const type of [
    'Text/XML; charset="UTF-8"',
    'application/soap+xml;action="a"',
    'application/vnd.x+xml',
  ]) {
    assert.equal((await request(step, orderOf(1), { headers: ['content-type', type] }))[0], null, type)
  }
  const narrow = await stepOf(t, { contentTypes: ['application/vnd.order+xml'] })
  assert.equal((await request(narrow, orderOf(1)))[0]?.status, 415)
})

test('the body limit is lowered before reading, never raised', async (t) => {
  const step = await stepOf(t, { maxBodyBytes: '16kb' })
  assert.equal((await request(step, orderOf(1)))[1].bodyLimit, 16 * 1024)
  assert.equal((await request(step, orderOf(1), { bodyLimit: 4096 }))[1].bodyLimit, 4096)
})

test('report mode forwards everything, marked and recorded', async (t) => {
  const step = await stepOf(t, { mode: 'report', phase: 'both' })
  const claim = ['x-gw-validation', 'passed']
  const [passed, x] = await request(step, INVALID, { headers: [...XML, ...claim] })
  assert.equal(passed, null)
  assert.deepEqual(x.headers, [...XML, 'x-gw-validation', 'failed'])
  assert.match(x.vars?.get('validation') ?? '', /Element 'article'/)
  for (const body of ['', '{}', '<!DOCTYPE a><a/>']) {
    const [none, other] = await request(step, body)
    assert.equal(none, null)
    assert.deepEqual(other.headers.slice(-2), ['x-gw-validation', 'failed'])
  }
  const [, valid] = await request(step, orderOf(1), { headers: [...XML, ...claim] })
  assert.deepEqual(valid.headers, XML)
  const [replied, y] = await response(step, INVALID)
  assert.equal(replied, null)
  assert.deepEqual(y.responseHeaders, [...XML, 'x-gw-validation', 'failed'])
})

test('an invalid response is withheld from the client without the reason', async (t) => {
  const step = await stepOf(t, { phase: 'response' })
  assert.equal(step.onRequestBody, undefined)
  assert.equal((await response(step, orderOf(1)))[0], null)
  for (const body of [INVALID, '<a>', '']) {
    const [refused, x] = await response(step, body)
    assert.equal(refused?.status, 502)
    assert.equal(refused?.problem?.code, 'GW_RESPONSE_INVALID')
    assert.doesNotMatch(refused?.problem?.detail ?? '', /article|line|well-formed/)
    assert.ok((x.vars?.get('validation') ?? '').length > 10)
  }
  const [json] = await response(step, '{}', { responseHeaders: ['content-type', 'application/json'] })
  assert.equal(json?.problem?.code, 'GW_RESPONSE_INVALID')
})

test('responses without content are not checked', async (t) => {
  const step = await stepOf(t, { phase: 'both' })
  for (const status of [204, 304, 404, 500]) {
    assert.equal((await response(step, '', { status }))[0], null, String(status))
  }
  assert.equal((await response(step, '', { method: 'HEAD' }))[0], null)
})

test('schemas may be in files, identified by file name', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'xsd-'))
  t.after(() => rm(folder, { recursive: true }))
  const schemas = PURCHASE_SCHEMAS.map(({ systemId, inline }) => {
    const file = join(folder, systemId.replace(/^.*\//, ''))
    writeFileSync(file, inline.replace('ISO-8859-9', 'UTF-8').replace('../common.xsd', 'common.xsd'))
    return { file }
  })
  const step = await stepOf(t, { schemas, root: 'order.xsd' })
  assert.equal((await request(step, orderOf(1)))[0], null)
  await assert.rejects(
    stepOf(t, { schemas: [{ file: join(folder, 'gone.xsd') }] }),
    /gone\.xsd' cannot be read/,
  )
})

test('invalid configurations are refused with a remedy', async (t) => {
  const [first] = PURCHASE_SCHEMAS
  const inline = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"/>'
  const cases: readonly (readonly [config: Partial<Config>, words: RegExp])[] = [
    [{ schemas: [{}] }, /schema 1 needs either 'file' or 'inline'/],
    [{ schemas: [{ inline, file: 'a.xsd' }] }, /schema 1 needs either/],
    [{ schemas: [{ inline }, { inline }] }, /schema 1 needs a 'systemId'/],
    [{ schemas: [first!, first!] }, /duplicate systemId/],
    [{ root: 'gone.xsd' }, /the root 'gone.xsd' is not the systemId of a schema: use one of purchase/],
    [{ root: 'common.xsd' }, /'purchase\/order.xsd' is not used/],
    [{ maxBodyBytes: '11mb' }, /'maxBodyBytes' 11mb exceeds 10mb/],
    [{ select: '//x:a' }, /prefix 'x'; declare it under 'namespaces'/],
    [{ select: 'count(/a)' }, /use one that selects elements/],
  ]
  for (const [config, words] of cases) await assert.rejects(stepOf(t, config), words)
  await stepOf(t, { select: '//x:a', namespaces: { x: 'urn:x' } })
})

test('the schema accepts documented options and refuses others', () => {
  const least = { schemas: [{ inline: '<a/>' }] }
  assert.deepEqual(schemaMistakes(xsd, least), [])
  for (const wrong of [
    {},
    { schemas: [] },
    { ...least, mode: 'log' },
    { ...least, phase: 'all' },
    { ...least, maxErrors: 0 },
    { ...least, maxDepth: 251 },
    { ...least, maxBodyBytes: 1000 },
    { ...least, other: 1 },
    { schemas: [{ inline: '<a/>', url: 'http://x' }] },
  ]) {
    assert.notDeepEqual(schemaMistakes(xsd, wrong), [], JSON.stringify(wrong))
  }
})

test('a large schema set is checked on a thread, a small one in place', async (t) => {
  const env = testEnv()
  t.after(() => env.close())
  const ran: string[] = []
  const offload: typeof env.offload = (module, config, maxMs) => {
    const { run } = env.offload<never, never>(module, config, maxMs)
    return {
      run(input, x) {
        ran.push(module.pathname.split('/').at(-1)!)
        return run(input as never, x)
      },
    }
  }
  const compiled = (padding: number) =>
    xsd.compile(
      {
        schemas: [
          {
            inline: `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><!--${' '.repeat(padding)}-->
              <xs:element name="a"><xs:simpleType><xs:restriction base="xs:string">
                <xs:pattern value="\\p{L}"/>
              </xs:restriction></xs:simpleType></xs:element></xs:schema>`,
          },
        ],
      },
      { ...env, offload },
    ) as Promise<Step>
  await compiled(10)
  assert.deepEqual(ran, [])
  const step = await compiled(40_000)
  assert.deepEqual(ran, ['check-work.js'])
  assert.equal((await request(step, '<a>x</a>'))[0], null)
  assert.equal((await request(step, '<a>-</a>'))[0]?.status, 400)
})
