import { type Consumer, consumerOf } from '@sluice/core'

/** Who signed or sent a message; can be cloned. */
export interface Identity {
  readonly id: string
  readonly name: string
  readonly groups: readonly string[]
}

/** The consumer of an exchange, named by this policy. */
export function identified({ id, name, groups }: Identity): Consumer {
  return consumerOf('ws-security', id, { name, groups })
}
