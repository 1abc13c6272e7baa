import type { Catalog, Policy } from '@sluice/core'
import { apiKey } from './api-key/policy.js'
import { basicAuth } from './basic-auth/policy.js'
import { bodyLimit } from './body-limit/policy.js'
import { concurrencyLimit } from './concurrency-limit/policy.js'
import { contentFilter } from './content-filter/policy.js'
import { decrypt } from './decrypt/policy.js'
import { encrypt } from './encrypt/policy.js'
import { header } from './header/policy.js'
import { hmacSignature } from './hmac-signature/policy.js'
import { httpSignature } from './http-signature/policy.js'
import { ipFilter } from './ip-filter/policy.js'
import { jsonLanguage } from './json/language.js'
import { jsonSchema } from './json-schema/policy.js'
import { jwe } from './jwe/policy.js'
import { jws } from './jws/policy.js'
import { jwt } from './jwt/policy.js'
import { MEASURED_COSTS } from './measured-costs.js'
import { openapi } from './openapi/policy.js'
import { redact } from './redact/policy.js'
import { isolatedVmOptions } from './script/isolated-vm/isolated-vm-engine.js'
import { script } from './script/policy.js'
import { sign } from './sign/policy.js'
import { sizeLimit } from './size-limit/policy.js'
import { timeWindow } from './time-window/policy.js'
import { transform } from './transform/policy.js'
import { verify } from './verify/policy.js'
import { wsSecurity } from './ws-security/policy.js'
import { xmlLanguage } from './xml/xml-language.js'
import { xmlJson } from './xml-json/policy.js'
import { xsd } from './xsd/policy.js'
import { xslt } from './xslt/policy.js'

const POLICIES: readonly Policy[] = [
  apiKey,
  basicAuth,
  bodyLimit,
  concurrencyLimit,
  contentFilter,
  decrypt,
  encrypt,
  header,
  hmacSignature,
  httpSignature,
  ipFilter,
  jsonSchema,
  jwe,
  jws,
  jwt,
  openapi,
  redact,
  script,
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
