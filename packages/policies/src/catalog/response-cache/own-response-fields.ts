import { Memo } from '@sluice/core'

/**
 * Words of field names by which clients and proxies change the host, scheme, path or method that an application sees.
 * They count as a part of the name between hyphens.
 */
const TARGET_WORDS =
  'accel action args authority backend base destination domain endpoint https hostname invoke location matched middleware nextjs origin port prefix protocol proto query redirect rewrite route script sendfile site ssl target upstream uri url verb'
/** Words in the names of fields that identify the caller to an application. */
const IDENTITY_WORDS =
  'account actor admin authenticated authz caller claims company consumer creds customer dn dpop email employee entitlements eppn group groups groupid identity login mail member merchant msisdn namespace nickname oidc org organisation organization orgid owner partner patient permissions person persona principal project projectid realm role roles saml scope scopes shop store student sub subject subscription team ticket tid uid upn visitor whoami workspace'
/** Parts that mean the same wherever they stand: `x-httpmethod`, `x-authenticated-userid`, `x-arr-clientcert`. */
const PARTS = ['cert', 'host', 'method', 'override', 'path', 'scheme', 'tenant', 'user']
/** Endings that mean the same: `x-originalurl`, `x-ibm-client-id`. */
const ENDINGS = ['client-id', 'uri', 'url']
const WORDS: ReadonlySet<string> = new Set(`${TARGET_WORDS} ${IDENTITY_WORDS}`.split(' '))
/** Fields that have such a word and another meaning. Browsers write `origin` and `sec-…`; `host` is in the key anyway. */
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

const answers = new Memo(REMEMBERED_NAMES, check)

/**
 * True if an application may answer otherwise because of a field that it is not expected to name in `Vary`: it names
 * the caller, or another host, path or method. Requests with such a field have responses of their own. Fields of
 * tracing, of the client's address and of browsers are none: responses would hardly ever be found again.
 * @param name in lower case.
 */
export function givesOwnResponse(name: string): boolean {
  return answers.get(name)
}

function check(name: string): boolean {
  // CGI and its likes take `_` for `-`.
  if (name.includes('_')) return true
  if (PLAIN.has(name) || name.startsWith('sec-') || PLAIN_ENDINGS.some((end) => name.endsWith(end)))
    return false
  if (name === 'forwarded' || name.startsWith('x-forwarded')) return name !== 'x-forwarded-for'
  if (PARTS.some((part) => name.includes(part)) || ENDINGS.some((end) => name.endsWith(end))) return true
  return name.split('-').some((word) => WORDS.has(word))
}
