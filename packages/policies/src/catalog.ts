import type { Catalog, Policy } from '@sluice/core'
import { explainAuthorization } from './catalog/authorize/explanation.js'
import { jsonLanguage } from './engines/json/language.js'
import { isolatedVmOptions } from './engines/script/isolated-vm/isolated-vm-engine.js'
import { xmlLanguage } from './engines/xml/xml-language.js'
import { MEASURED_COSTS } from './measured-costs.js'

/** Loaders of the built-in policies, by policy name. */
const POLICIES: Readonly<Record<string, () => Promise<Policy>>> = {
  'api-call': async () => (await import('./catalog/api-call/policy.js')).apiCall,
  'api-key': async () => (await import('./catalog/api-key/policy.js')).apiKey,
  authorize: async () => (await import('./catalog/authorize/policy.js')).authorize,
  'backend-auth': async () => (await import('./catalog/backend-auth/policy.js')).backendAuth,
  'basic-auth': async () => (await import('./catalog/basic-auth/policy.js')).basicAuth,
  'body-limit': async () => (await import('./catalog/body-limit/policy.js')).bodyLimit,
  cache: async () => (await import('./catalog/cache/policy.js')).cache,
  'client-ban': async () => (await import('./catalog/client-ban/policy.js')).clientBan,
  compress: async () => (await import('./catalog/compress/policy.js')).compress,
  'concurrency-limit': async () => (await import('./catalog/concurrency-limit/policy.js')).concurrencyLimit,
  'content-filter': async () => (await import('./catalog/content-filter/policy.js')).contentFilter,
  cors: async () => (await import('./catalog/cors/policy.js')).cors,
  decrypt: async () => (await import('./catalog/decrypt/policy.js')).decrypt,
  encrypt: async () => (await import('./catalog/encrypt/policy.js')).encrypt,
  fault: async () => (await import('./catalog/fault/policy.js')).fault,
  'forward-auth': async () => (await import('./catalog/forward-auth/policy.js')).forwardAuth,
  'geo-filter': async () => (await import('./catalog/geo-filter/policy.js')).geoFilter,
  header: async () => (await import('./catalog/header/policy.js')).header,
  'hmac-signature': async () => (await import('./catalog/hmac-signature/policy.js')).hmacSignature,
  'http-signature': async () => (await import('./catalog/http-signature/policy.js')).httpSignature,
  'ip-filter': async () => (await import('./catalog/ip-filter/policy.js')).ipFilter,
  'json-schema': async () => (await import('./catalog/json-schema/policy.js')).jsonSchema,
  jwe: async () => (await import('./catalog/jwe/policy.js')).jwe,
  jws: async () => (await import('./catalog/jws/policy.js')).jws,
  jwt: async () => (await import('./catalog/jwt/policy.js')).jwt,
  ldap: async () => (await import('./catalog/ldap/policy.js')).ldap,
  maintenance: async () => (await import('./catalog/maintenance/policy.js')).maintenance,
  mock: async () => (await import('./catalog/mock/policy.js')).mock,
  mtls: async () => (await import('./catalog/mtls/policy.js')).mtls,
  'oauth2-introspection': async () =>
    (await import('./catalog/oauth2-introspection/policy.js')).oauth2Introspection,
  oidc: async () => (await import('./catalog/oidc/policy.js')).oidc,
  'oidc-backchannel-logout': async () =>
    (await import('./catalog/oidc-backchannel-logout/policy.js')).oidcBackchannelLogout,
  openapi: async () => (await import('./catalog/openapi/policy.js')).openapi,
  quota: async () => (await import('./catalog/quota/policy.js')).quota,
  'rate-limit': async () => (await import('./catalog/rate-limit/policy.js')).rateLimit,
  redact: async () => (await import('./catalog/redact/policy.js')).redact,
  'request-id': async () => (await import('./catalog/request-id/policy.js')).requestId,
  'response-cache': async () => (await import('./catalog/response-cache/policy.js')).responseCache,
  saml: async () => (await import('./catalog/saml/policy.js')).saml,
  'saml-login': async () => (await import('./catalog/saml-login/policy.js')).samlLogin,
  script: async () => (await import('./catalog/script/policy.js')).script,
  'security-headers': async () => (await import('./catalog/security-headers/policy.js')).securityHeaders,
  sign: async () => (await import('./catalog/sign/policy.js')).sign,
  'size-limit': async () => (await import('./catalog/size-limit/policy.js')).sizeLimit,
  'time-window': async () => (await import('./catalog/time-window/policy.js')).timeWindow,
  transform: async () => (await import('./catalog/transform/policy.js')).transform,
  verify: async () => (await import('./catalog/verify/policy.js')).verify,
  'ws-security': async () => (await import('./catalog/ws-security/policy.js')).wsSecurity,
  'xml-json': async () => (await import('./catalog/xml-json/policy.js')).xmlJson,
  xsd: async () => (await import('./catalog/xsd/policy.js')).xsd,
  xslt: async () => (await import('./catalog/xslt/policy.js')).xslt,
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
    meanings: new Map([['authorize', explainAuthorization]]),
    nodeOptions: isolatedVmOptions(),
  })
}
