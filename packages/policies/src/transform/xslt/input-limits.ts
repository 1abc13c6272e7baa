import { DEFAULT_DEPTH, XML_LIMITS, type XmlLimits } from '../../engines/xml/limits.js'

/**
 * Limits for input documents. Templates recurse once per level, and the stack of libxslt has room for about
 * twice this depth.
 */
export const INPUT_LIMITS: XmlLimits = { ...XML_LIMITS, maxDepth: DEFAULT_DEPTH }
