import type { Catalog, Policy } from '@sluice/core'
import { apiKey } from './api-key/policy.js'
import { basicAuth } from './basic-auth/policy.js'
import { bodyLimit } from './body-limit/policy.js'
import { header } from './header/policy.js'
import { ipFilter } from './ip-filter/policy.js'
import { jsonLanguage } from './json/language.js'
import { jsonSchema } from './json-schema/policy.js'
import { xmlLanguage } from './xml/xml-language.js'

const POLICIES: readonly Policy[] = [apiKey, basicAuth, bodyLimit, header, ipFilter, jsonSchema]

/** The policies that come with the gateway, by name, and what its conditions can ask bodies. */
export const catalog: Catalog = Object.assign(new Map(POLICIES.map((policy) => [policy.name, policy])), {
  bodies: { json: jsonLanguage, xml: xmlLanguage },
})
