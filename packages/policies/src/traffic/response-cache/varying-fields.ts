import { Memo } from '@sluice/core'

/**
 * Words in names of fields that change the host, scheme, path or method that an application sees. A word matches a
 * whole part of the name between hyphens.
 */
const TARGET_WORDS =
  'accel action args authority backend base destination domain endpoint https hostname invoke location matched middleware nextjs origin port prefix protocol proto query redirect rewrite route script sendfile site ssl target upstream uri url verb'
/** Words in the names of fields that identify the caller to an application. */
const IDENTITY_WORDS =
  'account actor admin authenticated authz caller claims company consumer creds customer dn dpop email employee entitlements eppn group groups groupid identity login mail member merchant msisdn namespace nickname oidc org organisation organization orgid owner partner patient permissions person persona principal project projectid realm role roles saml scope scopes shop store student sub subject subscription team ticket tid uid upn visitor whoami workspace'
/**
 * Substrings with the same meaning at any position: `x-httpmethod`, `x-authenticated-userid`,
 * `x-arr-clientcert`.
 */
const PARTS = ['cert', 'host', 'method', 'override', 'path', 'scheme', 'tenant', 'user']
/** Endings with the same meaning: `x-originalurl`, `x-ibm-client-id`. */
const ENDINGS = ['client-id', 'uri', 'url']
const WORDS: ReadonlySet<string> = new Set(`${TARGET_WORDS} ${IDENTITY_WORDS}`.split(' '))
/**
 * Fields that contain such a word with another meaning. Browsers send `origin` and `sec-…`. `host` is always
 * in the key.
 */
const PLAIN: ReadonlySet<string> = new Set([
  'host',
  'origin',
  'x-client-port',
  'x-datadog-origin',
  'x-real-port',
  'x-remote-port',
])
const PLAIN_ENDINGS = ['-ip', 'user-agent']
const REMEMBERED_NAMES = 1024

const memo = new Memo(REMEMBERED_NAMES, check)

/**
 * Returns true if a response may depend on a field although `Vary` does not name it. Such a field names the
 * caller, or another host, path or method, and becomes part of the key. Tracing, client address and browser
 * fields are excluded, because they would make cache hits rare.
 * @param name field name in lower case.
 */
export function variesResponse(name: string): boolean {
  return memo.get(name)
}

function check(name: string): boolean {
  // CGI and similar interfaces do not distinguish `_` from `-`.
  if (name.includes('_')) return true
  if (PLAIN.has(name) || name.startsWith('sec-') || PLAIN_ENDINGS.some((end) => name.endsWith(end)))
    return false
  if (name === 'forwarded' || name.startsWith('x-forwarded')) return name !== 'x-forwarded-for'
  if (PARTS.some((part) => name.includes(part)) || ENDINGS.some((end) => name.endsWith(end))) return true
  return name.split('-').some((word) => WORDS.has(word))
}
