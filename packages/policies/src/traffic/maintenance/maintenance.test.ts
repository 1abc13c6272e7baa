import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Static } from '@sinclair/typebox'
import { type Exchange, headerValue, type Outcome, type Reply, type Step } from '@sluice/core'
import { exchange, testEnv } from '../../testing.js'
import { maintenance } from './policy.js'
import type { maintenanceSchema } from './schema.js'

type MaintenanceConfig = Static<typeof maintenanceSchema>

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

function ask(config: MaintenanceConfig, x: Exchange): Outcome {
  return (maintenance.compile(config, testEnv()) as Step).onRequest!(x) as Outcome
}

function accepting(accept: string): Exchange {
  return exchange({ headers: ['accept', accept] })
}

function isPage(reply: Outcome): boolean {
  return headerValue(reply!.headers, 'content-type') === 'text/html; charset=utf-8'
}

test('requests get 503 with Retry-After and Cache-Control: no-store', () => {
  const reply = ask({ message: 'Back at noon.', retryAfter: '90s' }, exchange())!
  assert.equal(reply.status, 503)
  assert.deepEqual(reply.problem?.code, 'GW_MAINTENANCE')
  assert.equal(reply.problem?.detail, 'Back at noon.')
  assert.equal(headerValue(reply.headers, 'retry-after'), '90')
  assert.equal(headerValue(reply.headers, 'cache-control'), 'no-store')
  assert.equal(headerValue(ask({ retryAfter: '1ms' }, exchange())!.headers, 'retry-after'), '1')
})

test('browsers get a page, programs a problem', () => {
  for (const accept of [
    BROWSER,
    'text/html',
    'application/json;q=0.5, TEXT/HTML;q=0.9',
    'text/html, text/xml',
  ]) {
    assert.equal(isPage(ask({}, accepting(accept))), true, accept)
  }
  for (const accept of [
    '*/*',
    'application/json',
    'text/html;q=0',
    'text/html;q=0.5, application/json',
    'text/html;q=x',
    '',
  ]) {
    assert.equal(isPage(ask({}, accepting(accept))), false, accept)
  }
  assert.equal(isPage(ask({}, exchange())), false)
})

test('HTML in the message is text on the page', () => {
  const message = `<script>alert("1")</script> & 'more'`
  const page = ask({ message }, accepting(BROWSER)) as Reply
  const text = Buffer.from(page.body!).toString()
  assert.match(text, /<p>&lt;script&gt;alert\(&quot;1&quot;\)&lt;\/script&gt; &amp; &apos;more&apos;<\/p>/)
  assert.equal(headerValue(page.headers, 'content-security-policy'), "default-src 'none'")
})

test('a page of the operator is sent as it is', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'maintenance-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'page.html')
  writeFileSync(file, '<h1>Ours</h1>')
  const page = ask({ html: { file } }, accepting(BROWSER)) as Reply
  assert.equal(Buffer.from(page.body!).toString(), '<h1>Ours</h1>')
  assert.equal(headerValue(page.headers, 'content-security-policy'), null)
  assert.throws(() => ask({ html: { file: join(folder, 'none') } }, exchange()), /cannot be read/)
})

test('allowed addresses pass, and an invalid address does not', () => {
  const config = { allow: ['10.0.0.0/8'] }
  assert.equal(ask(config, exchange({ clientIp: '10.1.2.3' })), null)
  for (const clientIp of ['11.1.2.3', '', 'unknown', '10.0.0.1, 11.0.0.1']) {
    assert.equal(ask(config, exchange({ clientIp }))?.status, 503, clientIp)
  }
  assert.throws(() => ask({ allow: ['10.0.0.0/33'] }, exchange()), /under 'allow'/)
})
