import type { Reply } from '@sluice/core'
import { isExact } from '../../shared/json/exact.js'
import { hasControls } from '../consumers/consumer-entry.js'
import { claimAt, scopesOf } from './claim.js'
import type { ClaimsSet } from './claims-set.js'
import type { TokenRefusals } from './refusals.js'
import type { ClaimConfig } from './token-options.js'

/** Checks the claims of a token with a valid signature. Returns null if they are acceptable. */
export type ClaimRule = (claims: ClaimsSet) => Reply | null

/** Rules for the claims of a token. */
export interface ClaimRulesConfig extends ClaimConfig {
  readonly requireExpiry: boolean
  readonly consumerClaim: string
}

/** Compiles the checks of claims other than times, in the order in which they run. */
export function compileRules(config: ClaimRulesConfig, refusals: TokenRefusals): readonly ClaimRule[] {
  const rules: ClaimRule[] = []
  const { issuers, audiences, requiredScopes } = config
  if (issuers !== undefined) rules.push(issuerRule(new Set(issuers), refusals.issuer))
  if (audiences !== undefined) rules.push(audienceRule(new Set(audiences), refusals.audience))
  if (config.requireExpiry) {
    const refusal = refusals.claim('exp')
    rules.push(({ exp }) => (exp === null ? refusal : null))
  }
  for (const [path, wanted] of Object.entries(config.requiredClaims ?? {}))
    rules.push(valueRule(path, [wanted].flat(), refusals.claim(path)))
  if (requiredScopes !== undefined) rules.push(scopeRule(requiredScopes, refusals.scope))
  rules.push(consumerRule(config.consumerClaim, refusals))
  return rules
}

function issuerRule(issuers: ReadonlySet<string>, refusal: Reply): ClaimRule {
  return ({ iss }) => (iss !== null && issuers.has(iss) ? null : refusal)
}

function audienceRule(audiences: ReadonlySet<string>, refusal: Reply): ClaimRule {
  return ({ aud }) => (aud.some((one) => audiences.has(one)) ? null : refusal)
}

/** Compares strings, numbers and booleans with their type: "1" is not 1. */
function valueRule(path: string, wanted: readonly (string | number | boolean)[], refusal: Reply): ClaimRule {
  return ({ all }) => {
    const value = claimAt(all, path)
    if (value === undefined || value === null) return refusal
    if (wanted.length === 0) return null
    const items: readonly unknown[] = Array.isArray(value) ? value : [value]
    return items.some((item) => isExact(item) && wanted.includes(item as string)) ? null : refusal
  }
}

function scopeRule(required: readonly string[], refusal: Reply): ClaimRule {
  return ({ all }) => {
    const given = scopesOf(all) ?? []
    return required.every((scope) => given.includes(scope)) ? null : refusal
  }
}

/** Maximum length of a consumer id or name. */
export const MAX_ID_LENGTH = 256

/** Requires a consumer id, because later policies need one. */
function consumerRule(path: string, refusals: TokenRefusals): ClaimRule {
  const refusal = refusals.claim(path)
  return ({ all }) => (idOf(claimAt(all, path)) === null ? refusal : null)
}

/** Returns the claim as an id or name, or null if it is not usable as one. */
export function idOf(value: unknown): string | null {
  const id = typeof value === 'number' && isExact(value) ? String(value) : value
  return typeof id === 'string' && id !== '' && id.length <= MAX_ID_LENGTH && !hasControls(id) ? id : null
}
