import { type Consumer, consumerOf } from '@sluice/core'
import type { JsonObject } from '../../shared/json/strict-json.js'
import { claimAt, claimItems, claimLists, scopesOf } from './claim.js'
import { idOf } from './claim-rules.js'
import type { ConsumerConfig } from './token-options.js'

/** Names of the claims that describe the consumer. */
export interface ConsumerClaims
  extends Pick<ConsumerConfig, 'consumerClaim' | 'nameClaim' | 'groupsClaim' | 'rolesClaim'> {
  /** Policy that has verified the claims. */
  readonly auth: string
  /** Claims as text, as conditions see them. */
  readonly texts: ReadonlyMap<string, string>
}

/** Returns the consumer. The rules have already ensured that the id claim exists. */
export function consumerIn(all: JsonObject, claims: ConsumerClaims): Consumer {
  const { consumerClaim, nameClaim, groupsClaim, rolesClaim } = claims
  const id = idOf(claimAt(all, consumerClaim))!
  const name = nameClaim === undefined ? null : idOf(claimAt(all, nameClaim))
  const groups = groupsClaim === undefined ? [] : claimItems(claimAt(all, groupsClaim))
  const roles = rolesClaim === undefined ? null : claimItems(claimAt(all, rolesClaim))
  return consumerOf(claims.auth, id, {
    ...{ name: name ?? id, groups, roles },
    ...{ scopes: scopesOf(all), claims: claims.texts, claimLists: claimLists(all) },
  })
}
