import type { Catalog, Policy } from '@sluice/core'
import { apiKey } from './api-key/policy.js'
import { basicAuth } from './basic-auth/policy.js'
import { bodyLimit } from './body-limit/policy.js'
import { header } from './header/policy.js'
import { ipFilter } from './ip-filter/policy.js'
import { jsonSchema } from './json-schema/policy.js'
import { openapi } from './openapi/policy.js'

const POLICIES: readonly Policy[] = [apiKey, basicAuth, bodyLimit, header, ipFilter, jsonSchema, openapi]

/** The policies that come with the gateway, by name. */
export const catalog: Catalog = new Map(POLICIES.map((policy) => [policy.name, policy]))
