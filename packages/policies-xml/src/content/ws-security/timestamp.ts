import { parseTime } from '@sluice/policies/shared/time/utc-time'
import type { XmlElement } from 'libxml2-wasm'
import { childElements, isElement, optionalChild, plainText } from './elements.js'
import { SecurityFault } from './fault.js'
import { NS } from './names.js'

/** Rules for the age of a message. */
export interface TimestampRules {
  readonly isRequired: boolean
  readonly ttlMs: number
  readonly skewMs: number
}

/** Returns the time in milliseconds since 1970. @throws SecurityFault if it is not a time in UTC */
export function instantOf(element: XmlElement): number {
  const instant = parseTime(plainText(element))
  if (Number.isNaN(instant)) throw new SecurityFault('InvalidSecurity', 'not a time in UTC')
  return instant
}

/** Checks the Timestamp of a Security header. @throws SecurityFault */
export function checkTimestamp(security: XmlElement, rules: TimestampRules, nowMs: number): void {
  const timestamp = optionalChild(security, NS.wsu, 'Timestamp')
  if (timestamp === null) {
    if (rules.isRequired) throw new SecurityFault('InvalidSecurity', 'no Timestamp')
    return
  }
  const [created, expires = null, ...rest] = childElements(timestamp)
  if (created === undefined || !isElement(created, NS.wsu, 'Created') || rest.length > 0)
    throw new SecurityFault('InvalidSecurity', 'the Timestamp has an unexpected structure')
  if (expires !== null && !isElement(expires, NS.wsu, 'Expires'))
    throw new SecurityFault('InvalidSecurity', 'the Timestamp has an unexpected structure')
  assertFresh(instantOf(created), rules, nowMs)
  if (expires !== null && nowMs > instantOf(expires) + rules.skewMs)
    throw new SecurityFault('MessageExpired', 'the message has expired')
}

/** @throws SecurityFault if the time is in the future or too old */
export function assertFresh(createdMs: number, { ttlMs, skewMs }: TimestampRules, nowMs: number): void {
  if (createdMs > nowMs + skewMs) throw new SecurityFault('MessageExpired', 'created in the future')
  if (createdMs < nowMs - ttlMs - skewMs) throw new SecurityFault('MessageExpired', 'created too long ago')
}
