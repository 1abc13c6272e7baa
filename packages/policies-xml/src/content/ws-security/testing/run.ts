import type { Pair } from '@sluice/policies/testing'
import { loadLibxml } from '../../../engines/xml/libxml.js'
import type { AddConfig } from '../add-schema.js'
import type { CheckConfig } from '../check-schema.js'
import { type Secured, Securing } from '../securing.js'

await loadLibxml()

/** Returns the message with the added elements. @throws Error if it was refused */
export function added(text: string, add: AddConfig, nowMs = Date.now()): string {
  const secured = new Securing({ add }).secure(Buffer.from(text), null, nowMs)
  if (secured.kind !== 'passed' || secured.body === null) throw new Error(JSON.stringify(secured))
  return Buffer.from(secured.body).toString()
}

/** Secures a message and returns the result. */
export function checked(text: string, check: CheckConfig, nowMs = Date.now()): Secured {
  return new Securing({ check }).secure(Buffer.from(text), null, nowMs)
}

/** Returns `passed`, or the code of the fault or refusal. */
export function verdict(text: string, check: CheckConfig, nowMs = Date.now()): string {
  const secured = checked(text, check, nowMs)
  return secured.kind === 'passed' ? 'passed' : secured.code
}

/** Returns options that sign with this pair. */
export function signWith(
  { keyPem, certificatePem }: Pair,
  more: Partial<NonNullable<AddConfig['signature']>> = {},
) {
  return { key: keyPem, certificate: certificatePem, ...more }
}

/** Returns options that trust this pair. */
export function trust({ certificatePem, name }: Pair) {
  return { certificates: [{ id: name, certificate: certificatePem }] }
}
