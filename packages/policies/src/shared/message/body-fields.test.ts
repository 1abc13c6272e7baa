import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contentFilter } from '../../content/content-filter/policy.js'
import { redact } from '../../content/redact/policy.js'
import { exchange, testEnv } from '../../testing.js'
import { script } from '../../transform/script/policy.js'

const ABOUT_BYTES = ['etag', '"1"', 'content-md5', 'x', 'content-digest', 'sha-256=:x:', 'digest', 'x']

test('headers about the bytes of a body are removed with them', async (t) => {
  const env = testEnv()
  t.after(() => env.close())
  const inline = `export function onResponse(ctx) {
    ctx.res.headers.set('etag', '"2"')
    ctx.res.body.set(ctx.res.body.text().replace('1234', '****'))
  }`
  const steps = [
    redact.compile({ rules: [{ keys: ['pin'], phase: 'response' }] }, env),
    contentFilter.compile(
      { rules: [{ name: 'pin', pattern: '1234', targets: ['body'], action: 'mask', phase: 'response' }] },
      env,
    ),
    script.compile({ script: { inline }, body: 'response' }, env),
  ]
  const left: string[][] = []
  for (const made of steps) {
    const x = exchange({ status: 200, responseHeaders: ['content-type', 'application/json', ...ABOUT_BYTES] })
    assert.equal(await (await made)?.onResponseBody?.(x, Buffer.from('{"pin":"1234"}')), null)
    assert.doesNotMatch(Buffer.from(x.responseBody!).toString(), /1234/)
    left.push(x.responseHeaders)
  }
  const type = ['content-type', 'application/json']
  assert.deepEqual(left, [type, type, [...type, 'etag', '"2"']])
})
