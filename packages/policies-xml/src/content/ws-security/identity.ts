import { type Consumer, consumerOf } from '@sluice/core'

/** Identity of a signer or sender. Can be cloned. */
export interface Identity {
  readonly id: string
  readonly name: string
  readonly groups: readonly string[]
}

/** Creates the consumer for an identity. */
export function identified({ id, name, groups }: Identity): Consumer {
  return consumerOf('ws-security', id, { name, groups })
}
