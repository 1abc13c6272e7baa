import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { type ErrorCode, type ErrorKind, errorCodes, errorKind, GATEWAY_ERRORS } from '@sluice/core'
import '@sluice/policies/errors'
import { ADMIN_ERRORS } from '../admin/problem.js'

const PAGE = new URL('../../../../docs/reference/errors.md', import.meta.url)

/** Rows of the page. Errors of the admin API have no remedy. */
type Rows = Readonly<Record<string, Omit<ErrorKind, 'remedy'> & { readonly remedy?: string }>>

const POLICY_CODES = errorCodes().filter((code) => !Object.hasOwn(GATEWAY_ERRORS, code)) as ErrorCode[]
const ERRORS: Readonly<Record<string, ErrorKind>> = {
  ...GATEWAY_ERRORS,
  ...Object.fromEntries(POLICY_CODES.map((code) => [code, errorKind(code)])),
}

function table(errors: Rows, isWithRemedy: boolean): string {
  const rows = Object.entries(errors).map(([code, { status, title, when, remedy }]) => {
    const cells = [`\`${code}\``, status, title, when, ...(remedy === undefined ? [] : [remedy])]
    return `| ${cells.join(' | ')} |`
  })
  const head = ['code', 'status', 'title', 'cause', ...(isWithRemedy ? ['remedy'] : [])]
  return [`| ${head.join(' | ')} |`, `|${' --- |'.repeat(head.length)}`, ...rows].join('\n')
}

function page(): string {
  return `# Error codes

Error codes are stable: they are never renamed and never change their meaning. A response has its code in the
\`x-gw-error\` header and as \`code\` in its body, an \`application/problem+json\` document (RFC 9457). The \`detail\`
tells what to do. SOAP requests get a SOAP fault with the same contents. This page is generated, see CONTRIBUTING.md.

\`\`\`
HTTP/1.1 401 Unauthorized
x-gw-error: GW_AUTH_MISSING
www-authenticate: ApiKey in="header", name="x-api-key"
content-type: application/problem+json

{"type":"about:blank","title":"Credentials missing","status":401,"detail":"…","code":"GW_AUTH_MISSING","requestId":"…"}
\`\`\`

\`gw logs search --code GW_AUTH_MISSING\` finds the requests with a code, and \`gw logs search --id ID\` one request.

## Requests

${table(ERRORS, true)}

## Admin API

${table(ADMIN_ERRORS, false)}
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
  for (const [code, { remedy }] of Object.entries(ERRORS)) assert.match(remedy, /^[A-Z`][^|\n]*\.$/, code)
  for (const code of Object.keys(ADMIN_ERRORS)) assert.ok(!Object.hasOwn(ERRORS, code), code)
})
