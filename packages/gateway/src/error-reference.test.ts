import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { ERRORS } from '@sluice/core'
import { ADMIN_ERRORS } from './admin/problem.js'

const PAGE = new URL('../../../docs/reference/errors.md', import.meta.url)

interface Row {
  readonly status: number
  readonly title: string
  readonly when: string
}

function table(errors: Readonly<Record<string, Row>>): string {
  const rows = Object.entries(errors).map(
    ([code, { status, title, when }]) => `| \`${code}\` | ${status} | ${title} | ${when} |`,
  )
  return ['| code | status | title | when |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

function page(): string {
  return `# Error codes

Error codes are stable: they are never renamed and never change their meaning. A response has its code in the
\`x-gw-error\` header and as \`code\` in its body, an \`application/problem+json\` document (RFC 9457). The \`detail\`
tells what to do. SOAP requests get a SOAP fault with the same contents. This page is generated, see CONTRIBUTING.md.

## Requests

${table(ERRORS)}

## Admin API

${table(ADMIN_ERRORS)}
`
}

test('the page of error codes is generated from the tables', () => {
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(PAGE, page())
  const written = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : ''
  assert.equal(written, page(), 'run the test with UPDATE_GOLDEN=1 to rewrite the page')
})

test('each error says in one sentence when it is sent, and no code is used twice', () => {
  for (const [code, { when }] of [...Object.entries(ERRORS), ...Object.entries(ADMIN_ERRORS)])
    assert.match(when, /^[A-Z`][^|\n]*\.$/, code)
  for (const code of Object.keys(ADMIN_ERRORS)) assert.ok(!Object.hasOwn(ERRORS, code), code)
})
