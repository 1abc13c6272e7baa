import type { Component } from './component.js'
import type { ListedComponent } from './component-list.js'

/** Components that a signature must cover. */
export interface Coverage {
  isEnough(covered: ReadonlySet<string>, hasBody: boolean): boolean
  /** Description for the response to the client. */
  readonly text: string
}

const DIGEST = '"content-digest"'
const TARGET = ['"@authority"', '"@path"', '"@query"']

/** Requires the configured components, and the digest of a body if that is required. */
export function listedCoverage(components: readonly ListedComponent[], needsDigest: boolean): Coverage {
  const keys = components.map(({ component }) => component.key)
  const ids = components.map(({ component }) => component.id)
  return {
    isEnough: (covered, hasBody) =>
      keys.every((key) => covered.has(key)) && (!needsDigest || !hasBody || covered.has(DIGEST)),
    text: ids.join(', ') + (needsDigest && !keys.includes(DIGEST) ? ` and ${DIGEST} of a body` : ''),
  }
}

/** Requires method, target and body, the parts that define what a request does. */
export function requestCoverage(needsDigest: boolean): Coverage {
  return {
    isEnough: (covered, hasBody) =>
      covered.has('"@method"') &&
      (covered.has('"@target-uri"') || TARGET.every((key) => covered.has(key))) &&
      (!needsDigest || !hasBody || covered.has(DIGEST)),
    text: `"@method", "@target-uri" or ${TARGET.join(' with ')}${needsDigest ? `, and ${DIGEST} of a body` : ''}`,
  }
}

/** Returns the keys of components, or null if one occurs twice. */
export function coveredKeys(components: readonly Component[]): ReadonlySet<string> | null {
  const keys = new Set(components.map(({ key }) => key))
  return keys.size === components.length ? keys : null
}
