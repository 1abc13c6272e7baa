import { parseSize } from '@sluice/core'
import { DEFAULTS, type XmlJsonConfig } from './schema.js'

/** Configuration with all defaults, for both directions. Can be cloned. */
export interface Mapping {
  readonly direction: 'to-json' | 'to-xml'
  readonly attributePrefix: string
  readonly textKey: string
  /** Element names, and paths that begin with a slash. */
  readonly forceArray: readonly string[]
  readonly hasNumbers: boolean
  readonly unwrap: boolean
  readonly stripPrefixes: boolean
  readonly ignoreNull: boolean
  readonly ignoreEmpty: boolean
  readonly nil: boolean
  readonly root: string
  readonly item: string
  readonly maxDepth: number
  readonly maxOutputBytes: number
}

const MAX_OUTPUT_BYTES = 50 * 1024 * 1024

/** @throws Error for an invalid configuration */
export function mappingOf(config: XmlJsonConfig): Mapping {
  const maxOutputBytes = parseSize(config.maxOutputBytes ?? DEFAULTS.maxOutputBytes)
  if (maxOutputBytes > MAX_OUTPUT_BYTES) throw new Error("'maxOutputBytes' can be at most 50mb")
  const attributePrefix = config.attributePrefix ?? DEFAULTS.attributePrefix
  const textKey = config.textKey ?? DEFAULTS.textKey
  if (attributePrefix !== '' && textKey.startsWith(attributePrefix))
    throw new Error(
      `'textKey' ${textKey} begins with 'attributePrefix' ${attributePrefix}: choose another key`,
    )
  return {
    direction: config.direction,
    attributePrefix,
    textKey,
    forceArray: config.forceArray ?? [],
    hasNumbers: config.numbers === 'number',
    unwrap: config.unwrap ?? false,
    stripPrefixes: config.stripPrefixes ?? false,
    ignoreNull: config.ignoreNull ?? false,
    ignoreEmpty: config.ignoreEmpty ?? false,
    nil: config.nil ?? true,
    root: config.root ?? DEFAULTS.root,
    item: config.item ?? DEFAULTS.item,
    maxDepth: config.maxDepth ?? DEFAULTS.maxDepth,
    maxOutputBytes,
  }
}

/** Namespace of xsi:nil. */
export const XSI = 'http://www.w3.org/2001/XMLSchema-instance'
