import { type Consumer, consumerOf } from '@sluice/core'
import type { JsonObject } from '../../engines/json/strict-json.js'
import { claimAt, claimItems, claimLists, scopesOf } from './claim.js'
import { idOf } from './claim-rules.js'
import { DEFAULT_CONSUMER_CLAIM, type JwtConfig } from './schema.js'

/** Which claims say who it is. */
export interface ConsumerClaims
  extends Pick<JwtConfig, 'consumerClaim' | 'nameClaim' | 'groupsClaim' | 'rolesClaim'> {
  /** The policy that vouches for the claims. */
  readonly auth: string
  /** All claims, as conditions see them. */
  readonly texts: ReadonlyMap<string, string>
}

/** The consumer that claims name. The rules have asked for the claim with the id before. */
export function consumerIn(all: JsonObject, claims: ConsumerClaims): Consumer {
  const { consumerClaim = DEFAULT_CONSUMER_CLAIM, nameClaim, groupsClaim, rolesClaim } = claims
  const id = idOf(claimAt(all, consumerClaim))!
  const name = nameClaim === undefined ? null : idOf(claimAt(all, nameClaim))
  const groups = groupsClaim === undefined ? [] : claimItems(claimAt(all, groupsClaim))
  const roles = rolesClaim === undefined ? null : claimItems(claimAt(all, rolesClaim))
  return consumerOf(claims.auth, id, {
    ...{ name: name ?? id, groups, roles },
    ...{ scopes: scopesOf(all), claims: claims.texts, claimLists: claimLists(all, claims.texts) },
  })
}
