import { type Consumer, consumerOf } from '@sluice/core'
import { TimeWindow } from '../../crypto/replay/time-window.js'
import { compileCheck } from './algorithm.js'
import { fieldShapes } from './component.js'
import { compileComponents } from './component-list.js'
import { type Coverage, listedCoverage, requestCoverage } from './coverage.js'
import { DEFAULT_CLOCK_SKEW, DEFAULT_MAX_AGE, type VerificationConfig } from './schema.js'
import type { KnownKey, Requirements } from './validate.js'

/** Owner of a key, or null if none is configured. */
export type Owner = Consumer | null

/** Compiles the requirements for signatures. @throws Error if a key or a component is invalid. */
export function compileRequirements(
  kind: 'request' | 'response',
  config: VerificationConfig,
  needsNonce: boolean,
): Requirements<Owner> {
  const shapes = fieldShapes(config.structuredFields ?? {})
  return {
    kind,
    shapes,
    keys: compileKeys(config.keys),
    coverage: compileCoverage(kind, config, shapes),
    window: new TimeWindow(config.maxAge ?? DEFAULT_MAX_AGE, config.clockSkew ?? DEFAULT_CLOCK_SKEW),
    label: config.label ?? null,
    tag: config.tag ?? null,
    needsNonce,
  }
}

function compileCoverage(
  kind: 'request' | 'response',
  config: VerificationConfig,
  shapes: ReturnType<typeof fieldShapes>,
): Coverage {
  const needsDigest = (config.contentDigest ?? 'required') === 'required'
  if (config.components !== undefined)
    return listedCoverage(compileComponents(config.components, kind, shapes), needsDigest)
  if (kind === 'request') return requestCoverage(needsDigest)
  return listedCoverage(compileComponents(['@status'], kind, shapes), needsDigest)
}

function compileKeys(configs: VerificationConfig['keys']): ReadonlyMap<string, KnownKey<Owner>> {
  const keys = new Map<string, KnownKey<Owner>>()
  for (const config of configs) {
    if (keys.has(config.id)) throw new Error(`key '${config.id}' is listed twice under 'keys'; keep one`)
    keys.set(config.id, { algorithm: config.algorithm, check: compileCheck(config), owner: ownerOf(config) })
  }
  return keys
}

function ownerOf({ id, consumer, groups }: VerificationConfig['keys'][number]): Owner {
  if (consumer === undefined) {
    if (groups !== undefined) throw new Error(`key '${id}' has 'groups' but no 'consumer'; add a consumer`)
    return null
  }
  return consumerOf('http-signature', consumer, { credential: id, groups: groups ?? [] })
}
