import type { Catalog, Policy } from '@sluice/core'
import { apiKey } from './catalog/api-key/policy.js'
import { authorize } from './catalog/authorize/policy.js'
import { backendAuth } from './catalog/backend-auth/policy.js'
import { basicAuth } from './catalog/basic-auth/policy.js'
import { bodyLimit } from './catalog/body-limit/policy.js'
import { cache } from './catalog/cache/policy.js'
import { clientBan } from './catalog/client-ban/policy.js'
import { compress } from './catalog/compress/policy.js'
import { concurrencyLimit } from './catalog/concurrency-limit/policy.js'
import { contentFilter } from './catalog/content-filter/policy.js'
import { cors } from './catalog/cors/policy.js'
import { decrypt } from './catalog/decrypt/policy.js'
import { encrypt } from './catalog/encrypt/policy.js'
import { fault } from './catalog/fault/policy.js'
import { forwardAuth } from './catalog/forward-auth/policy.js'
import { geoFilter } from './catalog/geo-filter/policy.js'
import { header } from './catalog/header/policy.js'
import { hmacSignature } from './catalog/hmac-signature/policy.js'
import { httpSignature } from './catalog/http-signature/policy.js'
import { ipFilter } from './catalog/ip-filter/policy.js'
import { jsonSchema } from './catalog/json-schema/policy.js'
import { jwe } from './catalog/jwe/policy.js'
import { jws } from './catalog/jws/policy.js'
import { jwt } from './catalog/jwt/policy.js'
import { maintenance } from './catalog/maintenance/policy.js'
import { mock } from './catalog/mock/policy.js'
import { mtls } from './catalog/mtls/policy.js'
import { openapi } from './catalog/openapi/policy.js'
import { quota } from './catalog/quota/policy.js'
import { rateLimit } from './catalog/rate-limit/policy.js'
import { redact } from './catalog/redact/policy.js'
import { requestId } from './catalog/request-id/policy.js'
import { responseCache } from './catalog/response-cache/policy.js'
import { script } from './catalog/script/policy.js'
import { securityHeaders } from './catalog/security-headers/policy.js'
import { sign } from './catalog/sign/policy.js'
import { sizeLimit } from './catalog/size-limit/policy.js'
import { timeWindow } from './catalog/time-window/policy.js'
import { transform } from './catalog/transform/policy.js'
import { verify } from './catalog/verify/policy.js'
import { wsSecurity } from './catalog/ws-security/policy.js'
import { xmlJson } from './catalog/xml-json/policy.js'
import { xsd } from './catalog/xsd/policy.js'
import { xslt } from './catalog/xslt/policy.js'
import { jsonLanguage } from './engines/json/language.js'
import { isolatedVmOptions } from './engines/script/isolated-vm/isolated-vm-engine.js'
import { xmlLanguage } from './engines/xml/xml-language.js'
import { MEASURED_COSTS } from './measured-costs.js'

const POLICIES: readonly Policy[] = [
  apiKey,
  authorize,
  backendAuth,
  basicAuth,
  bodyLimit,
  cache,
  clientBan,
  compress,
  concurrencyLimit,
  contentFilter,
  cors,
  decrypt,
  encrypt,
  fault,
  forwardAuth,
  geoFilter,
  header,
  hmacSignature,
  httpSignature,
  ipFilter,
  jsonSchema,
  jwe,
  jws,
  jwt,
  maintenance,
  mock,
  mtls,
  openapi,
  quota,
  rateLimit,
  redact,
  requestId,
  responseCache,
  script,
  securityHeaders,
  sign,
  sizeLimit,
  timeWindow,
  transform,
  verify,
  wsSecurity,
  xmlJson,
  xsd,
  xslt,
]

/** The policies that come with the gateway, by name, and what its conditions can ask bodies. */
export const catalog: Catalog = Object.assign(new Map(POLICIES.map((policy) => [policy.name, policy])), {
  bodies: { json: jsonLanguage, xml: xmlLanguage },
  bodyWork: new URL('./body-work.js', import.meta.url),
  measured: MEASURED_COSTS,
  nodeOptions: isolatedVmOptions(),
})
