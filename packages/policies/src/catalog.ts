import type { Catalog, Policy } from '@sluice/core'
import { apiKey } from './api-key/policy.js'
import { basicAuth } from './basic-auth/policy.js'
import { bodyLimit } from './body-limit/policy.js'
import { concurrencyLimit } from './concurrency-limit/policy.js'
import { contentFilter } from './content-filter/policy.js'
import { header } from './header/policy.js'
import { ipFilter } from './ip-filter/policy.js'
import { redact } from './redact/policy.js'
import { sizeLimit } from './size-limit/policy.js'
import { timeWindow } from './time-window/policy.js'

const POLICIES: readonly Policy[] = [
  apiKey,
  basicAuth,
  bodyLimit,
  concurrencyLimit,
  contentFilter,
  header,
  ipFilter,
  redact,
  sizeLimit,
  timeWindow,
]

/** The policies that come with the gateway, by name. */
export const catalog: Catalog = new Map(POLICIES.map((policy) => [policy.name, policy]))
