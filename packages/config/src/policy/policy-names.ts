import { suggestion } from '../diagnostic/spelling.js'

/** Names of equivalent policies in other gateways and proxies. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  'key-auth': 'api-key',
  'rate-limiting': 'rate-limit',
  limit_req: 'rate-limit',
  limit_conn: 'concurrency-limit',
  acl: 'authorize',
  rbac: 'authorize',
  'ip-restriction': 'ip-filter',
  'hmac-auth': 'hmac-signature',
  'ldap-auth': 'ldap',
  'mtls-auth': 'mtls',
  'openid-connect': 'oidc',
  'oauth2-proxy': 'oidc',
  introspection: 'oauth2-introspection',
  jwt_authn: 'jwt',
  'upstream-oauth': 'backend-auth',
  credential_injector: 'backend-auth',
  'request-callout': 'api-call',
  ext_authz: 'forward-auth',
  'ext-authz': 'forward-auth',
  forwardauth: 'forward-auth',
  auth_request: 'forward-auth',
  'proxy-cache': 'response-cache',
  proxy_cache: 'response-cache',
  'request-transformer': 'header',
  'response-transformer': 'header',
  'correlation-id': 'request-id',
  'request-size-limiting': 'body-limit',
  'request-termination': 'mock',
  gzip: 'compress',
}

/** Suggests a policy for an unknown name, or returns the fallback. */
export function policySuggestion(name: string, known: readonly string[], fallback: string): string {
  const other = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name]! : ''
  return known.includes(other) ? `did you mean '${other}'?` : suggestion(name, known, fallback)
}
