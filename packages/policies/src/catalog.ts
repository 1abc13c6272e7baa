import type { Catalog, Policy } from '@sluice/core'
import { explainAuthorization } from './auth/authorize/explanation.js'
import { jsonLanguage } from './engines/json/language.js'
import { isolatedVmOptions } from './engines/script/isolated-vm/isolated-vm-engine.js'
import { MISSING_CREDENTIALS } from './identity/missing-credentials.js'
import { MEASURED_COSTS } from './measured-costs.js'
import { xmlLanguage, xmlPolicy } from './xml-package.js'
import './errors.js'

/** Loaders of the built-in policies, by policy name. */
const POLICIES: Readonly<Record<string, () => Promise<Policy>>> = {
  'api-call': async () => (await import('./transform/api-call/policy.js')).apiCall,
  'api-key': async () => (await import('./auth/api-key/policy.js')).apiKey,
  authorize: async () => (await import('./auth/authorize/policy.js')).authorize,
  'backend-auth': async () => (await import('./auth/backend-auth/policy.js')).backendAuth,
  'basic-auth': async () => (await import('./auth/basic-auth/policy.js')).basicAuth,
  'body-limit': async () => (await import('./traffic/body-limit/policy.js')).bodyLimit,
  cache: async () => (await import('./traffic/cache/policy.js')).cache,
  'client-ban': async () => (await import('./traffic/client-ban/policy.js')).clientBan,
  compress: async () => (await import('./transform/compress/policy.js')).compress,
  'concurrency-limit': async () => (await import('./traffic/concurrency-limit/policy.js')).concurrencyLimit,
  'content-filter': async () => (await import('./content/content-filter/policy.js')).contentFilter,
  cors: async () => (await import('./traffic/cors/policy.js')).cors,
  decrypt: async () => (await import('./content/decrypt/policy.js')).decrypt,
  encrypt: async () => (await import('./content/encrypt/policy.js')).encrypt,
  fault: async () => (await import('./traffic/fault/policy.js')).fault,
  'forward-auth': async () => (await import('./auth/forward-auth/policy.js')).forwardAuth,
  'geo-filter': async () => (await import('./traffic/geo-filter/policy.js')).geoFilter,
  header: async () => (await import('./transform/header/policy.js')).header,
  'hmac-signature': async () => (await import('./auth/hmac-signature/policy.js')).hmacSignature,
  'http-signature': async () => (await import('./auth/http-signature/policy.js')).httpSignature,
  'ip-filter': async () => (await import('./traffic/ip-filter/policy.js')).ipFilter,
  'json-schema': async () => (await import('./content/json-schema/policy.js')).jsonSchema,
  jwe: async () => (await import('./content/jwe/policy.js')).jwe,
  jws: async () => (await import('./content/jws/policy.js')).jws,
  jwt: async () => (await import('./auth/jwt/policy.js')).jwt,
  ldap: async () => (await import('./auth/ldap/policy.js')).ldap,
  maintenance: async () => (await import('./traffic/maintenance/policy.js')).maintenance,
  mock: async () => (await import('./traffic/mock/policy.js')).mock,
  mtls: async () => (await import('./auth/mtls/policy.js')).mtls,
  'oauth2-introspection': async () =>
    (await import('./auth/oauth2-introspection/policy.js')).oauth2Introspection,
  oidc: async () => (await import('./auth/oidc/policy.js')).oidc,
  'oidc-backchannel-logout': async () =>
    (await import('./auth/oidc-backchannel-logout/policy.js')).oidcBackchannelLogout,
  openapi: async () => (await import('./content/openapi/policy.js')).openapi,
  quota: async () => (await import('./traffic/quota/policy.js')).quota,
  'rate-limit': async () => (await import('./traffic/rate-limit/policy.js')).rateLimit,
  redact: async () => (await import('./content/redact/policy.js')).redact,
  'request-id': async () => (await import('./traffic/request-id/policy.js')).requestId,
  'response-cache': async () => (await import('./traffic/response-cache/policy.js')).responseCache,
  saml: () => xmlPolicy('saml'),
  'saml-login': () => xmlPolicy('saml-login'),
  script: async () => (await import('./transform/script/policy.js')).script,
  'security-headers': async () => (await import('./traffic/security-headers/policy.js')).securityHeaders,
  sign: async () => (await import('./content/sign/policy.js')).sign,
  'size-limit': async () => (await import('./traffic/size-limit/policy.js')).sizeLimit,
  'time-window': async () => (await import('./traffic/time-window/policy.js')).timeWindow,
  transform: async () => (await import('./transform/transform/policy.js')).transform,
  verify: async () => (await import('./content/verify/policy.js')).verify,
  'ws-security': () => xmlPolicy('ws-security'),
  'xml-json': () => xmlPolicy('xml-json'),
  xsd: () => xmlPolicy('xsd'),
  xslt: () => xmlPolicy('xslt'),
}

/**
 * Creates a catalog without policies. Each process loads only the policies that its document names, because
 * loading all of them takes a third of the start time. The body languages of conditions are included.
 */
export function lazyCatalog(): Catalog {
  const policies = new Map<string, Policy>()
  const load = async (isWanted: (name: string) => boolean): Promise<void> => {
    const missing = Object.entries(POLICIES).filter(([name]) => !policies.has(name) && isWanted(name))
    const loaded = await Promise.all(missing.map(([, open]) => open()))
    for (const policy of loaded) policies.set(policy.name, policy)
  }
  return Object.assign(policies, {
    load,
    bodies: { json: jsonLanguage, xml: xmlLanguage },
    bodyWork: new URL('./body-work.js', import.meta.url),
    measured: MEASURED_COSTS,
    meanings: new Map<string, (config: never) => readonly string[]>([
      ['authorize', explainAuthorization],
      ...MISSING_CREDENTIALS,
    ]),
    nodeOptions: isolatedVmOptions(),
  })
}
