import assert from 'node:assert/strict'
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  type RSAKeyPairOptions,
} from 'node:crypto'
import type { Attempts } from './contract/attempts.js'
import type {
  DeliveredExchange,
  Exchange,
  ReceivedExchange,
  RoutedExchange,
  RouteFacts,
} from './contract/exchange.js'
import type { LogCounts, LogIdentity } from './contract/log-sink.js'
import type { PhaseTimes } from './contract/phase-times.js'
import type { RecordNotes } from './contract/record-notes.js'

export { databaseOf, type PlaceEntry, pointer } from './geo/testing/database-file.js'
export { closedPort } from './testing/closed-port.js'
export { cpuMs } from './testing/cpu-time.js'
export { type Schema, typesOfSchemas } from './testing/schema-types.js'

/** Parts of an exchange. A test sets only the fields it needs. */
interface ExchangeParts {
  readonly route?: Partial<RouteFacts>
  readonly attempts?: Partial<Attempts>
  readonly times?: Partial<PhaseTimes>
  readonly record?: Partial<RecordNotes>
}

/** An exchange whose every field a test may set. */
export type WritableExchange = ReceivedExchange & RoutedExchange & DeliveredExchange

/** Fields of an exchange for a test. */
export type ExchangeFields = Partial<Omit<Exchange, keyof ExchangeParts | 'routeId' | 'api'>> & ExchangeParts

/** Sets fields of an exchange. Fields of its parts that are not given stay unchanged. */
export function setFields(x: Exchange, fields: ExchangeFields): Exchange {
  const { route, attempts, times, record, ...own } = fields
  Object.assign(x.attempts, attempts)
  Object.assign(x.times, times)
  Object.assign(x.record, record)
  return Object.assign(x, own, { route: { ...x.route, ...route } })
}

/** Parameters for `generateKeyPairSync`. */
export interface KeyShape {
  readonly modulusLength?: number
  readonly publicExponent?: number
  readonly namedCurve?: string
}

/**
 * Creates a key pair for tests. In Node.js 20, a key from `generateKeyPairSync` shares a lock with the job
 * that created it. If a JWK export, which holds the lock, triggers garbage collection of that job, the thread
 * deadlocks. Keys parsed from PEM have their own lock.
 */
export function keyPair(
  kind: 'rsa' | 'rsa-pss' | 'dsa' | 'ec' | 'ed25519' | 'x25519',
  shape: KeyShape = {},
): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync(kind as 'rsa', {
    ...(shape as RSAKeyPairOptions<'pem', 'pem'>),
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return { publicKey: createPublicKey(publicKey), privateKey: createPrivateKey(privateKey) }
}

/** Fails unless every record is counted in exactly one place. */
export function assertIdentity(identity: LogIdentity): void {
  assertCounts(identity)
  const targets = Object.values(identity.targets ?? {})
  for (const counts of targets) assertCounts(counts)
  const received = targets.reduce((sum, counts) => sum + counts.received, 0)
  if (targets.length > 0) assert.equal(identity.received, received)
}

function assertCounts(identity: LogCounts): void {
  const { received, indexed, dead, dropped, droppedBy, onDisk, inMemory } = identity
  assert.equal(received, indexed + dead + dropped + onDisk + inMemory, JSON.stringify(identity))
  const reasons = Object.values(droppedBy).reduce((sum, count) => sum + count, 0)
  assert.equal(dropped, reasons, JSON.stringify(identity))
  for (const count of [indexed, dead, dropped, onDisk, inMemory])
    assert.ok(count >= 0, JSON.stringify(identity))
}
