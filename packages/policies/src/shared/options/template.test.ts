import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consumerOf } from '@sluice/core'
import { exchange } from '../../testing.js'
import { compileTemplate, TEMPLATE_VARIABLES } from './template.js'

function render(text: string, x = exchange()): string {
  const value = compileTemplate(text)
  return typeof value === 'string' ? value : value(x)
}

test('text without placeholders stays a string', () => {
  assert.equal(compileTemplate('plain } { text'), 'plain } { text')
  assert.equal(compileTemplate(''), '')
})

test('every documented variable renders from the exchange', () => {
  const x = exchange({
    id: 'r1',
    method: 'PUT',
    host: 'h.example',
    path: '/a',
    clientIp: '192.0.2.1',
    route: { id: 'orders', api: { name: 'orders-api', group: 'sales', revision: '7' } },
    consumer: consumerOf('basic-auth', 'c1', {
      name: 'Acme',
      groups: ['a', 'b'],
      roles: ['admin'],
      scopes: ['read', 'write'],
      claims: new Map([['plan', 'gold']]),
    }),
    headers: ['x-tenant', 't1', 'accept', 'a', 'accept', 'b'],
  })
  x.setVar('tier', 'gold')
  const all = TEMPLATE_VARIABLES.map((name) =>
    name
      .replace('header.NAME', 'header.X-Tenant')
      .replace('claims.NAME', 'claims.plan')
      .replace('vars.NAME', 'vars.tier'),
  )
  assert.equal(
    render(all.map((name) => `{{${name}}}`).join('|'), x),
    'r1|PUT|h.example|/a|192.0.2.1|c1|Acme|basic-auth|a b|admin|read write|orders|orders-api|sales|7|t1|gold|gold',
  )
  assert.equal(render('<{{ req.header.accept }}>', x), '<a, b>')
})

test('missing values render empty', () => {
  assert.equal(
    render('[{{consumer.id}}{{consumer.roles}}{{consumer.claims.x}}{{vars.none}}{{req.header.none}}]'),
    '[]',
  )
  assert.equal(render('{{req.header.host}}', exchange({ authority: 'a.example:81' })), 'a.example:81')
})

test('rendered text is not read as a template again', () => {
  assert.equal(render('{{req.header.x}}!', exchange({ headers: ['x', '{{req.id}}'] })), '{{req.id}}!')
})

test('an unknown variable, an open placeholder and a bad header name are refused', () => {
  assert.throws(() => compileTemplate('{{req.body}}'), /unknown variable '{{req.body}}'; use req.id/)
  assert.throws(() => compileTemplate('{{toString}}'), /unknown variable/)
  assert.throws(() => compileTemplate('{{}}'), /unknown variable/)
  assert.throws(() => compileTemplate('{{vars.}}'), /unknown variable/)
  assert.throws(() => compileTemplate('a {{req.id'), /without '}}'/)
  assert.throws(() => compileTemplate('{{req.header.a b}}'), /is not a header name/)
})
